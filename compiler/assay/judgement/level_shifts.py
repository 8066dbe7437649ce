"""Find level shifts in a series of runs: where the average changes for good, not where a single run stands out.

The best split of n points is that of the greatest energy statistic (E-divisive; Matteson and James, 2014):

    Q(L, R) = L R / (L + R) (2 mean|x - y| - mean|x - x'| - mean|y - y'|)      x of the left part, y of the right part

It is a level shift if a two-sided t test of the two parts has p < 0.001; then either part is split again. A part with
a level that lasts only for some runs fails this test, because what comes before and after is one part. So a part that
fails is split in trial, down to p < 0.1, and the split between the two levels that differ least is removed until all
neighbouring levels differ with p < 0.001. A level has at least two points.

The tests ignore that splits were chosen: about 1 to 3 % of series without a shift have one. Longer series have more
splits to choose from: for n points, more than 40, p must be less than 0.04 / n.

A single run that stands out hides a shift, since it makes the values vary by more. It is left out: a point differs in
one direction from its two neighbours, and from the medians of the five points before and the five after it, by more
than six robust standard deviations, 1.4826 / sqrt(2) times the median difference of neighbours.

Neighbours that are alike look like levels. If shifts are found, the correlation r of neighbouring differences from the
levels shows how much of this they explain, and variances are (1 + r) / (1 - r) times as great in a second search. With
k levels in n points, r is too low by about k/n, and hardly known: min(4k/n, 0.25) is added. Variances stay as they are
at a jump: the two points before and the two after differ by more than 2.6 robust standard deviations of the difference
of neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from assay.judgement.student_t import compute_cdf, compute_quantile, floor_to_even

MAX_P = 0.001
#: in longer series, p must be less in proportion
_USUAL_POINTS = 40
_MAX_TRIAL_P = 0.1
LEAST_POINTS = 2
#: fewer points have no shift, whatever their values
LEAST_SERIES = 2 * LEAST_POINTS
_NEIGHBOURS = 5  # on each side, with which a point is compared
_STRAY = 6.0  # robust standard deviations
_DEVIATION = 1.4826 / math.sqrt(2)
_LEAST_NEIGHBOURS = 2
_JUMP = 2.6  # robust standard deviations of the difference of neighbours
_MOST_ADDED, _ADDED_PER_LEVEL = 0.25, 4  # to the correlation
_MOST_CORRELATION = 0.9
#: values that differ by less than this share of the greatest may differ by rounding of doubles alone
_RELATIVE_RESOLUTION = 1e-9


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A shift before the point `index` of a series: the averages of the points since the shift before, and to the next.

    `p` is that of the t test which found it.
    """

    index: int
    before: float
    after: float
    p: float


def find_level_shifts(values: Sequence[float], resolution: float = 0.0) -> tuple[LevelShift, ...]:
    """Return the level shifts of a series of finite numbers, in its order; points that stand out alone do not count.

    `resolution` is the unit of the last printed digit: rounding alone makes values vary by its square divided by 12.
    """
    series, places = _create_robust_series(values, resolution)
    return tuple(replace(shift, index=places[shift.index]) for shift in _find_shifts(series))


def find_plain_shifts(values: Sequence[float], resolution: float = 0.0) -> tuple[LevelShift, ...]:
    """Return the level shifts of independent numbers, all of which count."""
    return _find_shifts(_create_series(values, resolution))


def find_stray_points(values: Sequence[float], resolution: float = 0.0) -> tuple[int, ...]:
    """Return the indexes of points that stand out alone; the first and last two points have too few neighbours."""
    if len(values) <= 2 * _LEAST_NEIGHBOURS:
        return ()
    usual = _DEVIATION * median(abs(after - before) for before, after in pairwise(values))
    reach = _STRAY * max(usual, math.sqrt(_find_least_variance(values, resolution)))
    strays = []
    for index in range(_LEAST_NEIGHBOURS, len(values) - _LEAST_NEIGHBOURS):
        sides = values[max(0, index - _NEIGHBOURS) : index], values[index + 1 : index + 1 + _NEIGHBOURS]
        others = (*map(median, sides), values[index - 1], values[index + 1])
        differences = [values[index] - other for other in others]
        if min(differences) > reach or max(differences) < -reach:
            strays.append(index)
    return tuple(strays)


def _create_robust_series(values: Sequence[float], resolution: float) -> tuple[_Series, list[int]]:
    """Return a series without points that stand out alone, and the indexes of its points.

    If it seems to have shifts, its variances are greater by how alike neighbours are.
    """
    strays = find_stray_points(values, resolution)
    places = [index for index in range(len(values)) if index not in strays]
    series = _create_series([values[index] for index in places], resolution)
    shifts = _find_shifts(series)
    if not shifts:
        return series, places
    correlation = _correlate_neighbours(series.values, [item.index for item in shifts])
    least_jump = _JUMP * 1.4826 * median(abs(after - before) for before, after in pairwise(series.values))
    return replace(series, inflation=(1 + correlation) / (1 - correlation), least_jump=least_jump), places


def _correlate_neighbours(values: Sequence[float], splits: Sequence[int]) -> float:
    """Return how alike neighbouring differences from levels are, from 0 to 0.9."""
    bounds = list(pairwise([0, *splits, len(values)]))
    rest = [value - mean for begin, end in bounds for mean in [compute_mean(values[begin:end])]
            for value in values[begin:end]]  # fmt: skip
    squares = math.fsum(item * item for item in rest)
    correlation = math.fsum(one * following for one, following in pairwise(rest)) / squares if squares else 0.0
    added = min(_ADDED_PER_LEVEL * len(bounds) / len(values), _MOST_ADDED)
    return min(max(correlation + added, 0.0), _MOST_CORRELATION) if squares else 0.0


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
    series, places = _create_robust_series(values, resolution)
    count = len(places)
    if count < LEAST_SERIES:
        return math.inf
    split = find_best_split(series.values)
    correlation = _correlate_neighbours(series.values, [split])
    variance = series.compute_variance(0, split, count) * (1 + correlation) / (1 - correlation)
    t = compute_quantile(1 - series.max_p / 2, floor_to_even(count - 2))
    return t * math.sqrt(variance * (1 / (count // 2) + 1 / (count - count // 2)))


def _create_series(values: Sequence[float], resolution: float) -> _Series:
    max_p = MAX_P * min(1.0, _USUAL_POINTS / max(len(values), 1))
    return _Series(values, _find_least_variance(values, resolution), max_p)


def _find_least_variance(values: Sequence[float], resolution: float) -> float:
    return max(resolution, _RELATIVE_RESOLUTION * max(map(abs, values), default=0.0)) ** 2 / 12


@dataclass(frozen=True, slots=True)
class _Series:
    values: Sequence[float]
    least_variance: float
    max_p: float
    inflation: float = 1.0
    least_jump: float = math.inf

    def compute_variance(self, begin: int, split: int, end: int) -> float:
        """Return the common variance of two parts."""
        parts = self.values[begin:split], self.values[split:end]
        return max(
            sum(_sum_squares(part, compute_mean(part)) for part in parts) / (end - begin - 2), self.least_variance
        )

    def has_jump(self, split: int) -> bool:
        """Return whether the two points at each side of a split differ by more than neighbours usually do."""
        before, after = self.values[split - LEAST_POINTS : split], self.values[split : split + LEAST_POINTS]
        return abs(compute_mean(after) - compute_mean(before)) > self.least_jump

    def compute_p(self, begin: int, split: int, end: int) -> float:
        """Return p of a two-sided t test of two parts with a common variance; odd degrees of freedom are cut by one.

        Variances are greater for neighbours that are alike, but not at a jump.
        """
        inflation = 1.0 if self.has_jump(split) else self.inflation
        variance = inflation * self.compute_variance(begin, split, end)
        if variance == 0:
            return 1.0
        difference = compute_mean(self.values[split:end]) - compute_mean(self.values[begin:split])
        t = abs(difference) / math.sqrt(variance * (1 / (split - begin) + 1 / (end - split)))
        return 2 * compute_cdf(-t, floor_to_even(end - begin - 2))


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
    splits = list(_iter_trial_splits(series, begin, end))
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
