"""Compare a version with the median of earlier runs, by how much these runs differ from each other.

The median of n independent values of a normal distribution varies about as the mean of 2n/pi of them (for n of 3 to 20,
a little less). So it counts as the mean of floor(2n/pi) runs: intervals are a little too wide, never too narrow.

One run that stands out would make the runs vary by so much that no change is certain. Of five runs or more, one that
differs from the median by more than 15 robust standard deviations, or 8 of seven runs or more, is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from assay.judgement.interval import Comparison, Reason, Version, compare
from assay.judgement.repeats import pool_variances

LEAST_RUNS = 3
_LEAST_TO_COMPARE = 5
_STRAY, _STRAY_OF_FEW = 8, 15  # robust standard deviations, which few runs hardly show
_MANY = 7
_DEVIATION = Fraction("1.4826")  # of a normal distribution, from the median difference from the median


def compare_with_median(
    earlier: Sequence[Fraction], compared: Sequence[Fraction], *, is_exact: bool = False
) -> Comparison | Reason:
    """Estimate the change from the median of the averages of earlier runs to the mean of those of a version.

    Returns the reason if nothing can be said of it, such as fewer than three earlier runs. `is_exact` says that the
    metric is declared to be equal in all runs of a version.
    """
    if not compared:
        return Reason.LOST_SAMPLES if earlier else Reason.NO_SAMPLES
    if len(earlier) < LEAST_RUNS:
        return Reason.TOO_FEW_RUNS
    earlier = drop_stray(earlier)
    are_equal = len(set(earlier)) == 1
    estimates = tuple(earlier) if are_equal else (compute_median(earlier),) * count_equivalent_runs(len(earlier))
    base, other = (Version(items, reason=Reason.EQUAL_RUNS) for items in (estimates, tuple(compared)))
    return compare(base, other, pool_variances([earlier, compared]), is_exact=is_exact and are_equal)


def drop_stray(values: Sequence[Fraction]) -> Sequence[Fraction]:
    """Return the averages of five runs or more, oldest first, without one that stands out.

    All are returned of fewer runs, or if two stand out. The newest is never left out: it may begin a new level.
    """
    if len(values) < _LEAST_TO_COMPARE:
        return values
    median = compute_median(values)
    usual = compute_median([abs(value - median) for value in values])
    reach = (_STRAY if len(values) >= _MANY else _STRAY_OF_FEW) * _DEVIATION * usual
    strays = [value for value in values if usual and abs(value - median) > reach]
    is_single = len(strays) == 1 and values[-1] not in strays
    return [value for value in values if value not in strays] if is_single else values


def compute_median(values: Sequence[Fraction]) -> Fraction:
    """Return the median of at least one number: of an even count, the mean of the middle two."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def count_equivalent_runs(count: int) -> int:
    """Return how many runs have a mean that varies at least as much as the median of `count` runs."""
    return max(1, math.floor(2 * count / math.pi))
