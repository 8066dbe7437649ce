"""Divide a run into batches of its time: by how much the samples of a batch move the run's average.

A metric depends on its own past, so its samples say less about the average than as many independent ones. Sums over
long batches of consecutive samples are nearly independent. SQL supplies a run as *cells*, the sums of its samples by
place in time and by cluster. Sums are exact integers, and stay so until each batch is divided once.

The *influence* of a cell is what it adds to the average (S its sum, n its number of samples):

    pooled        m = S / n over all samples;               influence = (S_kh - n_kh m) / n
    per cluster   m = mean of the m_h of the H clusters;    influence = (S_kh - n_kh m_h) / (H n_h)

Influences of a run sum up to 0, and so do those of its batches. The influence of a cluster as a whole is
n_h (m_h - m) / n if samples are pooled, else (m_h - m) / H.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

LEAST_UNITS = 5
LEAST_BATCHES = 7
MOST_BATCHES = 63
_DIVISOR = 3  # batches of the next rung are three times as long
_LEAST_MERGED = _DIVISOR * LEAST_BATCHES  # units of time; of fewer, each is a batch of its own
LEAST_PLACED = _DIVISOR * MOST_BATCHES  # units of time; of fewer, each is a place of its own


@dataclass(frozen=True, slots=True)
class Cell:
    """The samples of one cluster at one place in time; `sum` is in the scale of the run."""

    place: int
    cluster: str
    sum: int
    count: int


class Weighting(StrEnum):
    """Which samples count alike in the average of a run."""

    POOLED = "pooled"
    PER_CLUSTER = "per cluster"
    """Each cluster counts alike, whatever its number of samples."""


@dataclass(frozen=True, slots=True)
class RunCells:
    """The samples of a metric in a run.

    `units` is the number of distinct times; a run of U units has `count_places(U)` places, from 0 on. A value is its
    integer divided by `scale`. Without clusters, the cluster of all cells is "".
    """

    cells: tuple[Cell, ...]
    units: int
    scale: int = 1
    weighting: Weighting = Weighting.POOLED

    def __post_init__(self) -> None:
        """Raise ValueError for cells that no run has."""
        places = count_places(self.units)
        if not self.cells or self.scale < 1:
            raise ValueError("a run needs at least one cell, and a scale of at least 1")
        for cell in self.cells:
            if cell.count < 1 or not 0 <= cell.place < places:
                raise ValueError(f"{cell} has no samples, or is not in one of {places} places")


@dataclass(frozen=True, slots=True)
class RunInfluence:
    """The average of a metric in a run, and what moves it.

    `by_place` and `by_cell` are numerators of influences over one `denominator`; `by_cell` has places and clusters as
    keys. `by_cluster` has influences of whole clusters. `has_negative` says whether the sum
    of a cell is below 0. `samples` is their number.
    """

    mean: Fraction
    units: int
    denominator: int
    by_place: tuple[int, ...]
    by_cell: Mapping[tuple[int, str], int]
    by_cluster: Mapping[str, float]
    has_negative: bool = False
    samples: int = 0


def count_places(units: int) -> int:
    """Return into how many places a run of so many units of time is divided before places are merged into batches.

    A run with enough units has 63 places, a shorter one a place for each unit.
    """
    return MOST_BATCHES if units >= LEAST_PLACED else units


def build_ladder(units: int) -> tuple[int, ...]:
    """Return the numbers of batches to try for a run of so many units, the greatest first; all are odd.

    An odd number of batches has an even number of degrees of freedom. 2250 units: 63, 21, 7; 56 units: 17, 7; 20
    units: 19; fewer than 5: none.
    """
    if units < LEAST_UNITS:
        return ()
    if units < _LEAST_MERGED:
        return (_floor_to_odd(units),)
    rungs = []
    rung = min(MOST_BATCHES, _floor_to_odd(units / _DIVISOR))
    while rung > LEAST_BATCHES:
        rungs.append(rung)
        rung = _floor_to_odd(rung / _DIVISOR)
    return (*rungs, LEAST_BATCHES)


def keep_clusters(run: RunCells, names: Collection[str]) -> RunCells:
    """Return the run without the cells of other clusters, as a summary over some hosts needs it.

    Raises ValueError when no cell is left.
    """
    return replace(run, cells=tuple(cell for cell in run.cells if cell.cluster in names))


def keep_lowest_clusters(run: RunCells, number: int) -> RunCells:
    """Return the run with only so many clusters, those of the lowest averages; of equal ones, the first by name."""
    sums, counts = _sum_clusters(run)
    names = sorted(sums, key=lambda name: (Fraction(sums[name], counts[name]), name))
    return keep_clusters(run, names[:number])


def measure_run(run: RunCells) -> RunInfluence:
    """Return the average of a run and the influence of its cells, places and clusters, in exact arithmetic."""
    sums, counts = _sum_clusters(run)
    if run.weighting is Weighting.POOLED:
        return _measure_pooled(run, sums, counts)
    return _measure_per_cluster(run, sums, counts)


def combine_influences(
    mean: Fraction, parts: Sequence[tuple[Fraction, RunInfluence]], *, is_signed: bool
) -> RunInfluence | None:
    """Return the influences on a function of averages, each with its slope; None if their places differ.

    To first order, a function moves by the sum of slope times influence (the delta method). `is_signed` says whether
    the function may be below 0.
    """
    runs = [run for _, run in parts]
    if len({len(run.by_place) for run in runs}) != 1:
        return None
    factors = [Fraction(float(slope)) / run.denominator for slope, run in parts]
    denominator = math.lcm(*(factor.denominator for factor in factors))
    weights = [factor.numerator * (denominator // factor.denominator) for factor in factors]
    by_cell: defaultdict[tuple[int, str], int] = defaultdict(int)
    by_cluster: defaultdict[str, float] = defaultdict(float)
    for (slope, run), weight in zip(parts, weights, strict=True):
        for key, numerator in run.by_cell.items():
            by_cell[key] += weight * numerator
        for name, influence in run.by_cluster.items():
            by_cluster[name] += float(slope) * influence
    columns = zip(*(run.by_place for run in runs), strict=True)
    return RunInfluence(
        mean,
        min(run.units for run in runs),
        denominator,
        tuple(sum(weight * item for weight, item in zip(weights, column, strict=True)) for column in columns),
        dict(by_cell),
        dict(by_cluster),
        is_signed or any(run.has_negative for run in runs),
        min(run.samples for run in runs),
    )


def merge_places(run: RunInfluence, batches: int) -> tuple[float, ...]:
    """Return the influences of consecutive batches, which together are 0."""
    numerators = [0] * batches
    for place, numerator in enumerate(run.by_place):
        numerators[_find_batch(run, place, batches)] += numerator
    return tuple(numerator / run.denominator for numerator in numerators)


def merge_cells(run: RunInfluence, batches: int) -> dict[tuple[int, str], float]:
    """Return the influences of the cells of batches and clusters."""
    numerators: defaultdict[tuple[int, str], int] = defaultdict(int)
    for (place, cluster), numerator in run.by_cell.items():
        numerators[_find_batch(run, place, batches), cluster] += numerator
    return {key: numerator / run.denominator for key, numerator in numerators.items()}


def average_columns(rows: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean of each column.

    `math.fsum` rounds once, so that the order of rows is without effect. (The builtin `sum` is not used: its result
    depends on the version of Python.)
    """
    return tuple(math.fsum(column) / len(rows) for column in zip(*rows, strict=True))


def _sum_clusters(run: RunCells) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return the sum and the number of samples of each cluster."""
    sums: defaultdict[str, int] = defaultdict(int)
    counts: defaultdict[str, int] = defaultdict(int)
    for cell in run.cells:
        sums[cell.cluster] += cell.sum
        counts[cell.cluster] += cell.count
    return sums, counts


def _measure_pooled(run: RunCells, sums: Mapping[str, int], counts: Mapping[str, int]) -> RunInfluence:
    total, count = sum(sums.values()), sum(counts.values())
    centres = dict.fromkeys(sums, (1, total, count))
    denominator = count * count * run.scale
    levels = {name: (sums[name] * count - counts[name] * total) / denominator for name in sums}
    return _collect(run, Fraction(total, count * run.scale), denominator, centres, levels)


def _measure_per_cluster(run: RunCells, sums: Mapping[str, int], counts: Mapping[str, int]) -> RunInfluence:
    # One common denominator: sums of fractions would look for common divisors at each addition.
    common = math.lcm(*(count * count for count in counts.values()))
    centres = {name: (common // (counts[name] * counts[name]), sums[name], counts[name]) for name in sums}
    means = {name: Fraction(sums[name], counts[name] * run.scale) for name in sums}
    mean = sum(means.values(), Fraction(0)) / len(means)
    levels = {name: float((means[name] - mean) / len(means)) for name in means}
    return _collect(run, mean, len(means) * common * run.scale, centres, levels)


def _collect(
    run: RunCells,
    mean: Fraction,
    denominator: int,
    centres: Mapping[str, tuple[int, int, int]],
    levels: Mapping[str, float],
) -> RunInfluence:
    """Return the influence of places and cells; `centres` has weight, sum and number of samples of each cluster."""
    by_place = [0] * count_places(run.units)
    by_cell: defaultdict[tuple[int, str], int] = defaultdict(int)
    for cell in run.cells:
        weight, total, count = centres[cell.cluster]
        numerator = weight * (cell.sum * count - cell.count * total)
        by_place[cell.place] += numerator
        by_cell[cell.place, cell.cluster] += numerator
    has_negative = any(cell.sum < 0 for cell in run.cells)
    samples = sum(cell.count for cell in run.cells)
    return RunInfluence(
        mean, run.units, denominator, tuple(by_place), dict(by_cell), dict(levels), has_negative, samples
    )


def _find_batch(run: RunInfluence, place: int, batches: int) -> int:
    return place * batches // len(run.by_place)


def _floor_to_odd(number: float) -> int:
    whole = int(number)
    return whole if whole % 2 else whole - 1
