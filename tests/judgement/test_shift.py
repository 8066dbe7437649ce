"""Differences of distributions: shares, their greatest gap, and intervals of quantiles from order statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from scipy import stats

from assay.judgement.batches import Cell, RunCells
from assay.judgement.change import Interval
from assay.judgement.interval import Reason
from assay.judgement.quantile_interval import Quantile, compare_quantiles, find_index
from assay.judgement.shift import (
    SHARES,
    STEPS,
    RunQuantiles,
    compare_distributions,
    find_greatest_gap,
    list_gaps,
)
from tests.support.quantiles import estimate_pooled


def measure(series: Sequence[float]) -> RunQuantiles:
    """Return the quantiles of a series with one value at each of up to 188 times, else with ten."""
    ascending, count = sorted(series), len(series)
    times = count if count < 189 else count // 10
    sizes = Counter(_place(index, count, times) for index in range(count))
    quantiles = tuple(ascending[find_index(count, share)] for share in SHARES)
    last = min(count - 1, STEPS)
    steps = tuple(ascending[step * (count - 1) // max(last, 1)] for step in range(last + 1))
    places = tuple(
        (place, size, tuple(_count(series, place, times, bound) for bound in quantiles))
        for place, size in sorted(sizes.items())
    )
    return RunQuantiles(quantiles, steps, places, times)


def _place(index: int, count: int, times: int) -> int:
    return index if times < 189 else index * times // count * 63 // times


def _count(series: Sequence[float], place: int, times: int, bound: float) -> int:
    return sum(value <= bound for index, value in enumerate(series) if _place(index, len(series), times) == place)


def draw(seed: int, count: int, shift: float = 0.0) -> list[float]:
    random = Random(seed)
    return [random.gauss(10 + shift, 2) for _ in range(count)]


def test_greatest_gap_is_the_statistic_of_kolmogorov_and_smirnov() -> None:
    for seed in range(20):
        base, other = draw(seed, 80), draw(seed + 100, 120, 1.0)
        expected = stats.ks_2samp(base, other)
        gap = find_greatest_gap(measure(base), measure(other))
        assert abs(gap.difference) == pytest.approx(expected.statistic)
        assert gap.value == pytest.approx(expected.statistic_location)


def test_shares_are_those_of_all_samples() -> None:
    base, other = draw(1, 150), draw(2, 60)
    for gap in list_gaps(measure(base), measure(other)):
        assert gap.base == sum(value <= gap.value for value in base) / 150
        assert gap.other == sum(value <= gap.value for value in other) / 60


def test_shares_of_many_samples_are_as_precise_as_the_steps() -> None:
    series = draw(3, 7 * STEPS)
    run = measure(series)
    for value in (6.0, 9.0, 10.0, 13.5):
        share = sum(item <= value for item in series) / len(series)
        assert share - 1 / STEPS <= run.compute_share(value) <= share


@pytest.mark.parametrize("count", [40, 150, STEPS + 1])
def test_intervals_of_few_samples_are_exact(count: int) -> None:
    series = draw(5, count)
    run, ascending = measure(series), sorted(series)
    for position, share in enumerate(SHARES):
        cells = tuple(Cell(place, "", below[position], size) for place, size, below in run.places)
        expected = estimate_pooled(share, RunCells(cells, run.units), ascending.__getitem__)
        assert run.estimate(position, 0.95) == expected


def test_ends_among_many_samples_are_rounded_away_from_the_quantile() -> None:
    series = draw(6, 5 * STEPS)
    run, ascending = measure(series), sorted(series)
    for position, share in enumerate(SHARES):
        cells = tuple(Cell(place, "", below[position], size) for place, size, below in run.places)
        exact = estimate_pooled(share, RunCells(cells, run.units), ascending.__getitem__)
        rounded = run.estimate(position, 0.95)
        assert isinstance(exact, Quantile)
        assert isinstance(rounded, Quantile)
        assert rounded.value == exact.value
        assert rounded.interval.low <= exact.interval.low <= exact.interval.high <= rounded.interval.high
        ranks = [ascending.index(item) for item in (rounded.interval.low, exact.interval.low)]
        assert ranks[1] - ranks[0] <= 5


def test_difference_is_that_of_both_quantiles() -> None:
    base, other = measure(draw(7, 120)), measure(draw(8, 120, 3.0))
    changes = {item.share: item for item in compare_distributions(base, other)}
    median = changes[Fraction(1, 2)]
    before, after = (run.estimate(4, 0.95) for run in (base, other))
    assert isinstance(before, Quantile)
    assert isinstance(after, Quantile)
    assert median.interval == compare_quantiles(before, after)
    assert isinstance(median.interval, Interval)
    assert median.interval.low > 0
    assert median.difference == other.quantiles[4] - base.quantiles[4]
    assert changes[Fraction(99, 100)].interval is Reason.TOO_FEW_SAMPLES


def test_runs_of_few_times_have_no_interval() -> None:
    run = measure(draw(9, 4))
    assert {item.interval for item in compare_distributions(run, run)} == {Reason.FEW_SAMPLES}
    assert find_greatest_gap(run, run).difference == 0
