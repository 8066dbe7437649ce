"""Intervals of quantiles: order statistics at the ends, and how often they hold the true quantile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.judgement.batches import Cell, RunCells
from assay.judgement.change import Interval
from assay.judgement.interval import Reason
from assay.judgement.quantile_interval import (
    Quantile,
    compare_quantiles,
    find_index,
    has_interval,
)
from tests.support.deep import is_deep, scale_examples
from tests.support.quantiles import estimate_pooled
from tests.support.random_series import draw_series
from tests.support.simulated_metrics import rank_cells

MEDIAN, NINETY = Fraction(1, 2), Fraction(9, 10)
PAIRS = 600 if is_deep() else 150
NUMBERS = st.floats(-100, 100)


def quantile_of(series: Sequence[float], share: Fraction) -> Quantile | Reason:
    """The quantile of a series of one value at a time."""
    ascending = sorted(series)
    bound = ascending[find_index(len(series), share)]
    indicator = rank_cells((time, "", int(value <= bound)) for time, value in enumerate(series))
    return estimate_pooled(share, indicator, ascending.__getitem__)


def estimated(series: Sequence[float], share: Fraction) -> Quantile:
    quantile = quantile_of(series, share)
    assert isinstance(quantile, Quantile)
    return quantile


@pytest.mark.parametrize(
    ("count", "share", "index"),
    [
        (10, MEDIAN, 5),
        (11, MEDIAN, 5),
        (10, NINETY, 9),
        (10, Fraction(1), 9),
        (10, Fraction(-1, 5), 0),
        (10, Fraction(2), 9),
    ],
)
def test_index_is_that_of_printed_quantiles(count: int, share: Fraction, index: int) -> None:
    assert find_index(count, share) == index


@pytest.mark.parametrize(
    ("count", "share", "expected"),
    [(20, MEDIAN, True), (19, MEDIAN, False), (100, NINETY, True), (99, NINETY, False), (85, Fraction(99, 100), False)],
)
def test_ten_samples_must_lie_beyond(count: int, share: Fraction, expected: bool) -> None:
    assert has_interval(count, share) is expected


def test_ends_are_samples_at_the_shares_of_the_error() -> None:
    """Ten samples at each of 30 times make nine batches."""
    series = list(range(300))
    Random(1).shuffle(series)
    rows = [(index // 10, "", int(value <= 150)) for index, value in enumerate(series)]
    sums, counts = [0] * 9, [0] * 9
    for time, _, is_below in rows:
        sums[time * 9 // 30] += is_below
        counts[time * 9 // 30] += 1
    influences = [(total - count * 151 / 300) / 300 for total, count in zip(sums, counts, strict=True)]
    reach = stats.t.ppf(0.975, 8) * math.sqrt(9 / 8 * sum(item**2 for item in influences))
    low, high = (math.floor(300 * (0.5 + sign * reach)) for sign in (-1, 1))
    assert estimate_pooled(MEDIAN, rank_cells(rows), float) == Quantile(150.0, Interval(low, high), 9, False)


def test_interval_of_few_units_is_refused() -> None:
    cells = RunCells((Cell(0, "", 50, 100),), 4)
    assert estimate_pooled(MEDIAN, cells, float) is Reason.TOO_FEW_UNITS


def test_interval_of_few_samples_beyond_is_refused() -> None:
    assert quantile_of(range(99), NINETY) is Reason.TOO_FEW_SAMPLES
    assert quantile_of(range(100), NINETY) is Reason.TOO_FEW_SAMPLES  # its upper end would lie beyond the last sample
    assert isinstance(quantile_of([number * 7 % 200 for number in range(200)], NINETY), Quantile)


def test_quantile_of_a_slow_series_is_too_short() -> None:
    assert estimated(range(100), MEDIAN).is_too_short


def test_difference_combines_both_intervals() -> None:
    base = Quantile(10.0, Interval(7.0, 14.0), 63, False)
    other = Quantile(20.0, Interval(17.0, 21.0), 63, False)
    assert compare_quantiles(base, other) == Interval(10.0 - 5.0, 10.0 + math.sqrt(10))


@settings(derandomize=True, deadline=None, max_examples=scale_examples(90))
@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3).map(sorted), min_size=2, max_size=2))
def test_exchanged_quantiles_mirror_the_difference(ends: list[list[float]]) -> None:
    base, other = (Quantile(value, Interval(low, high), 7, False) for low, value, high in ends)
    forward, back = compare_quantiles(base, other), compare_quantiles(other, base)
    assert (back.low, back.high) == (-forward.high, -forward.low)
    assert forward.low <= other.value - base.value <= forward.high


@pytest.mark.parametrize(("share", "correlation"), [(MEDIAN, 0.0), (MEDIAN, 0.6), (NINETY, 0.0), (NINETY, 0.6)])
def test_equal_quantiles_are_rarely_told_apart(share: Fraction, correlation: float) -> None:
    """False alarms at a nominal 5 %; measured over 600 pairs: 2.8 to 4.7 %."""
    random = Random(f"{share}/{correlation}")
    alarms, pairs = 0, 0
    for _ in range(PAIRS):
        base, other = (quantile_of(draw_series(random, 500, correlation), share) for _ in range(2))
        if isinstance(base, Quantile) and isinstance(other, Quantile):
            interval = compare_quantiles(base, other)
            alarms += interval.low > 0 or interval.high < 0
            pairs += 1
    assert pairs > PAIRS / 2
    assert alarms / pairs < 0.08
