"""Judge changes: better, worse, changed, the same, open, or not judged.

With x the change in percent, in the direction that is bad for the metric, and a margin of what is too little to matter:

    worse    the interval lies wholly beyond the margin in the bad direction, as Criterion's rule has it
    better   the same in the good direction
    changed  either of them, for a metric that is better in no direction
    same     the interval of twice the error (90 % instead of 95 %) lies within the margin: two one-sided tests
             (Schuirmann 1987)
    open     else, and always if most of the metric lies in a short part of the run

From a base of 0 there is no percentage: x is the difference, and the margin is the declared amount, or else 0.

A percentage is that of a ratio, whose error is that of a logarithm. One sample of weight x has the error x / (1 + x) in
the logarithm, which is below 1 even if the sample is most of the run: a single timeout would be certain. So beyond the
margin must also lie the interval of the difference. If that interval reaches the margin, its end replaces the nearer
one of the ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from assay.judgement.change import Change, Interval, RatioChange
from assay.judgement.interval import Comparison, Reason


class Verdict(StrEnum):
    """What a comparison says of a metric."""

    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    SAME = "same"
    OPEN = "open"
    NOT_JUDGED = "not judged"
    #: of a level shift between two runs of one version, which cannot be better or worse than itself
    ENVIRONMENT = "environment"


class Direction(StrEnum):
    """In which direction a metric is better."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Margin:
    """How small a change is too little to matter: up to so much percent of the base, or up to an amount.

    The greater of them counts; 0 stands for none. The amount is in the metric's unit. Of a share of a `whole`, such as
    99 of 100 requests that succeed, it is the percentage of the rest if that is the lesser part, as of the share that
    fails: both are then judged alike.
    """

    percent: float = 0.0
    amount: float = 0.0
    whole: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError for a margin below 0."""
        if self.percent < 0 or self.amount < 0:
            raise ValueError(f"{self} is below 0")

    def convert_to_percent(self, base: float) -> float:
        """Return the margin in percent of a base that is not 0."""
        return max(self.resolve(base).percent, 100 * self.amount / abs(base))

    def convert_to_amount(self, base: float) -> float:
        """Return the margin of a base in the metric's unit."""
        return max(self.resolve(base).percent / 100 * abs(base), self.amount)

    def resolve(self, base: float) -> Margin:
        """Return the margin with the percentage of the base itself."""
        if not self.whole / 2 < base <= self.whole:
            return self
        return Margin(self.percent * (self.whole - base) / base, self.amount)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a metric.

    `reason` says why a metric is not judged, or what is uncertain of an open one beside its interval. `margin` and
    `interval` are in percent of the base, or in the metric's unit if the base is 0. `p` is that of "no change",
    `p_worse` that of "not worse by more than the margin" (1 for a metric that is better in no direction). What is not
    judged has None for each of them.
    """

    verdict: Verdict
    direction: Direction
    reason: Reason | None = None
    comparison: Comparison | None = None
    interval: Interval | None = None
    margin: float | None = None
    p: float | None = None
    p_worse: float | None = None


def judge(comparison: Comparison | Reason, margin: Margin, direction: Direction, level: float = 0.95) -> Judgement:
    """Judge a change, or pass on the reason why it is not known."""
    if isinstance(comparison, Reason):
        return Judgement(Verdict.NOT_JUDGED, direction, comparison)
    least = margin.convert_to_percent(comparison.base) if comparison.percent else margin.amount
    interval = _compute_interval(comparison, least, level)
    verdict = _decide(comparison, interval, least, direction, level)
    changes = _list_changes(comparison)
    return Judgement(
        verdict,
        direction,
        comparison.spread.reason if verdict is Verdict.OPEN else None,
        comparison,
        interval,
        least,
        max(change.compute_p() for change in changes),
        _compute_p_worse(changes, least, direction),
    )


def _list_changes(comparison: Comparison) -> tuple[Change, ...]:
    """Return the changes of a verdict, in the unit of its margin: that of a ratio also as a difference."""
    if not isinstance(comparison.judged, RatioChange):
        return (comparison.judged,)
    difference, factor = comparison.difference, 100 / comparison.base
    return comparison.judged, Change(difference.value * factor, difference.error * factor, difference.df, -100.0)


def _compute_interval(comparison: Comparison, least: float, level: float) -> Interval:
    """Return the interval of a change, with the nearer end of the difference if that alone reaches the margin."""
    interval, *others = (change.compute_interval(level) for change in _list_changes(comparison))
    for other in others:
        if interval.low > least >= other.low:
            return Interval(other.low, interval.high)
        if interval.high < -least <= other.high:
            return Interval(interval.low, other.high)
    return interval


def _decide(comparison: Comparison, interval: Interval, least: float, direction: Direction, level: float) -> Verdict:
    change = comparison.judged
    if comparison.spread.reason is Reason.FEW_BATCHES:
        return Verdict.OPEN
    if interval.low > least or interval.high < -least:
        if direction is Direction.NEITHER:
            return Verdict.CHANGED
        return Verdict.WORSE if (interval.low > least) == (direction is Direction.LOWER) else Verdict.BETTER
    return Verdict.SAME if change.compute_interval(2 * level - 1).is_within(least) else Verdict.OPEN


def _compute_p_worse(changes: Sequence[Change], least: float, direction: Direction) -> float:
    if direction is Direction.NEITHER:
        return 1.0
    if direction is Direction.LOWER:
        return max(change.compute_p_above(least) for change in changes)
    return max(change.compute_p_below(-least) for change in changes)
