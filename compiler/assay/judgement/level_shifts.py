"""Find level shifts in a series of runs: where the average changes for good, not where a single run stands out.

The best split of n points is that of the greatest energy statistic (E-divisive; Matteson and James, 2014):

    Q(L, R) = L R / (L + R) (2 mean|x - y| - mean|x - x'| - mean|y - y'|)      x of the left part, y of the right part

It is a level shift if the test of `alike_neighbours` has p < 0.003 for it, and for n points, more than
10, p < 0.03 / n, since a longer series has more splits to choose from. Then either part is split again. A part with
a level that lasts only for some runs fails this test, because what comes before and after is one part. So a part that
fails is split in trial, down to p < 0.1, and the split between the two levels that differ least is removed until all
neighbouring levels pass the test. A level has at least two points. Neighbours count as independent at a jump: the two
points before it and the two after it differ by more than 5 + 30 / n robust standard deviations of the difference of
neighbours (from their average difference, if most are equal). About 1 % of series without a shift have one.

Rounding alone makes values vary by the square of their unit, divided by 12. Values to which a series comes back again
and again, such as counts, are whole numbers of a unit: their least difference.

A single run that stands out hides a shift, since it makes the values vary by more. It is left out: a point differs in
one direction from its two neighbours, and from the medians of the five points before and the five after it, by more
than six robust standard deviations, 1.4826 / sqrt(2) times the median difference of neighbours. The first and last two
points have fewer neighbours, and must differ by twelve. A value to which the series comes back again and again is no
exception, nor is any if more than one in ten points stand out: that is how the values vary.

A steady drift is no step. It takes the place of the shifts if a line passes the same test, and its sum of squares over
(n - 2)^2 is not greater than that of the k shifts, at least the best split, over (n - 1 - 2 k)^2. That is generalised
cross-validation (Craven and Wahba 1979): a shift has two parameters, its place and its size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from assay.judgement.alike_neighbours import INDEPENDENT, UNKNOWN, Correlation, compute_change_p

#: p of a shift must be less than this, and than 0.03 / n
MAX_P, _MOST_OF_ALL = 0.003, 0.03
_MAX_TRIAL_P = 0.1
LEAST_POINTS = 2
#: fewer points have no shift, whatever their values
LEAST_SERIES = 2 * LEAST_POINTS
_NEIGHBOURS = 5  # on each side, with which a point is compared
_STRAY, _AT_ENDS = 6.0, 2.0  # robust standard deviations; so many times as much for the first and last two points
_MOST_STRAYS = 0.1  # of the points of a series
_MOST_VISITS = 1  # of a series at the value of a point that stands out, such as a level before or after it
_DEVIATION = 1.4826 / math.sqrt(2)
_LEAST_NEIGHBOURS = 2
_JUMP, _JUMP_IN_SHORT = 5.0, 30.0  # robust standard deviations of the difference of neighbours; the second over n
_MOST_RETURNS = 1  # of exact values, which may change and change back
_PARAMETERS = 2  # of a step: its place and its size
_BISECTIONS = 24
_BISECTIONS_OF_ENDS = 14  # a print has fewer digits
_DOUBLINGS = 40  # of a change, until its interval counts as without end
#: of the interval of a change
LEVEL = 0.95
#: values that differ by less than this share of the greatest may differ by rounding of doubles alone
_RELATIVE_RESOLUTION = 1e-9


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A shift before the point `index` of a series: the averages of the points since the shift before, and to the next.

    `p` is that of the test which found it. A shift of a page of series may be chance if it is one of many tests.
    """

    index: int
    before: float
    after: float
    p: float
    may_be_chance: bool = False


@dataclass(frozen=True, slots=True)
class Drift:
    """A steady drift over a series: its line at the first and the last point; `p` is that of the test of the line."""

    before: float
    after: float
    p: float
    may_be_chance: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """What a series does: its level shifts, in its order, or the drift that takes their place."""

    shifts: tuple[LevelShift, ...] = ()
    drift: Drift | None = None

    @property
    def changes(self) -> tuple[LevelShift | Drift, ...]:
        """The level shifts, or the drift."""
        return (self.drift,) if self.drift else self.shifts


def find_course(values: Sequence[float], resolution: float = 0.0, correlation: Correlation = UNKNOWN) -> Course:
    """Return what a series of finite numbers does, in its order; points that stand out alone do not count.

    `resolution` is the unit of the last printed digit: rounding alone makes values vary by its square divided by 12.
    """
    series, places = _create_robust_series(values, resolution, correlation)
    shifts = _find_shifts(series)
    if drift := _find_drift(series, places, len(values), shifts):
        return Course(drift=drift)
    return Course(tuple(replace(shift, index=places[shift.index]) for shift in shifts))


def _find_drift(series: _Series, places: Sequence[int], length: int, shifts: Sequence[LevelShift]) -> Drift | None:
    """Return the drift over a series if it describes the values better than their level shifts; None if it does not."""
    count = len(places)
    if count < LEAST_SERIES + 1:
        return None
    splits = [item.index for item in shifts] or [find_best_split(series.values)]
    times = [place - compute_mean(places) for place in places]
    slope = math.fsum(map(math.prod, zip(times, series.values, strict=True))) / _sum_squares(times, 0.0)
    center = compute_mean(series.values)
    rest = math.fsum((y - center - slope * x) ** 2 for x, y in zip(times, series.values, strict=True))
    levels = sum(_sum_squares(part, compute_mean(part)) for part in series.list_parts([0, *splits, count]))
    free = count - 1 - _PARAMETERS * len(splits)
    least = series.least_variance * count
    if free > 0 and max(rest, least) * free**2 > max(levels, least) * (count - 2) ** 2:
        return None
    p = compute_change_p(series.values, times, series.least_variance, series.correlation)
    before, after = (center + slope * (place - compute_mean(places)) for place in (0, length - 1))
    return Drift(before, after, p) if p < series.max_p else None


def find_interval(
    values: Sequence[float], begin: int, end: int, split: int | None = None, resolution: float = 0.0
) -> tuple[float, float]:
    """Return the 95 % interval of a change of the points from `begin` to `end`: of a step at `split`, else of a drift.

    It has the changes without which the points show no further change, by the test of shifts; the place of the step is
    taken as known. Points that stand out alone do not count.
    """
    series, places = _create_robust_series(values, resolution, UNKNOWN)
    points = [(place, value) for place, value in zip(places, series.values, strict=True) if begin <= place < end]
    span = max(points[-1][0] - points[0][0], 1)
    course = [float(place >= split) if split is not None else (place - points[0][0]) / span for place, _ in points]

    def is_rejected(change: float) -> bool:
        rest = [value - change * share for (_, value), share in zip(points, course, strict=True)]
        return compute_change_p(rest, course, series.least_variance, series.correlation) < 1 - LEVEL

    center = compute_mean(course)
    squares = _sum_squares(course, center)
    change = math.fsum((share - center) * value for (_, value), share in zip(points, course, strict=True)) / squares
    return _find_end(is_rejected, change, -1.0), _find_end(is_rejected, change, 1.0)


def _find_end(is_rejected: Callable[[float], bool], change: float, sign: float) -> float:
    """Return the first rejected change below or above one that is not."""
    low, high = 0.0, abs(change) or math.ulp(1.0)
    for _ in range(_DOUBLINGS):
        if is_rejected(change + sign * high):
            break
        low, high = high, 2 * high
    else:
        return sign * math.inf
    for _ in range(_BISECTIONS_OF_ENDS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_rejected(change + sign * middle) else (middle, high)
    return change + sign * high


def find_plain_shifts(values: Sequence[float], resolution: float = 0.0) -> tuple[LevelShift, ...]:
    """Return the level shifts of independent numbers, all of which count."""
    return _find_shifts(_create_series(values, resolution, INDEPENDENT))


def find_stray_points(values: Sequence[float], resolution: float = 0.0) -> tuple[int, ...]:
    """Return the indexes of points that stand out alone; none if they are too many to be exceptions.

    At the ends of a series they stand out from the neighbours that they have; one alone is no level there either.
    """
    if len(values) <= 2 * _LEAST_NEIGHBOURS:
        return ()
    usual = _DEVIATION * median(abs(after - before) for before, after in pairwise(values))
    reach = _STRAY * max(usual, math.sqrt(_find_least_variance(values, resolution)))
    strays = []
    for index in range(len(values)):
        sides = values[max(0, index - _NEIGHBOURS) : index], values[index + 1 : index + 1 + _NEIGHBOURS]
        near = (*map(median, filter(None, sides)), *values[max(0, index - 1) : index], *values[index + 1 : index + 2])
        differences = [values[index] - other for other in near]
        is_end = min(index, len(values) - 1 - index) < _LEAST_NEIGHBOURS
        least = _AT_ENDS * reach if is_end else reach
        if min(differences) > least or max(differences) < -least:
            strays.append(index)
    strays = [index for index in strays if _count_visits(values, index, reach / 2) <= _MOST_VISITS]
    return tuple(strays) if len(strays) <= max(1, _MOST_STRAYS * len(values)) else ()


def _count_visits(values: Sequence[float], index: int, reach: float) -> int:
    """Return how often a series comes so close to the value of a point before and after it."""
    are_close = [abs(value - values[index]) <= reach and place != index for place, value in enumerate(values)]
    return sum(is_close and not was_close for was_close, is_close in pairwise([False, *are_close]))


def list_plain_levels(values: Sequence[float], resolution: float = 0.0) -> list[Sequence[float]]:
    """Return the points of each level of independent numbers, without those that stand out alone."""
    series, _ = _create_robust_series(values, resolution, INDEPENDENT)
    return series.list_parts([0, *(item.index for item in _find_shifts(series)), len(series.values)])


def _create_robust_series(
    values: Sequence[float], resolution: float, correlation: Correlation
) -> tuple[_Series, list[int]]:
    """Return a series without points that stand out alone, and the indexes of its points."""
    strays = find_stray_points(values, resolution)
    places = [index for index in range(len(values)) if index not in strays]
    return _create_series([values[index] for index in places], resolution, correlation), places


def _find_shifts(series: _Series) -> tuple[LevelShift, ...]:
    values = series.values
    splits = dict(_iter_splits(series, 0, len(values)))
    levels = [compute_mean(values[begin:end]) for begin, end in pairwise([0, *splits, len(values)]) if begin < end]
    return tuple(
        LevelShift(index, before, after, p)
        for (index, p), (before, after) in zip(splits.items(), pairwise(levels), strict=True)
    )


def find_least_shift(values: Sequence[float], resolution: float = 0.0) -> float:
    """Return how large a shift in the middle of a series must be to be found; infinite for too few numbers.

    Values then vary within the two levels as they do on both sides of the best split.
    """
    series, places = _create_robust_series(values, resolution, UNKNOWN)
    count = len(places)
    if count < LEAST_SERIES:
        return math.inf
    parts = series.list_parts([0, find_best_split(series.values), count])
    rest = [value - compute_mean(part) for part in parts for value in part]

    def is_found(size: float) -> bool:
        shifted = [value + size * (index >= count // 2) for index, value in enumerate(rest)]
        return replace(series, values=shifted).compute_p(0, count // 2, count) < series.max_p

    low, high = 0.0, math.sqrt(max(_sum_squares(rest, 0.0), series.least_variance)) or math.ulp(1.0)
    while not is_found(high):
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


def _create_series(values: Sequence[float], resolution: float, correlation: Correlation) -> _Series:
    max_p = min(MAX_P, _MOST_OF_ALL / max(len(values), 1))
    differences = [abs(after - before) for before, after in pairwise(values)]
    usual = (median(differences) or compute_mean(differences)) if differences else math.inf
    least_jump = (_JUMP + _JUMP_IN_SHORT / max(len(values), 1)) * 1.4826 * usual
    return _Series(values, _find_least_variance(values, resolution), max_p, correlation, least_jump)


def _find_least_variance(values: Sequence[float], resolution: float) -> float:
    least = _RELATIVE_RESOLUTION * max(map(abs, values), default=0.0)
    return max(resolution, _find_unit(values), least) ** 2 / 12


def _find_unit(values: Sequence[float]) -> float:
    """Return the least difference of values to which a series comes back, at least twice; 0 if it does not."""
    distinct = sorted(set(values))
    returns = 1 + sum(before != after for before, after in pairwise(values)) - len(distinct)
    return min(after - before for before, after in pairwise(distinct)) if returns > _MOST_RETURNS else 0.0


@dataclass(frozen=True, slots=True)
class _Series:
    values: Sequence[float]
    least_variance: float
    max_p: float
    correlation: Correlation
    least_jump: float

    def list_parts(self, bounds: Sequence[int]) -> list[Sequence[float]]:
        """Return the values between bounds."""
        return [self.values[begin:end] for begin, end in pairwise(bounds)]

    def compute_p(self, begin: int, split: int, end: int) -> float:
        """Return p of a step at a split between two bounds; odd degrees of freedom are cut by one.

        No neighbours are so alike that a jump follows from them.
        """
        step = [float(index >= split) for index in range(begin, end)]
        correlation = INDEPENDENT if self.has_jump(split) else self.correlation
        return compute_change_p(self.values[begin:end], step, self.least_variance, correlation)

    def has_jump(self, split: int) -> bool:
        """Return whether the two points at each side of a split differ by far more than neighbours usually do."""
        before, after = self.values[split - LEAST_POINTS : split], self.values[split : split + LEAST_POINTS]
        return abs(compute_mean(after) - compute_mean(before)) > self.least_jump


def _iter_splits(series: _Series, begin: int, end: int) -> Iterator[tuple[int, float]]:
    """Yield the level shifts between two bounds, in their order, each with its p."""
    if end - begin < LEAST_SERIES:
        return
    split = begin + find_best_split(series.values[begin:end])
    if (p := series.compute_p(begin, split, end)) < series.max_p:
        yield from _iter_splits(series, begin, split)
        yield split, p
        yield from _iter_splits(series, split, end)
    else:
        yield from _find_passing_levels(series, begin, end)


def _find_passing_levels(series: _Series, begin: int, end: int) -> list[tuple[int, float]]:
    """Return the splits between two bounds whose neighbouring levels all differ, each with its p."""
    splits = list(_iter_trial_splits(replace(series, correlation=INDEPENDENT), begin, end))
    while splits:
        ps = [series.compute_p(*bounds) for bounds in zip([begin, *splits], splits, [*splits[1:], end], strict=False)]
        if max(ps) < series.max_p:
            break
        del splits[ps.index(max(ps))]
    return list(zip(splits, ps, strict=True)) if splits else []


def _iter_trial_splits(series: _Series, begin: int, end: int) -> Iterator[int]:
    if end - begin < LEAST_SERIES:
        return
    split = begin + find_best_split(series.values[begin:end])
    if series.compute_p(begin, split, end) < _MAX_TRIAL_P:
        yield from _iter_trial_splits(series, begin, split)
        yield split
        yield from _iter_trial_splits(series, split, end)


def find_best_split(values: Sequence[float]) -> int:
    """Return the number of points left of the best split, the first of equal ones; at least four points are needed."""
    count = len(values)
    best_score, best_split = -math.inf, LEAST_POINTS
    # Sums of distances within the left part, within the right part and between them; a point at a time goes left.
    left, right, between = 0.0, sum(abs(x - y) for i, x in enumerate(values) for y in values[:i]), 0.0
    for split in range(1, count - LEAST_POINTS + 1):
        moved = values[split - 1]
        to_left = sum(abs(moved - x) for x in values[: split - 1])
        to_right = sum(abs(moved - x) for x in values[split:])
        left, right, between = left + to_left, right - to_right, between + to_right - to_left
        if split < LEAST_POINTS:
            continue
        rest = count - split
        score = 2 / count * (between - left * rest / (split - 1) - right * split / (rest - 1))
        if score > best_score:
            best_score, best_split = score, split
    return best_split


def compute_mean(values: Sequence[float]) -> float:
    """Return the average of at least one number, independent of their order."""
    return math.fsum(values) / len(values)


def _sum_squares(values: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in values)
