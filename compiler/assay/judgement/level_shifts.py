"""Find level shifts in a series of runs: where the average changes for good, not where a single run stands out.

The best split of n points is that of the greatest energy statistic (E-divisive; Matteson and James, 2014):

    Q(L, R) = L R / (L + R) (2 mean|x - y| - mean|x - x'| - mean|y - y'|)      x of the left part, y of the right part

It is a level shift if a two-sided t test of the two parts has p < 0.001; then either part is split again. A part with
a level that lasts only for some runs fails this test, because what comes before and after is one part. So a part that
fails is split in trial, down to p < 0.1, and the split between the two levels that differ least is removed until all
neighbouring levels differ with p < 0.001. A level has at least two points.

The tests ignore that splits were chosen: about 1 to 3 % of series without a shift have one. Longer series have more
splits to choose from: for n points, more than 40, p must be less than 0.04 / n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.judgement.student_t import compute_cdf, compute_quantile, floor_to_even

MAX_P = 0.001
#: in longer series, p must be less in proportion
_USUAL_POINTS = 40
_MAX_TRIAL_P = 0.1
LEAST_POINTS = 2
#: fewer points have no shift, whatever their values
LEAST_SERIES = 2 * LEAST_POINTS
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
    """Return the level shifts of a series of finite numbers, in its order.

    `resolution` is the unit of the last printed digit: rounding alone makes values vary by its square divided by 12.
    """
    splits = dict(_iter_splits(_create_series(values, resolution), 0, len(values)))
    levels = [compute_mean(values[begin:end]) for begin, end in pairwise([0, *splits, len(values)]) if begin < end]
    return tuple(
        LevelShift(index, before, after, p)
        for (index, p), (before, after) in zip(splits.items(), pairwise(levels), strict=True)
    )


def find_least_shift(values: Sequence[float], resolution: float = 0.0) -> float:
    """Return how large a shift in the middle of a series must be to be found; infinite for too few numbers.

    Values then vary within the two levels as they do on both sides of the best split.
    """
    count = len(values)
    if count < LEAST_SERIES:
        return math.inf
    series = _create_series(values, resolution)
    variance = series.compute_variance(0, find_best_split(values), count)
    t = compute_quantile(1 - series.max_p / 2, floor_to_even(count - 2))
    return t * math.sqrt(variance * (1 / (count // 2) + 1 / (count - count // 2)))


def _create_series(values: Sequence[float], resolution: float) -> _Series:
    least_variance = max(resolution, _RELATIVE_RESOLUTION * max(map(abs, values), default=0.0)) ** 2 / 12
    return _Series(values, least_variance, MAX_P * min(1.0, _USUAL_POINTS / max(len(values), 1)))


@dataclass(frozen=True, slots=True)
class _Series:
    values: Sequence[float]
    least_variance: float
    max_p: float

    def compute_variance(self, begin: int, split: int, end: int) -> float:
        """Return the common variance of two parts."""
        parts = self.values[begin:split], self.values[split:end]
        return max(
            sum(_sum_squares(part, compute_mean(part)) for part in parts) / (end - begin - 2), self.least_variance
        )

    def compute_p(self, begin: int, split: int, end: int) -> float:
        """Return p of a two-sided t test of two parts with a common variance; odd degrees of freedom are cut by one."""
        variance = self.compute_variance(begin, split, end)
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
