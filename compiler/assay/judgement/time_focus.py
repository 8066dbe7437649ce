"""Find the part of a run in which a metric changed, if it did not change in the rest.

Both versions are divided into batches of their time, which are paired. x_k is the change of the average of batch k, of
B batches. For each interval I of at least two consecutive batches, with at least two others:

    t = (mean of x in I - mean of the others) / (s sqrt(1/|I| + 1/(B - |I|)))           B - 2 degrees of freedom

s² is the variance of x within I and within the others. That interval counts whose t is the greatest; its p is
multiplied by the number of intervals. B is the first of the ladder with which what is left of x is uncorrelated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from assay.judgement.batches import RunCells, Weighting, build_ladder, count_places
from assay.judgement.interval import are_uncorrelated
from assay.judgement.student_t import compute_cdf, floor_to_even

LEAST_FACTOR = 2
"""How much more a part must change than the rest."""
_LEAST_BATCHES = 2
_LEAST_SHARE = 0.5
_LEAST_F = 10.0  # of the end of an interval that is not that of the run


@dataclass(frozen=True, slots=True)
class TimeFocus:
    """An interval of a run that carries at least half of a change: batches `first` to `last` of `batches`.

    `averages` are those in the interval in base and other version, `outside` those of the rest. `edges` are the values
    of `time` in the other version at which it begins and ends; None for an end of the run, or if it is not known.
    `extent` are the first and last ones of the run.
    """

    first: int
    last: int
    batches: int
    share: float
    averages: tuple[float, float]
    outside: tuple[float, float]
    edges: tuple[int | None, int | None] = (None, None)
    extent: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Batches:
    """The weights and averages of the batches of a version."""

    weights: tuple[float, ...]
    averages: tuple[float, ...]

    def average(self, first: int, last: int, *, outside: bool = False) -> float:
        """Return the average of batches, or of all others."""
        chosen = [number for number in range(len(self.weights)) if (first <= number <= last) is not outside]
        weight = math.fsum(self.weights[number] for number in chosen)
        return math.fsum(self.weights[number] * self.averages[number] for number in chosen) / weight


def find_time_focus(
    base: Sequence[RunCells], other: Sequence[RunCells], margin: float, most_p: float
) -> TimeFocus | None:
    """Return the part of the run that the change of a metric comes from; None if there is none.

    It must carry at least half of the change, change by more than the margin, and twice as much as the rest, in its
    unit and in percent. `most_p` is the greatest probability that chance makes such a part.
    """
    for count in build_ladder(min(run.units for run in (*base, *other))):
        before, after = _average_batches(base, count), _average_batches(other, count)
        if before is None or after is None:
            continue
        pairs = list(zip(before.averages, after.averages, strict=True))
        differences = [two - one for one, two in pairs]
        ratios = [two / one - 1 for one, two in pairs] if min(map(min, pairs)) > 0 else differences
        sign = math.copysign(1, math.fsum(differences))
        interval = _choose_interval([sign * item for item in ratios])
        if are_uncorrelated(_measure_contrast(ratios, *interval).residuals):
            return _judge_interval((before, after), interval, (differences, ratios), sign * margin, most_p)
    return None


def _choose_interval(numbers: Sequence[float]) -> tuple[int, int]:
    """Return the first and last batch of the interval whose t is the greatest.

    The squares within and between are those of all numbers: so the difference of means, times sqrt(|I| (B - |I|)), is
    the greatest, too. An interval that begins or ends with the run is simpler: another one counts only if it leaves
    much less of the squares.
    """
    count, sums = len(numbers), [0.0, *accumulate(numbers)]

    def weigh(interval: tuple[int, int]) -> float:
        first, last = interval
        length, inside = last - first + 1, sums[last + 1] - sums[first]
        means = inside / length, (sums[-1] - inside) / (count - length)
        return (means[0] - means[1]) * math.sqrt(length * (count - length) / count)

    intervals = list(_iter_intervals(count))
    best = max(intervals, key=weigh)
    simplest = max((item for item in intervals if item[0] == 0 or item[1] == count - 1), key=weigh)
    mean = sums[-1] / count
    rest = math.fsum((number - mean) ** 2 for number in numbers) - weigh(best) ** 2
    lost = weigh(best) ** 2 - max(0.0, weigh(simplest)) ** 2
    return best if lost > _LEAST_F * rest / (count - 3) else simplest


@dataclass(frozen=True, slots=True)
class _Contrast:
    """How the numbers of an interval differ from the others, in standard errors; `deviation` is that of one."""

    inside: float
    outside: float
    deviation: float
    t: float
    residuals: tuple[float, ...]


def _judge_interval(
    versions: tuple[Batches, Batches],
    interval: tuple[int, int],
    series: tuple[Sequence[float], Sequence[float]],
    margin: float,
    most_p: float,
) -> TimeFocus | None:
    first, last = interval
    differences = series[0]
    count, length = len(differences), last - first + 1
    tests = sum(1 for _ in _iter_intervals(count))
    sign = math.copysign(1, margin)
    for numbers in series:
        contrast = _measure_contrast(numbers, first, last)
        if sign * contrast.inside < LEAST_FACTOR * abs(contrast.outside):
            return None
        if 2 * tests * compute_cdf(-sign * contrast.t, floor_to_even(count - 2)) > most_p:
            return None
    contrast = _measure_contrast(differences, first, last)
    reach = contrast.deviation / math.sqrt(length)
    beyond = sign * (contrast.inside - margin)
    if beyond <= 0 or (reach and compute_cdf(-beyond / reach, floor_to_even(count - 2)) > most_p):
        return None
    weights = [(one + two) / 2 for one, two in zip(*(item.weights for item in versions), strict=True)]
    parts = [weight * difference for weight, difference in zip(weights, differences, strict=True)]
    whole = math.fsum(after * weight for after, weight in zip(versions[1].averages, versions[1].weights, strict=True))
    whole -= math.fsum(
        before * weight for before, weight in zip(versions[0].averages, versions[0].weights, strict=True)
    )
    share = math.fsum(parts[first : last + 1]) / whole if whole else 0.0
    if share < _LEAST_SHARE:
        return None
    inside, outside = (
        (versions[0].average(first, last, outside=item), versions[1].average(first, last, outside=item))
        for item in (False, True)
    )
    return TimeFocus(first, last, count, share, inside, outside)


def _iter_intervals(count: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last batch of each interval of at least two batches that leaves at least two others."""
    for first in range(count):
        for last in range(first + _LEAST_BATCHES - 1, min(count, first + count - _LEAST_BATCHES)):
            yield first, last


def _measure_contrast(numbers: Sequence[float], first: int, last: int) -> _Contrast:
    inside, outside = numbers[first : last + 1], [*numbers[:first], *numbers[last + 1 :]]
    means = math.fsum(inside) / len(inside), math.fsum(outside) / len(outside)
    residuals = tuple(number - means[not first <= place <= last] for place, number in enumerate(numbers))
    deviation = math.sqrt(math.fsum(item * item for item in residuals) / (len(numbers) - 2))
    error = deviation * math.sqrt(1 / len(inside) + 1 / len(outside))
    difference = means[0] - means[1]
    t = difference / error if error else math.copysign(math.inf, difference) if difference else 0.0
    return _Contrast(*means, deviation, t, residuals)


def _average_batches(runs: Sequence[RunCells], count: int) -> Batches | None:
    """Return the weights and averages of batches, the mean of those of runs; None if one has no samples."""
    weights, added = [0.0] * count, [0.0] * count
    for run in runs:
        places = count_places(run.units)
        sizes: dict[str, int] = {}
        is_per_cluster = run.weighting is Weighting.PER_CLUSTER
        for cell in run.cells:
            name = cell.cluster if is_per_cluster else ""
            sizes[name] = sizes.get(name, 0) + cell.count
        for cell in run.cells:
            batch = cell.place * count // places
            size = sizes[cell.cluster if is_per_cluster else ""] * len(sizes)
            weights[batch] += cell.count / size / len(runs)
            added[batch] += cell.sum / (size * run.scale) / len(runs)
    if not all(weights):
        return None
    return Batches(tuple(weights), tuple(total / weight for total, weight in zip(added, weights, strict=True)))
