"""Test blocks of articles: rules of conclusions, percentages next to them, averages of series."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.session.session import Session
from assay.engine.result_cache import Store
from assay.lang.blocks.conclusion import Rule
from assay.lang.model.expression import parse_expression
from assay.lang.model.series import Sampled
from assay.lang.series_wording import describe_labels
from assay.lang.workspace import Workspace
from assay.number_styles.cell_text import print_number
from assay.number_styles.registry import get_style
from assay.report.blocks.averages import compute_mean_over_time, format_means, list_mean_texts, select_rows_within
from assay.report.blocks.conclusion import describe_rule, format_percent_for_rule, is_rule_met
from tests.support.laboratory import ROOT, Laboratory

RULES = [
    ("falls", "lower", 100, 50, True), ("falls", "lower", 100, 50.1, False), ("falls", "lower", 0, 0, False),
    ("rises", "lower", 100, 150, True), ("rises", "lower", 100, 149, False), ("rises", "lower", -100, -50, True),
    ("stays", "lower", 100, 150, True), ("stays", "lower", 100, 49, False), ("not worse", "lower", 100, 1, True),
    ("not worse", "lower", 100, 151, False), ("not worse", "higher", 100, 1000, True),
    ("not worse", "higher", 100, 49, False), ("not worse", "neither", 100, 151, False),
    ("not worse", "lower", None, 1, None), ("falls", "lower", 1, None, None),
    ("falls", "lower", 1, math.nan, None), ("not worse", "lower", math.inf, 1, None),
    # in doubles the first is more than a half, the others are less
    ("stays", "lower", 0.3, 0.45, True), ("rises", "lower", 0.1, 0.15, True), ("rises", "lower", 1.1, 1.65, True),
    ("not worse", "lower", -0.5, -0.25, True), ("not worse", "lower", -0.5, -0.2, False),
    ("not worse", "lower", 1, float("inf"), None), ("stays", "lower", 0, 0, True), ("stays", "lower", 0, 1e-9, False),
    ("rises", "lower", 0, 1e-9, True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "direction", "old", "new", "expected"), RULES)
def test_rule_holds_as_its_text_says(
    kind: str, direction: str, old: float | None, new: float | None, expected: bool | None, lab: Laboratory
) -> None:
    metric = replace(lab.session.load_package("antelope").get_metric("cpu_usage"), better=direction)
    assert is_rule_met(Rule("cpu_usage", kind, 50), metric, old, new) is expected


WORDS = [
    ("falls", "lower", "falls by at least 50 %"), ("rises", "neither", "rises by at least 50 %"),
    ("stays", "lower", "changes by at most 50 %"), ("stays", "higher", "changes by at most 50 %"),
    ("not worse", "lower", "at most 50 % higher"), ("not worse", "higher", "at most 50 % lower"),
    ("not worse", "neither", "changes by at most 50 %"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "direction", "sentence"), WORDS)
def test_rule_text_equals_its_condition(kind: str, direction: str, sentence: str, lab: Laboratory) -> None:
    """A metric without a better direction may change either way."""
    metric = replace(lab.session.load_package("antelope").get_metric("cpu_usage"), better=direction)
    assert describe_rule(Rule("cpu_usage", kind, 50), metric) == sentence


PERCENTAGE_CASES = [
    ("not worse", 10, 100.0, 110.4, "10", "10.4"), ("not worse", 10, 100.0, 110.04, "10", "10.04"),
    ("not worse", 10, 100.0, 109.6, "10", "10"), ("not worse", 10, 100.0, 112.0, "12", "12"),
    ("falls", 50, 100.0, 50.3, "-50", "-49.7"), ("falls", 50, 100.0, 49.7, "-50", "-50"),
    # published styles divide by a negative base without its absolute value
    ("not worse", 10, -0.5, 0.1, "-120", "120.0"),
    ("not worse", 10, 0.0, 0.1, "NaN", "NaN"), ("not worse", 10, 0.0, None, "—", "—"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "limit", "old", "new", "expected_percentage", "expected_verdict"), PERCENTAGE_CASES)
def test_percentage_beside_rule_is_precise_enough(
    kind: str,
    limit: int,
    old: float,
    new: float | None,
    expected_percentage: str,
    expected_verdict: str,
    lab: Laboratory,
) -> None:
    metric = replace(lab.session.load_package("antelope").get_metric("cpu_usage"), better="lower")
    printed = print_number(expected_percentage)
    assert format_percent_for_rule(Rule("cpu_usage", kind, limit), metric, [old, new], printed) == expected_verdict


SECOND = 10**9


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        # (1 + 3) / 2 at the first step, 8 at the second
        ([(0, 1.0), (0, 3.0), (1, 8.0)], 5.0),
        ([(1, 8.0), (0, 3.0), (0, 1.0)], 5.0),
        # NaN and infinity count neither as a value nor as a step
        ([(0, 1.0), (0, math.nan), (1, math.inf), (2, 4.0)], 2.5),
        ([(step, 0.1) for step in range(10)], 0.1),
        ([(0, math.nan)], None),
        ([], None),
    ],
)
def test_each_step_has_equal_weight(points: list[tuple[int, float]], expected: float | None) -> None:
    assert compute_mean_over_time([{"t_ns": second * SECOND, "value": value} for second, value in points]) == expected


MEANS = [
    ("prefixed", "Bytes", [101682918.0, 121649470.0], "MB", ["102", "122"]),
    ("prefixed", "Bytes", [512.0, None], "B", ["512", "—"]),
    ("prefixed", "kB/s", [21393.157], "MB/s", ["21.4"]),
    ("prefixed", "blocks/min", [9.75], "blocks/min", ["9.75"]),
    ("three-digits", "Bytes", [101682918.0], "Bytes", ["101682918.0"]),
]


@pytest.mark.parametrize(("style", "symbol", "means", "unit", "cells"), MEANS)
def test_averages_have_the_unit_that_suits_them(
    style: str, symbol: str, means: list[float | None], unit: str, cells: list[str]
) -> None:
    """`assay trace` accepts what the table prints."""
    number_style = get_style(style)
    assert format_means(number_style, symbol, means) == (unit, cells)
    for mean, cell in zip(means, cells, strict=True):
        assert mean is None or cell in list_mean_texts(number_style, symbol, mean)


def test_both_bounds_of_the_time_range_count() -> None:
    rows = [{"t_ns": step} for step in range(5)]
    assert [row["t_ns"] for row in select_rows_within(rows, (1, 3))] == [1, 2, 3]
    assert select_rows_within(rows, None) == rows


def test_computed_series_has_the_labels_of_its_inputs(cache: Path) -> None:
    package = Session(Workspace(ROOT), Store(cache)).load_package("antelope").package
    series = {item.name: item for item in package.series}
    assert describe_labels(package, series["cpu_usage_series"]) == 'mode = "idle"'
    assert describe_labels(package, series["memory_used_series"]) == "every label"
    free = series["memory_available_bytes"]
    narrow = replace(free, samples=(Sampled(free.samples[0].event, parse_expression('equals(field job, "a")')),))
    changed_package = replace(package, series=tuple(narrow if item is free else item for item in package.series))
    assert (
        describe_labels(changed_package, series["memory_used_series"])
        == 'of memory_total_bytes: every label; of memory_available_bytes: job = "a"'
    )
