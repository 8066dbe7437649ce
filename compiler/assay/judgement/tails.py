"""Judge the median, the 95th and the 99th percentile of a metric, which its average does not show.

The interval of the difference of two quantiles is that of `assay.judgement.quantile_interval`; with repeats, it is that
of averages, since each repeat has one value. A quantile has a verdict
if its interval lies beyond the margin of the metric. A gate counts a quantile as worse only by an interval of a level
that is adjusted for the number of its quantiles (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from assay.judgement.change import Interval
from assay.judgement.interval import Version, compare
from assay.judgement.quantile_interval import has_interval
from assay.judgement.repeats import pool_variances
from assay.judgement.shift import SHARES, RunQuantiles, combine_quantiles
from assay.judgement.verdict import Direction, Margin, Verdict, judge

_LEAST_P, _STEP = 1e-5, 0.75
JUDGED = (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100))


@dataclass(frozen=True, slots=True)
class TailChange:
    """A quantile that changed beyond the margin, in the metric's unit; `interval` is that of the difference.

    `is_closing` says whether it closes a gate that names the metric, `p` is that of "no change beyond the margin", and
    `is_by_itself` says that the verdict is right in 95 of 100 cases, but not on a page with so many metrics.
    """

    share: Fraction
    base: float
    value: float
    interval: Interval
    verdict: Verdict
    is_closing: bool
    p: float
    is_by_itself: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a member of the list `tails` in `results.json`."""
        return {
            "share": float(self.share),
            "base": self.base,
            "value": self.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "verdict": self.verdict.value,
            "closes": self.is_closing,
            "by_itself": self.is_by_itself,
        }


@dataclass(frozen=True, slots=True)
class TailRule:
    """By what quantiles of a metric are judged; `gated` is the number of metrics of the gate."""

    margin: Margin
    direction: Direction
    level: float
    gated: int

    @property
    def strict_level(self) -> float:
        """The level at which a quantile closes the gate."""
        return _adjust_level(self.level, self.gated)


def judge_tails(base: RunQuantiles, other: RunQuantiles, rule: TailRule) -> tuple[TailChange, ...]:
    """Return the quantiles that changed beyond the margin."""
    margin, direction, level, strict = rule.margin, rule.direction, rule.level, rule.strict_level
    changes = []
    for share in JUDGED:
        position = SHARES.index(share)
        before, after = base.quantiles[position], other.quantiles[position]
        least = margin.convert_to_amount(before)
        compute = partial(_compute_interval, base, other, position)
        interval = compute(level)
        if not interval or not _is_beyond(interval, least):
            continue
        is_bad = (after > before) == (direction is Direction.LOWER)
        verdict = Verdict.WORSE if is_bad else Verdict.BETTER
        is_closing = False
        if direction is Direction.NEITHER:
            verdict = Verdict.CHANGED
        elif is_bad:
            is_closing = _is_beyond(compute(strict), least)
        p = _find_p(compute, least, 1 - level)
        changes.append(TailChange(share, before, after, interval, verdict, is_closing, p))
    return tuple(changes)


def judge_tails_of_repeats(
    base: Sequence[RunQuantiles], other: Sequence[RunQuantiles], rule: TailRule
) -> tuple[TailChange, ...]:
    """Return the quantiles that changed beyond the margin between versions with repeats, of which each has a value.

    Their intervals are those of averages over repeats. There are none unless ten samples of each version lie beyond.
    """
    margin, direction, level, strict = rule.margin, rule.direction, rule.level, rule.strict_level
    changes = []
    for share in JUDGED:
        if not all(has_interval(sum(run.count for run in runs), share) for runs in (base, other)):
            continue
        values = [tuple(Fraction(run.quantiles[SHARES.index(share)]) for run in runs) for runs in (base, other)]
        comparison = compare(Version(values[0]), Version(values[1]), pool_variances(values))
        judgement = judge(comparison, margin, direction, level)
        if not judgement.comparison or not judgement.is_certain:
            continue
        is_closing = Verdict.WORSE is judgement.verdict is judge(comparison, margin, direction, strict).verdict
        difference, p = judgement.comparison.difference.compute_interval(level), judgement.p_beyond
        means = judgement.comparison.base, judgement.comparison.value
        changes.append(TailChange(share, *means, difference, judgement.verdict, is_closing, 0.0 if p is None else p))
    return tuple(changes)


def _adjust_level(level: float, gated: int) -> float:
    """Return the level at which a quantile closes a gate of so many metrics."""
    return 1 - 2 * (1 - level) / max(1, gated * len(JUDGED))


def _compute_interval(base: RunQuantiles, other: RunQuantiles, position: int, level: float) -> Interval | None:
    interval = combine_quantiles(*(run.estimate(position, level) for run in (base, other)))
    return interval if isinstance(interval, Interval) else None


def _find_p(compute: Callable[[float], Interval | None], least: float, p: float) -> float:
    """Return the least p at which an interval is still beyond the margin, as it is at `p`; steps are of a quarter.

    `compute` returns the interval of a level.
    """
    while p > _LEAST_P and _is_beyond(compute(1 - p * _STEP), least):
        p *= _STEP
    return p


def _is_beyond(interval: Interval | None, least: float) -> bool:
    return interval is not None and (interval.low > least or interval.high < -least)


def name_quantile(share: Fraction | float) -> str:
    """Return the name of a quantile: `median`, `p99`."""
    return "median" if share == JUDGED[0] else f"p{float(100 * share):g}"
