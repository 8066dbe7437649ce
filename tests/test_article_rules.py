"""Rules that conclusions hold figures to: whether they hold, and the percentages that are told beside them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from assay.lang.blocks.conclusion import Rule
from assay.report.blocks.conclusion import holds, in_words, percent_told
from tests.support.laboratory import Laboratory

RULES = [
    ("falls", "lower", 100, 50, True), ("falls", "lower", 100, 50.1, False), ("falls", "lower", 0, 0, False),
    ("rises", "lower", 100, 150, True), ("rises", "lower", 100, 149, False), ("rises", "lower", -100, -50, True),
    ("stays", "lower", 100, 150, True), ("stays", "lower", 100, 49, False), ("not worse", "lower", 100, 1, True),
    ("not worse", "lower", 100, 151, False), ("not worse", "higher", 100, 1000, True),
    ("not worse", "higher", 100, 49, False), ("not worse", "neither", 100, 151, False),
    ("not worse", "lower", None, 1, None), ("falls", "lower", 1, None, None),
    ("falls", "lower", 1, math.nan, None), ("not worse", "lower", math.inf, 1, None),
    # in doubles the first is more than a half, the others less
    ("stays", "lower", 0.3, 0.45, True), ("rises", "lower", 0.1, 0.15, True), ("rises", "lower", 1.1, 1.65, True),
    ("not worse", "lower", -0.5, -0.25, True), ("not worse", "lower", -0.5, -0.2, False),
    ("not worse", "lower", 1, float("inf"), None), ("stays", "lower", 0, 0, True), ("stays", "lower", 0, 1e-9, False),
    ("rises", "lower", 0, 1e-9, True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "better", "old", "new", "due"), RULES)
def test_a_rule_holds_when_it_says_so(
    kind: str, better: str, old: float | None, new: float | None, due: bool | None, lab: Laboratory
) -> None:
    metric = replace(lab.session.package("antelope").metric("cpu_usage"), better=better)
    assert holds(Rule("cpu_usage", kind, 50), metric, old, new) is due


WORDS = [
    ("falls", "lower", "falls by at least 50 %"), ("rises", "neither", "rises by at least 50 %"),
    ("stays", "lower", "changes by at most 50 %"), ("stays", "higher", "changes by at most 50 %"),
    ("not worse", "lower", "at most 50 % higher"), ("not worse", "higher", "at most 50 % lower"),
    ("not worse", "neither", "changes by at most 50 %"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "better", "said"), WORDS)
def test_a_rule_is_said_as_it_is_judged(kind: str, better: str, said: str, lab: Laboratory) -> None:
    """What is not worse when neither direction is may change either way."""
    metric = replace(lab.session.package("antelope").metric("cpu_usage"), better=better)
    assert in_words(Rule("cpu_usage", kind, 50), metric) == said


TOLD = [
    ("not worse", 10, 100.0, 110.4, "10", "10.4"), ("not worse", 10, 100.0, 110.04, "10", "10.04"),
    ("not worse", 10, 100.0, 109.6, "10", "10"), ("not worse", 10, 100.0, 112.0, "12", "12"),
    ("falls", 50, 100.0, 50.3, "-50", "-49.7"), ("falls", 50, 100.0, 49.7, "-50", "-50"),
    # published styles divide by a base below 0 as it is
    ("not worse", 10, -0.5, 0.1, "-120", "120.0"),
    ("not worse", 10, 0.0, 0.1, "NaN", "NaN"), ("not worse", 10, 0.0, None, "—", "—"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "limit", "old", "new", "shown", "due"), TOLD)
def test_a_percent_beside_a_rule_is_told_as_exactly_as_it_takes_to_see_the_rule_in_it(
    kind: str, limit: int, old: float, new: float | None, shown: str, due: str, lab: Laboratory
) -> None:
    metric = replace(lab.session.package("antelope").metric("cpu_usage"), better="lower")
    assert percent_told(Rule("cpu_usage", kind, limit), metric, [old, new], shown) == due
