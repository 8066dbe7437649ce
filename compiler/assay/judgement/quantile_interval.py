"""Estimate intervals of quantiles, and of their difference between two runs.

The interval of a quantile q at the share c has as its ends the samples at the shares c - t SE and c + t SE. SE is the
standard error of the share of samples up to q, from batches of the run's time: the indicator of "at most q" is a
metric as any other. (Woodruff 1952; for dependent samples Heidelberger and Lewis 1984.)

The interval of a difference combines those of the two quantiles, [l, u] each (MOVER: Zou and Donner 2008):

    q_b - q_a - sqrt((q_b - l_b)^2 + (u_a - q_a)^2)  ...  q_b - q_a + sqrt((u_b - q_b)^2 + (q_a - l_a)^2)

At the ends of a distribution samples are too few: n min(c, 1 - c) must be at least 10, or most intervals are wrong.
There is none either if an end would lie beyond the last sample, or if a tenth or less lies beyond it, in few batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.batches import RunCells, build_ladder, count_places, measure_run, merge_places
from assay.judgement.change import Interval
from assay.judgement.interval import Reason, are_uncorrelated, describe_lack_of_units
from assay.judgement.student_t import compute_quantile

LEAST_BEYOND = 10  # samples above and below
_LEAST_FILLED = 6  # batches
_MIDDLE = Fraction(1, 2)
_TAIL = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of a run with its interval; `batches` are those of its standard error."""

    value: float
    interval: Interval
    batches: int
    is_too_short: bool


@dataclass(frozen=True, slots=True)
class ShareError:
    """The variance of the share of samples up to a quantile, from so many batches of the run's time."""

    variance: float
    batches: int
    is_too_short: bool
    lies_in_few_batches: bool


def has_interval(count: int, share: Fraction) -> bool:
    """Return whether `count` samples are enough for the interval of the quantile at a share."""
    return count * min(share, 1 - share) >= LEAST_BEYOND


def find_index(count: int, share: Fraction) -> int:
    """Return the index of the quantile among `count` ascending samples: min(floor(count share), count - 1)."""
    return max(0, min(math.floor(count * share), count - 1))


def estimate_share_error(share: Fraction, indicator: RunCells) -> ShareError | Reason:
    """Estimate the error of the share of samples up to a quantile, which is the same at every level.

    The cells of `indicator` have as their sums how many of their samples are at most the quantile. The reason is
    returned for fewer than 21 units of time, and for too few samples above or below.
    """
    count = sum(cell.count for cell in indicator.cells)
    ladder = build_ladder(indicator.units)
    if not ladder:
        return describe_lack_of_units(indicator.units, count)
    if not has_interval(count, share):
        return Reason.TOO_FEW_SAMPLES
    run = measure_run(indicator)
    for batches in ladder:
        influences = merge_places(run, batches)
        if is_long_enough := are_uncorrelated(influences):
            break
    variance = batches / (batches - 1) * math.fsum(item * item for item in influences)
    return ShareError(variance, batches, not is_long_enough, _lies_in_few_batches(indicator, share, batches))


def estimate_quantile(
    share: Fraction, count: int, error: ShareError | Reason, value_at: Callable[[int], float], level: float = 0.95
) -> Quantile | Reason:
    """Estimate a quantile of `count` pooled samples, whose share has an error.

    `value_at` returns the sample at an index of the ascending samples. The reason is returned for too few samples above
    or below.
    """
    if isinstance(error, Reason):
        return error
    reach = Fraction(compute_quantile((1 + level) / 2, error.batches - 1) * math.sqrt(error.variance))
    if not reach < min(share, 1 - share):
        return Reason.TOO_FEW_SAMPLES
    if error.lies_in_few_batches:
        return Reason.FEW_BATCHES
    low, high = (value_at(find_index(count, bound)) for bound in (share - reach, share + reach))
    return Quantile(value_at(find_index(count, share)), Interval(low, high), error.batches, error.is_too_short)


def _lies_in_few_batches(indicator: RunCells, share: Fraction, batches: int) -> bool:
    """Return whether the samples beyond a quantile, on the side of the fewer, fill fewer than six batches.

    That number is 1 / sum h_k^2, with the shares h_k of batches in these samples.
    """
    beyond = [0] * batches
    places = count_places(indicator.units)
    for cell in indicator.cells:
        beyond[cell.place * batches // places] += cell.count - cell.sum if share > _MIDDLE else cell.sum
    total = sum(beyond)
    is_tail = min(share, 1 - share) <= _TAIL
    return is_tail and _LEAST_FILLED * sum(item * item for item in beyond) > total * total


def compare_quantiles(base: Quantile, other: Quantile) -> Interval:
    """Return the interval of the difference of two quantiles, in the metric's unit."""
    change = other.value - base.value
    down = _add_squares(other.value - other.interval.low, base.interval.high - base.value)
    up = _add_squares(other.interval.high - other.value, base.value - base.interval.low)
    return Interval(change - down, change + up)


def _add_squares(one: float, other: float) -> float:
    return math.sqrt(one * one + other * other)
