"""Segments of few samples: their geometric mean, and when they are paired."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from assay.judgement.paired_segments import PairedSegments, SegmentPair, pair_segments
from assay.judgement.verdict import Margin


def build_paired(ratios: Sequence[float], sizes: Sequence[int] = (), scale: float = 1.0) -> PairedSegments | None:
    pairs = [
        SegmentPair(f"m[case={index}]", Fraction(scale**index), Fraction(scale**index) * Fraction(ratio), (1, size))
        for index, (ratio, size) in enumerate(zip(ratios, sizes or [1] * len(ratios), strict=True))
    ]
    return pair_segments(pairs, Margin(2.0))


def test_geometric_mean_of_ratios_has_an_interval() -> None:
    """The logarithms 0, 1 and 2 bits have the mean 1 and the error ln 2 / sqrt(3); t(2) is 4.303."""
    paired = build_paired([1.0, 2.0, 4.0])
    assert paired
    assert paired.mean
    percent, interval = paired.mean
    assert percent == pytest.approx(100)
    assert interval.low == pytest.approx(100 * (2 * 2 ** (-4.30265 / 3**0.5) - 1), rel=1e-4)
    assert interval.high == pytest.approx(100 * (2 * 2 ** (4.30265 / 3**0.5) - 1), rel=1e-4)
    assert [item.metric for item in paired.rises] == ["m[case=2]", "m[case=1]"]


def test_segments_of_any_size_weigh_alike() -> None:
    """Half of 40 benchmarks are 20 % slower, among values from 1 to 5e11."""
    paired = build_paired([1.0, 1.2] * 20, scale=2.0)
    assert paired
    assert (len(paired.rises), len(paired.falls)) == (20, 0)
    assert paired.mean
    assert paired.mean[1].low > 2


@pytest.mark.parametrize(
    ("ratios", "sizes"), [((1.0, 2.0), (1, 1)), ((1.0, 2.0, 3.0), (1, 1, 2))], ids=["few", "other numbers"]
)
def test_few_or_unbalanced_segments_are_not_paired(ratios: Sequence[float], sizes: Sequence[int]) -> None:
    assert build_paired(ratios, sizes) is None


def test_equal_ratios_have_no_interval() -> None:
    paired = build_paired([1.5, 1.5, 1.5])
    assert paired
    assert (len(paired.rises), paired.mean) == (3, None)


def test_intervals_hold_the_mean_change_of_benchmarks() -> None:
    """Of 1000 sets of 10 benchmarks whose changes vary by 10 %, about 95 % of the intervals hold their mean."""
    source = random.Random(1)
    covered = 0
    for _ in range(1000):
        paired = build_paired([1.05 * source.lognormvariate(0, 0.1) for _ in range(10)])
        assert paired
        assert paired.mean
        covered += paired.mean[1].low <= 5 <= paired.mean[1].high
    assert covered == pytest.approx(955, abs=20)  # degrees of freedom are cut to 8
