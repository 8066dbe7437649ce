"""Find open metrics whose medians differ: a few large samples may hide that all others moved.

The interval of a run's median has order statistics as its ends (binomial): of n samples, those at the shares

    1/2 ± 1.96 / (2 sqrt(n))

or at the next shares outside of them that are known. As n counts the lesser of samples and units of time, less by as
much as batches had to be longer because neighbours are alike. Two medians differ if their intervals do not overlap:
intervals of 95 % then err in fewer than one of 100 cases. Of several runs, an interval holds those of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.batches import build_ladder
from assay.judgement.change import Interval
from assay.judgement.interval import Comparison, Reason
from assay.judgement.quantile_interval import has_interval
from assay.judgement.verdict import Judgement, Margin, Verdict

_MIDDLE = 0.5
_REACH = 1.96 / 2


@dataclass(frozen=True, slots=True)
class RunQuantiles:
    """The number of samples of a run, and pairs of share and quantile, ascending, from 0 to 1."""

    size: int
    quantiles: tuple[tuple[float, float], ...]

    @property
    def median(self) -> float:
        """The quantile at the share 0.5."""
        return dict(self.quantiles)[_MIDDLE]


def find_differing_medians(
    judgement: Judgement, margin: Margin, base: Sequence[RunQuantiles], other: Sequence[RunQuantiles]
) -> tuple[float, float] | None:
    """Return the medians of the runs of two versions if an open metric hides that they differ beyond the margin."""
    comparison = judgement.comparison
    if judgement.verdict is not Verdict.OPEN or judgement.reason is Reason.TOO_SHORT or comparison is None:
        return None
    intervals = [_estimate_median(runs, comparison) for runs in (base, other)]
    if intervals[0] is None or intervals[1] is None:
        return None
    before, after = (math.fsum(run.median for run in runs) / len(runs) for runs in (base, other))
    overlap = min(item.high for item in intervals if item) >= max(item.low for item in intervals if item)
    return None if overlap or abs(after - before) <= margin.convert_to_amount(before) else (before, after)


def _estimate_median(runs: Sequence[RunQuantiles], comparison: Comparison) -> Interval | None:
    """Return the interval that holds those of the medians of all runs; None if one has too few samples."""
    ladder = build_ladder(comparison.units)
    if not ladder:
        return None
    units = comparison.units * comparison.spread.batches // ladder[0]
    intervals = []
    for run in runs:
        count = min(run.size, units)
        if not has_interval(count, Fraction(1, 2)) or not all(math.isfinite(value) for _, value in run.quantiles):
            return None
        reach = _REACH / math.sqrt(count)
        low = max(value for share, value in run.quantiles if share <= _MIDDLE - reach)
        high = min(value for share, value in run.quantiles if share >= _MIDDLE + reach)
        intervals.append(Interval(low, high))
    return Interval(min(item.low for item in intervals), max(item.high for item in intervals))
