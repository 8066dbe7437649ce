"""Choose the axis of a forest plot: nice ticks, and a range that one wide interval does not stretch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.judgement.verdict import Verdict
from assay.report.first_page.answer import Axis, JudgedRow

_LEAST_REACH = 1.0  # percent: an axis that is shorter would magnify noise
_UPPER_SHARE = 0.75
_FEW_ENDS = 6  # of three intervals: from here on, a single one does not decide on the axis
_MOST_STRETCH, _STRETCH = 3.0, 2.5  # an axis is cut at the second if ends are beyond the first, times most ends
_LEAST_SIDE = 0.25  # share of the longer side of 0: room for the word on the other side
_MOST_STEPS = 7
_PADDING = 1.05
_FACTORS = (1, 2, 5, 10)
_ROUNDING = 1e-9
_CERTAIN = (Verdict.WORSE.value, Verdict.BETTER.value, Verdict.CHANGED.value)


def choose_axis(rows: Sequence[JudgedRow], left: str, right: str) -> Axis:
    """Return an axis with 0, the margins, and most of the intervals; ends of the widest ones are beyond it.

    The changes of metrics that are worse, better or changed are always on it.
    """
    lows = [row.low for row in rows if row.low is not None]
    highs = [row.high for row in rows if row.high is not None]
    margin = max((row.margin for row in rows if row.margin is not None), default=0.0)
    bound = _find_bound([abs(end) for end in (*lows, *highs)])
    least = max(_LEAST_REACH, min(1.5 * margin, bound) if lows else 1.5 * margin)
    certain = [row.change for row in rows if row.change is not None and row.verdict in _CERTAIN]
    below = max(least, min(-min(lows, default=0.0), bound), -min(certain, default=0.0))
    above = max(least, min(max(highs, default=0.0), bound), max(certain, default=0.0))
    low, high = -_PADDING * max(below, _LEAST_SIDE * above), _PADDING * max(above, _LEAST_SIDE * below)
    return Axis(low, high, tuple(_list_ticks(low, high)), left, right)


def _find_bound(ends: Sequence[float]) -> float:
    """Return the distance from 0 at which an axis is cut: some times that of most ends of intervals."""
    if not ends:
        return 0.0
    ascending = sorted(ends)
    last = len(ascending) - (3 if len(ascending) >= _FEW_ENDS else 1)  # without both ends of the widest interval
    usual = ascending[min(last, int(_UPPER_SHARE * len(ascending)))]
    return ascending[-1] if ascending[-1] <= _MOST_STRETCH * usual else _STRETCH * usual


def _list_ticks(low: float, high: float) -> Iterator[tuple[float, str]]:
    """Yield positions and labels of ticks: the least of 1, 2, 5 times a power of ten of which few fit."""
    power = math.floor(math.log10((high - low) / _MOST_STEPS))
    step = next(
        item
        for item in (Decimal(factor).scaleb(power) for factor in _FACTORS)
        if high - low <= _MOST_STEPS * float(item)
    )
    for number in range(math.ceil(low / float(step) - _ROUNDING), math.floor(high / float(step) + _ROUNDING) + 1):
        yield float(number * step), f"{'+' if number > 0 else ''}{(number * step).normalize():f}" if number else "0"
