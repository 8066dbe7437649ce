"""Divide the change of an average over the values of a column: hosts, or a dimension.

With the weights w and means m of the values k in both versions, their means w̄ and m̄ₖ, and m̄ of the averages:

    Δ = sum w̄ₖ Δmₖ  +  sum Δwₖ (m̄ₖ - m̄)          changed within, and changed mix

Both are exact. The weight of a value is its share of the samples; if each host counts alike, that of samples which have
the weight 1 / (H n_h) each, with H hosts and n_h samples of their host. A value that one version lacks has changed
mix only, with the mean that is known. (This is the decomposition of Kitagawa 1955.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.judgement.batches import Cell, RunCells, Weighting, count_places, measure_run
from assay.judgement.interval import Reason, Version

PartValue = str | None
"""A value of a column as text; None where a row has none."""


REMAINDER = "(other)"
"""All samples of no listed value; text in quotes is a value of this name."""


@dataclass(frozen=True, slots=True)
class SplitRun:
    """The samples of a metric in a run, as a whole and by the values of a column."""

    whole: RunCells
    parts: Mapping[PartValue, tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class PartChange:
    """What a value adds to the change of an average, in the unit of the metric.

    `weights` and `averages` are those in base and other version; an average is None without samples.
    """

    value: PartValue
    weights: tuple[Fraction, Fraction]
    averages: tuple[Fraction | None, Fraction | None]
    within: Fraction
    mix: Fraction


def split_by_cluster(run: RunCells) -> SplitRun:
    """Return the samples of a run by their clusters."""
    parts: defaultdict[PartValue, list[Cell]] = defaultdict(list)
    for cell in run.cells:
        parts[cell.cluster].append(cell)
    return SplitRun(run, {value: tuple(cells) for value, cells in parts.items()})


def split_by_values(run: RunCells, parts: Mapping[PartValue, Sequence[Cell]]) -> SplitRun:
    """Return the samples of a run by values; those of no part, such as hosts without samples, are the remainder."""
    sums: defaultdict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    for sign, cells in ((1, run.cells), *((-1, cells) for cells in parts.values())):
        for cell in cells:
            item = sums[cell.place, cell.cluster]
            item[0] += sign * cell.sum
            item[1] += sign * cell.count
    remainder = tuple(Cell(*key, *item) for key, item in sums.items() if item[1] > 0)
    listed: dict[PartValue, tuple[Cell, ...]] = {value: tuple(cells) for value, cells in parts.items()}
    return SplitRun(run, {**listed, REMAINDER: remainder} if remainder else listed)


def divide_change(base: Sequence[SplitRun], other: Sequence[SplitRun]) -> tuple[PartChange, ...]:
    """Return what each value adds to the change between versions, whose averages are those of their runs."""
    versions = [[_weigh_parts(run) for run in runs] for runs in (base, other)]
    totals = [sum((measure_run(run.whole).mean for run in runs), Fraction(0)) / len(runs) for runs in (base, other)]
    centre = sum(totals, Fraction(0)) / 2
    values = sorted(
        {value for runs in versions for run in runs for value in run}, key=lambda item: (item is None, item)
    )
    return tuple(
        _divide(value, _average_runs(versions[0], value), _average_runs(versions[1], value), centre) for value in values
    )


def measure_part(runs: Sequence[SplitRun], values: Collection[PartValue]) -> Version:
    """Return the version with the samples of some values; without runs if one of them has none.

    The times without such samples are left out, as from a metric that only has these.
    """
    measured = []
    for run in runs:
        cells = [cell for value in values for cell in run.parts.get(value, ())]
        if not cells:
            return Version((), reason=Reason.NO_SAMPLES)
        places = sorted({cell.place for cell in cells})
        units = run.whole.units
        if len(places) < count_places(units):
            numbers = {place: number for number, place in enumerate(places)}
            units, cells = len(places), [replace(cell, place=numbers[cell.place]) for cell in cells]
        measured.append(measure_run(replace(run.whole, cells=tuple(cells), units=units)))
    return Version.from_runs(measured)


def measure_share(runs: Sequence[SplitRun], value: PartValue) -> Version:
    """Return the version whose average is the share of samples that have a value."""
    measured = []
    for run in runs:
        sizes: dict[tuple[int, str], list[int]] = {}
        for other, cells in run.parts.items():
            for cell in cells:
                counts = sizes.setdefault((cell.place, cell.cluster), [0, 0])
                counts[0] += cell.count if other == value else 0
                counts[1] += cell.count
        cells = tuple(Cell(*key, *counts) for key, counts in sizes.items())
        measured.append(measure_run(RunCells(cells, run.whole.units)))
    return Version.from_runs(measured)


def _weigh_parts(run: SplitRun) -> dict[PartValue, tuple[Fraction, Fraction]]:
    """Return the weight of each value, and what it adds to the average."""
    whole = run.whole
    sizes: defaultdict[str, int] = defaultdict(int)
    for cell in whole.cells:
        sizes[cell.cluster if whole.weighting is Weighting.PER_CLUSTER else ""] += cell.count
    weighed = {}
    for value, cells in run.parts.items():
        sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for cell in cells:
            item = sums[cell.cluster if whole.weighting is Weighting.PER_CLUSTER else ""]
            item[0] += cell.count
            item[1] += cell.sum
        weight, added = (
            sum((Fraction(item[index], sizes[name]) for name, item in sums.items()), Fraction(0)) / len(sizes)
            for index in (0, 1)
        )
        weighed[value] = weight, added / whole.scale
    return weighed


def _average_runs(
    runs: Sequence[Mapping[PartValue, tuple[Fraction, Fraction]]], value: PartValue
) -> tuple[Fraction, Fraction]:
    items = [run[value] for run in runs if value in run]
    weight, added = (sum((item[index] for item in items), Fraction(0)) / len(runs) for index in (0, 1))
    return weight, added


def _divide(
    value: PartValue, base: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction], centre: Fraction
) -> PartChange:
    before, after = (added / weight if weight else None for weight, added in (base, other))
    means = [item for item in (before, after) if item is not None]
    within = Fraction(0)
    if before is not None and after is not None:
        within = (base[0] + other[0]) / 2 * (after - before)
    mix = (other[0] - base[0]) * (sum(means, Fraction(0)) / len(means) - centre)
    return PartChange(value, (base[0], other[0]), (before, after), within, mix)
