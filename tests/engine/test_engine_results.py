"""Test how rows of hosts become the distribution of a metric, against values computed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest

from assay.engine.results import (
    Centile,
    HostRow,
    compute_deviation,
    read_host_row,
    scale,
    summarize_hosts,
    summarize_pooled,
)
from assay.lang.model.vocabulary import Summary
from assay.util.centiles import CENTILES

ALL = Summary("all", 0, "mean", False, "")
LOWEST = Summary("lowest", 2, "greatest", False, "")
MILLI = Fraction(1, 1000)


def make_row(size: int, mean: float, stddev: float, centiles: Sequence[float]) -> HostRow:
    return read_host_row((size, mean, stddev, list(centiles)))


def make_rising_centiles(first: int, step: int) -> list[int]:
    """Return 29 centile values from `first` in steps; the median is the eighth."""
    return [first + step * place for place in range(len(CENTILES))]


def test_host_without_samples_has_zeros() -> None:
    assert read_host_row((0, None, None, None)) == HostRow(0, 0.0, 0.0, (0,) * 29)


def test_pooled_samples_have_the_unit_of_the_metric() -> None:
    distribution = summarize_pooled(
        make_row(5, 2500.0, 40.0, make_rising_centiles(1000, 100)), [ALL, LOWEST], MILLI, integral=True
    )
    assert distribution.size == 5
    assert distribution.averages == {"all": 2.5, "lowest": 2.5}
    assert distribution.stddevs == {"all": 0.04, "lowest": 0.04}
    assert (distribution.least, distribution.median, distribution.greatest) == (1.0, 1.7, 3.8)
    assert distribution.centiles[0] == Centile(0.0, 1000, None, None, None)
    assert distribution.centiles[-1] == Centile(1.0, 3800, None, None, None)
    assert distribution.scale_value(1500) == 1.5


def test_centiles_over_hosts_are_medians_of_host_centiles() -> None:
    """The median of n values is at index floor(n / 2)."""
    centiles_of_three_hosts = summarize_hosts(
        [make_row(1, 0.0, 0.0, make_rising_centiles(first, 0)) for first in (10, 40, 20)], [ALL], MILLI, integral=True
    )
    assert centiles_of_three_hosts.centiles[3] == Centile(0.1, 20, 10, 40, math.sqrt(Fraction(700, 3)))
    two = summarize_hosts(
        [make_row(1, 0.0, 0.0, make_rising_centiles(first, 0)) for first in (10, 40)], [ALL], MILLI, integral=True
    )
    assert two.centiles[28] == Centile(1.0, 40, 10, 40, math.sqrt(450))


def test_extremes_and_median_over_hosts_cover_all_hosts() -> None:
    rows = [
        make_row(4, 0.0, 0.0, make_rising_centiles(3000, 100)),
        make_row(6, 0.0, 0.0, make_rising_centiles(1000, 10)),
        make_row(1, 0.0, 0.0, make_rising_centiles(0, 60)),
    ]
    distribution = summarize_hosts(rows, [ALL], MILLI, integral=True)
    assert distribution.size == 11
    assert (distribution.least, distribution.median, distribution.greatest) == (0.0, 1.07, 5.8)
    assert distribution.mean is None


def test_averages_and_deviations_follow_the_summary() -> None:
    """The mean of 1, 2 and 6 is 3, that of the lowest two is 1.5."""
    rows = [
        make_row(1, mean, deviation, make_rising_centiles(0, 1))
        for mean, deviation in ((6000.0, 100.0), (1000.0, 500.0), (2000.0, 0.0))
    ]
    distribution = summarize_hosts(rows, [ALL, LOWEST], MILLI, integral=True)
    assert distribution.averages == {"all": 3.0, "lowest": 1.5}
    assert distribution.stddevs == {"all": pytest.approx(0.2), "lowest": 0.5}


def test_lowest_hosts_summary_takes_all_of_fewer_hosts() -> None:
    distribution = summarize_hosts(
        [make_row(1, 7.0, 0.0, make_rising_centiles(0, 1))], [LOWEST], Fraction(1), integral=True
    )
    assert distribution.averages == {"lowest": 7.0}


@pytest.mark.parametrize(
    ("values", "squared"),
    [
        ([5], Fraction(0)),
        ([1, 2, 4], Fraction(7, 3)),
        ([-1, 1], Fraction(2)),
        # Squares of these have more digits than a double.
        ([10**15, 10**15 + 1], Fraction(1, 2)),
        ([0.5, 1.5], Fraction(1, 2)),
        ([1, 1.5, 2], Fraction(1, 4)),
    ],
)
def test_deviation_is_the_sample_deviation(values: list[int | float], squared: Fraction) -> None:
    """The sum of squares is divided by n - 1."""
    assert compute_deviation(values) == math.sqrt(squared)


def test_exact_average_is_mean_times_factor() -> None:
    """A third of a second in ms is exact, and not the nearest double."""
    distribution = summarize_pooled(
        make_row(3, 1 / 3, 0.0, make_rising_centiles(0, 1)), [ALL], Fraction(1, 3), integral=True
    )
    assert distribution.compute_exact_average("all") == Fraction(1 / 3) / 3


def test_exact_average_over_hosts_follows_the_summary() -> None:
    """The summary has the unit of the metric already."""
    rows = [make_row(1, mean, 0.0, make_rising_centiles(0, 1)) for mean in (1000.0, 2000.0, 6000.0)]
    assert summarize_hosts(rows, [ALL, LOWEST], MILLI, integral=True).compute_exact_average("lowest") == Fraction(3, 2)


@pytest.mark.parametrize(("size", "mean"), [(0, 0.0), (2, math.inf), (2, math.nan)])
def test_exact_average_needs_finite_samples(size: int, mean: float) -> None:
    row = HostRow(size, mean, 0.0, tuple(make_rising_centiles(0, 1)))
    assert summarize_pooled(row, [ALL], Fraction(1), integral=False).compute_exact_average("all") is None


def test_integer_is_rounded_once() -> None:
    """2^53 + 1 is no double, so rounding it before the multiplication by 3 gives another result."""
    assert scale(2**53 + 1, Fraction(3)) == 27021597764222980.0
    assert scale(2.0**53, Fraction(3)) == 27021597764222976.0
