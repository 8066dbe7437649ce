"""Compare of what the samples of two versions are: which values a dimension has in both, and with which shares.

An average of all samples changes if a benchmark is left out, or if a fast kind of request becomes more frequent. Then
the averages of the values that both versions have are compared, with the shares of the base as weights:

    m = sum over common values v of w_v m_v          w_v = n_v / n in the base

Influences are weighted sums of those of the values, by the same weights.

Values that one version lacks, and shares that differ, may be chance. They count if the numbers of samples of all common
values are equal, as in a table of benchmarks, or if chance would have them in fewer than one of 1000 pairs of runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.batches import RunInfluence
from assay.judgement.interval import Reason, Version

_MOST_CHANCE = 0.001
_Z = 3.09  # of the normal distribution; beyond it lies one of 1000
_LEAST_EXPECTED = 5  # samples of a value; the distribution of fewer is not that of chi squared
_LEAST_SHIFT = 0.01  # of all samples

Values = tuple[str | int | bool | None, ...]
"""Values of the dimensions of a mix."""


@dataclass(frozen=True, slots=True)
class Mix:
    """How the samples of a metric differ between base and other version in the values of one dimension, or of two.

    `counts` are the numbers of samples of the common values in both, the most frequent in the base first; `base_only`
    and `other_only` are values that only one of them has. `shift` is the share of samples of common values that have
    another value, 0 if that may be chance, `difference` that of all samples.
    """

    dimensions: tuple[str, ...]
    counts: Mapping[Values, tuple[int, int]]
    base_only: tuple[Values, ...]
    other_only: tuple[Values, ...]
    shift: float
    difference: float

    @property
    def weights(self) -> dict[Values, Fraction]:
        """The share of each common value in the base."""
        total = sum(before for before, _ in self.counts.values())
        return {values: Fraction(before, total) for values, (before, _) in self.counts.items()}

    @property
    def is_outcome(self) -> bool:
        """Whether a dimension is true or false, such as whether a request succeeded."""
        every = (*self.counts, *self.base_only, *self.other_only)
        return any(all(isinstance(value, bool) for value in column) for column in zip(*every, strict=True))

    def find_greatest_shift(self) -> tuple[Values, float, float]:
        """Return the value whose share changed most, with its shares in base and other version."""
        totals = [sum(column) for column in zip(*self.counts.values(), strict=True)]
        shares = {values: (before / totals[0], after / totals[1]) for values, (before, after) in self.counts.items()}
        values = max(shares, key=lambda item: abs(shares[item][1] - shares[item][0]))
        return values, *shares[values]


def compare_mix(
    dimensions: tuple[str, ...], base: Mapping[Values, int], other: Mapping[Values, int], runs: tuple[int, int]
) -> Mix | None:
    """Compare the numbers of samples of values in versions of so many runs; None if they differ by chance only."""
    common = sorted({*base} & {*other}, key=lambda item: (-base[item], str(item)))
    is_designed = all(base[item] * runs[1] == other[item] * runs[0] for item in common)
    base_only, other_only = (
        tuple(item for item in sorted({*one} - {*two}, key=str) if is_designed or _is_certain(one, two, item))
        for one, two in ((base, other), (other, base))
    )
    counts = {item: (base[item], other[item]) for item in common}
    is_shifted = bool(counts) and _measure_shift(counts) >= _LEAST_SHIFT and _is_beyond_chance(list(counts.values()))
    if not (base_only or other_only or is_shifted):
        return None
    difference = _measure_shift({item: (base.get(item, 0), other.get(item, 0)) for item in (*base, *other)})
    return Mix(dimensions, counts, base_only, other_only, _measure_shift(counts) if is_shifted else 0.0, difference)


def standardize(parts: Sequence[tuple[Fraction, Sequence[Version]]]) -> tuple[Version, ...]:
    """Return versions whose runs have the weighted averages of parts, each of which has the same versions.

    A part that lacks samples in a run is left out. A part without cells leaves the versions without them, too.
    """
    most = [
        max(len(version.estimates) for version in versions)
        for versions in zip(*(item for _, item in parts), strict=True)
    ]
    complete = [
        (weight, versions)
        for weight, versions in parts
        if all(len(version.estimates) == count for version, count in zip(versions, most, strict=True))
    ]
    total = sum((weight for weight, _ in complete), Fraction(0))
    return tuple(
        _add_versions([(weight / total, versions[number]) for weight, versions in complete])
        for number in range(len(most))
    )


def _add_versions(parts: Sequence[tuple[Fraction, Version]]) -> Version:
    """Return the version whose runs have the weighted sums of the averages of parts."""
    numbers = range(len(parts[0][1].estimates) if parts else 0)
    estimates = tuple(sum((weight * part.estimates[run] for weight, part in parts), Fraction(0)) for run in numbers)
    is_constant = all(part.is_constant for _, part in parts)
    timeless = next((part for _, part in parts if not part.runs), None)
    if timeless or not parts:
        return Version(estimates, reason=timeless.reason if timeless else Reason.NO_SAMPLES, is_constant=is_constant)
    runs = tuple(add_influences([(weight, part.runs[run]) for weight, part in parts]) for run in numbers)
    return Version(estimates, runs, is_constant=is_constant)


def add_influences(parts: Sequence[tuple[Fraction, RunInfluence]]) -> RunInfluence:
    """Return the weighted sum of the averages and influences of parts of a run, over as many places as the fewest."""
    places = min(len(part.by_place) for _, part in parts)
    denominator = math.lcm(*(weight.denominator * part.denominator for weight, part in parts))
    by_place = [0] * places
    by_cell: defaultdict[tuple[int, str], int] = defaultdict(int)
    by_cluster: defaultdict[str, list[float]] = defaultdict(list)
    for weight, part in parts:
        factor = weight.numerator * (denominator // (weight.denominator * part.denominator))
        count = len(part.by_place)
        for place, numerator in enumerate(part.by_place):
            by_place[place * places // count] += factor * numerator
        for (place, cluster), numerator in part.by_cell.items():
            by_cell[place * places // count, cluster] += factor * numerator
        for cluster, level in part.by_cluster.items():
            by_cluster[cluster].append(float(weight) * level)
    return RunInfluence(
        sum((weight * part.mean for weight, part in parts), Fraction(0)),
        min(part.units for _, part in parts),
        denominator,
        tuple(by_place),
        dict(by_cell),
        {cluster: math.fsum(levels) for cluster, levels in by_cluster.items()},
        any(part.has_negative for _, part in parts),
        sum(part.samples for _, part in parts),
    )


def _is_certain(one: Mapping[Values, int], two: Mapping[Values, int], value: Values) -> bool:
    """Return whether a value that only one of two versions has would seldom be absent from the other by chance."""
    sizes = sum(one.values()), sum(two.values())
    return (sizes[0] / sum(sizes)) ** one[value] <= _MOST_CHANCE


def _measure_shift(counts: Mapping[Values, tuple[int, int]]) -> float:
    """Return by how much the shares differ in total: the least share of samples that have another value."""
    totals = [sum(column) for column in zip(*counts.values(), strict=True)]
    return math.fsum(abs(before / totals[0] - after / totals[1]) for before, after in counts.values()) / 2


def _is_beyond_chance(counts: Sequence[tuple[int, int]]) -> bool:
    """Return whether shares differ by more than chance allows: chi squared, by Wilson and Hilferty (1931)."""
    totals = [sum(column) for column in zip(*counts, strict=True)]
    expected = [[(before + after) * total / sum(totals) for total in totals] for before, after in counts]
    pairs = [(pair, means) for pair, means in zip(counts, expected, strict=True) if min(means) >= _LEAST_EXPECTED]
    df = len(pairs) - 1
    if df < 1:
        return False
    square = math.fsum(
        (item - mean) ** 2 / mean for pair, means in pairs for item, mean in zip(pair, means, strict=True)
    )
    spread = 2 / (9 * df)
    return math.cbrt(square / df) - (1 - spread) > _Z * math.sqrt(spread)
