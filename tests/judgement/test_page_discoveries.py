"""Shifts of pages with many metrics: few pages without a change show one, and a change of one metric is found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest

from assay.judgement.page_discoveries import Series, find_courses, find_discovery_limit
from tests.judgement.test_level_shifts import draw_correlated
from tests.support.deep import is_deep

PAGES, METRICS = (120, 40) if is_deep() else (8, 40)
ERRORS = 4


def draw_page(random: Random, count: int, correlation: float, step: float = 0.0) -> list[Series]:
    """Return series around 100 of standard deviation 2; the first is `step` higher in its second half."""
    rows = [draw_correlated(random, count, correlation) for _ in range(METRICS)]
    rows[0] = [value + step * (index >= count // 2) for index, value in enumerate(rows[0])]
    return [Series(tuple(row)) for row in rows]


def is_certain(series: Sequence[Series]) -> list[bool]:
    return [any(not item.may_be_chance for item in course.changes) for course in find_courses(series)]


@pytest.mark.parametrize(
    ("count", "correlation", "most"),
    [(30, 0, 0.05), (30, 0.3, 0.05), (12, 0.6, 0.05), (20, 0.6, 0.06), (30, 0.6, 0.05), (60, 0.3, 0.05)],
)
def test_few_pages_without_a_change_show_one(count: int, correlation: float, most: float) -> None:
    random = Random(count)
    pages = sum(any(is_certain(draw_page(random, count, correlation))) for _ in range(PAGES))
    assert pages / PAGES <= most + ERRORS * math.sqrt(most * (1 - most) / PAGES)


@pytest.mark.parametrize(("count", "least"), [(30, 0.9), (45, 0.95), (60, 0.98)])
def test_step_of_one_metric_is_found(count: int, least: float) -> None:
    random = Random(count)
    pages = sum(is_certain(draw_page(random, count, 0, 5.0))[0] for _ in range(PAGES))
    assert pages / PAGES >= least - ERRORS * math.sqrt(least * (1 - least) / PAGES)


def test_weak_change_is_marked_not_dropped() -> None:
    """A step of 1.75 standard deviations is certain as the only series, and may be chance as one of 40."""
    step, *others = draw_page(Random(15), 30, 0, 3.5)
    (alone,), (marked, *_) = find_courses([step]), find_courses([step, *others])
    assert [item.may_be_chance for item in alone.changes] == [False]
    assert [item.may_be_chance for item in marked.changes] == [True]


def test_same_series_counts_once() -> None:
    page = draw_page(Random(3), 30, 0, 5.0)
    (first, *_, last) = find_courses([*page, page[0]])
    assert (first, len(first.changes)) == (last, 1)
    assert find_courses(page)[0] == first


@pytest.mark.parametrize(
    ("ps", "limit"),
    [([], -1), ([1, 1], -1), ([0.01, 0.5], 0.01), ([0.03, 0.04], 0.04), ([0.03, 0.06], -1),
     ([0.001, 0.02, 0.04, 0.9], 0.02)],
)  # fmt: skip
def test_limit_is_that_of_benjamini_and_hochberg(ps: list[float], limit: float) -> None:
    assert find_discovery_limit(ps) == limit
