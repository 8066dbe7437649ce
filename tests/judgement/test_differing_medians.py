"""Medians that differ of open metrics: a few large samples do not hide that all others moved."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from assay.judgement.batches import Cell, RunCells, measure_run
from assay.judgement.differing_medians import RunQuantiles, find_differing_medians
from assay.judgement.interval import Version, compare
from assay.judgement.verdict import Direction, Margin, Verdict, judge
from assay.sql.distributions import CENTILES

SAMPLES = 51
PAIRS = 200


def draw_samples(seed: int, factor: float = 1.0, large: int = 5, correlation: float = 0.0) -> list[float]:
    """Draw samples of which some are several times as large as all others."""
    source = random.Random(seed)
    level, samples = 0.0, []
    for _ in range(SAMPLES):
        level = correlation * level + source.gauss(0, 0.05)
        samples.append(factor * (1.2 + level))
    for place in source.sample(range(SAMPLES), large):
        samples[place] = factor * 10
    return samples


def find_medians(base: Sequence[float], other: Sequence[float], margin: float = 2.0) -> tuple[float, float] | None:
    versions, quantiles = [], []
    for samples in (base, other):
        cells = [Cell(place, "", round(1e6 * value), 1) for place, value in enumerate(samples)]
        versions.append(Version.from_runs([measure_run(RunCells(tuple(cells), len(cells), 10**6))]))
        ordered, size = sorted(samples), len(samples)
        pairs = [(float(share), ordered[min(int(float(share) * size), size - 1)]) for share in CENTILES]
        quantiles.append([RunQuantiles(size, tuple(pairs))])
    judgement = judge(compare(versions[0], versions[1]), Margin(margin), Direction.LOWER)
    medians = find_differing_medians(judgement, Margin(margin), quantiles[0], quantiles[1])
    assert medians is None or judgement.verdict is Verdict.OPEN
    return medians


@pytest.mark.parametrize(
    ("factor", "large", "margin", "differ"),
    [(1.2, 5, 2.0, True), (1.0, 5, 2.0, False), (1.2, 5, 25.0, False), (1.2, 0, 2.0, False)],
    ids=["slower", "unchanged", "within the margin", "worse, not open"],
)
def test_medians_differ_if_all_samples_are_slower(factor: float, large: int, margin: float, differ: bool) -> None:
    medians = find_medians(draw_samples(1, large=large), draw_samples(2, factor, large), margin)
    assert bool(medians) == differ
    if medians:
        assert medians == pytest.approx((1.2, 1.44), abs=0.03)


def test_few_samples_do_not_tell() -> None:
    assert find_medians([1.0, 9.0] * 5 + [1.0] * 10, [2.0, 18.0] * 5 + [2.0] * 10) is None


@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.02), (0.8, 0.1)])
def test_medians_of_unchanged_runs_seldom_differ(correlation: float, most: float) -> None:
    """Large samples hide from the batches that neighbours are alike, so that medians err more often then."""
    pairs = [(draw_samples(2 * seed, 1.0, 5, correlation), draw_samples(2 * seed + 1, 1.0, 5, correlation))
             for seed in range(PAIRS)]  # fmt: skip
    assert sum(find_medians(*pair, 0.0) is not None for pair in pairs) <= most * PAIRS
