"""Find level shifts in a series of runs: where the average changes for good, not where a single run stands out.

The best split of n points is that of the greatest energy statistic (E-divisive; Matteson and James, 2014):

    Q(L, R) = L R / (L + R) (2 mean|x - y| - mean|x - x'| - mean|y - y'|)      x of the left part, y of the right part

If a two-sided t test of the two parts has p < 0.1, either part is split again. So a level that lasts for a few runs is
found, which a strict test of the first split would miss. Then the split between the two levels that differ least is
removed, until all neighbouring levels differ with p < 0.001. A level has at least two points.

The tests ignore that splits were chosen: about 1 to 3 % of series without a shift have one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.judgement.student_t import compute_cdf, floor_to_even

MAX_P = 0.001
_MAX_P_OF_CANDIDATES = 0.1
LEAST_POINTS = 2
#: values that differ by less than this share of the greatest may differ by rounding of doubles alone
_RELATIVE_RESOLUTION = 1e-9


@dataclass(frozen=True, slots=True)
class LevelShift:
    """A shift before the point `index` of a series: the averages of the points since the shift before, and to the next.

    `p` is that of the t test of these points.
    """

    index: int
    before: float
    after: float
    p: float


def find_level_shifts(values: Sequence[float], resolution: float = 0.0) -> tuple[LevelShift, ...]:
    """Return the level shifts of a series of finite numbers, in its order.

    `resolution` is the unit of the last printed digit: rounding alone makes values vary by its square divided by 12.
    """
    least_variance = max(resolution, _RELATIVE_RESOLUTION * max(map(abs, values), default=0.0)) ** 2 / 12
    splits = sorted(_iter_candidates(values, 0, len(values), least_variance))
    while splits:
        shifts = [
            _compare_levels(values, begin, split, end, least_variance)
            for begin, split, end in zip([0, *splits], splits, [*splits[1:], len(values)], strict=False)
        ]
        weakest_shift = max(shifts, key=lambda item: item.p)
        if weakest_shift.p < MAX_P:
            return tuple(shifts)
        splits.remove(weakest_shift.index)
    return ()


def _iter_candidates(values: Sequence[float], begin: int, end: int, least_variance: float) -> Iterator[int]:
    """Yield the splits between two bounds that may be level shifts."""
    if end - begin < 2 * LEAST_POINTS:
        return
    split = begin + find_best_split(values[begin:end])
    if _compare_levels(values, begin, split, end, least_variance).p < _MAX_P_OF_CANDIDATES:
        yield split
        yield from _iter_candidates(values, begin, split, least_variance)
        yield from _iter_candidates(values, split, end, least_variance)


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


def _compare_levels(values: Sequence[float], begin: int, split: int, end: int, least_variance: float) -> LevelShift:
    """Compare two parts by a two-sided t test with a common variance; odd degrees of freedom are cut by one."""
    left, right = values[begin:split], values[split:end]
    before, after = _compute_mean(left), _compute_mean(right)
    df = end - begin - 2
    variance = max((_sum_squares(left, before) + _sum_squares(right, after)) / df, least_variance)
    if variance == 0:
        return LevelShift(split, before, after, 1.0)
    t = abs(after - before) / math.sqrt(variance * (1 / len(left) + 1 / len(right)))
    return LevelShift(split, before, after, 2 * compute_cdf(-t, floor_to_even(df)))


def _compute_mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sum_squares(values: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in values)
