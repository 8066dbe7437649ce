"""Judge changes: each metric has one of the states of `Verdict`.

With x the change in percent, in the direction that is bad for the metric, and a margin of what is too little to matter:

    worse    the interval lies wholly beyond the margin in the bad direction, as Criterion's rule has it
    better   the same in the good direction
    changed  either of them, for a metric that is better in no direction
    same     the interval of twice the error (90 % instead of 95 %) lies within the margin: two one-sided tests
             (Schuirmann 1987)
    cannot tell    else, and always if most of the metric lies in a short part of the run
    no interval    if nothing shows by how much the metric varies
    data lost      if a run has no samples, though another has, or if records are missing from one version only: then
                   beside the interval of what is left

From a base of 0 there is no percentage: x is the difference, and the margin is the declared amount, or else 0.

A percentage is that of a ratio, whose error is that of a logarithm. One sample of weight x has the error x / (1 + x) in
the logarithm, which is below 1 even if the sample is most of the run: a single timeout would be certain. So beyond the
margin must also lie the interval of the difference. If that interval reaches the margin, its end replaces the nearer
one of the ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.judgement.change import Change, Interval, RatioChange
from assay.judgement.interval import UNTRUSTED, Comparison, Reason


class Verdict(StrEnum):
    """What a comparison says of a metric."""

    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    SAME = "same"
    CANNOT_TELL = "cannot tell"
    NO_INTERVAL = "no interval"
    DATA_LOST = "data lost"
    #: of a level shift between two runs of one version, which cannot be better or worse than itself
    ENVIRONMENT = "environment"


VERDICT_ORDER = (
    Verdict.WORSE,
    Verdict.BETTER,
    Verdict.CHANGED,
    Verdict.DATA_LOST,
    Verdict.CANNOT_TELL,
    Verdict.SAME,
    Verdict.NO_INTERVAL,
)
"""The order in which a reader looks for the verdicts on metrics."""


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

    `reason` says why there is no interval, or what is uncertain beside an interval that cannot tell. `margin` and
    `interval` are in percent of the base, or in the metric's unit if the base is 0. `p` is that of "no change",
    `p_worse` that of "not worse by more than the margin" (1 for a metric that is better in no direction), `p_beyond`
    that of "no change beyond the margin, in either direction". Without an interval each of them is None.
    """

    verdict: Verdict
    direction: Direction
    reason: Reason | None = None
    comparison: Comparison | None = None
    interval: Interval | None = None
    margin: float | None = None
    p: float | None = None
    p_worse: float | None = None
    p_beyond: float | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the metric changed beyond its margin."""
        return self.verdict in (Verdict.WORSE, Verdict.BETTER, Verdict.CHANGED)


def judge(comparison: Comparison | Reason, margin: Margin, direction: Direction, level: float = 0.95) -> Judgement:
    """Judge a change, or pass on the reason why it is not known."""
    if isinstance(comparison, Reason):
        is_lost = comparison is Reason.LOST_SAMPLES
        return Judgement(Verdict.DATA_LOST if is_lost else Verdict.NO_INTERVAL, direction, comparison)
    least = margin.convert_to_percent(comparison.base) if comparison.percent else margin.amount
    interval = _compute_interval(comparison, least, level)
    verdict = _decide(comparison, interval, least, direction, level)
    changes = _list_changes(comparison)
    return Judgement(
        verdict,
        direction,
        comparison.spread.reason if verdict is Verdict.CANNOT_TELL else None,
        comparison,
        interval,
        least,
        max(change.compute_p() for change in changes),
        _compute_p_worse(changes, least, direction),
        _compute_p_beyond(changes, least),
    )


def withdraw_verdict(judgement: Judgement) -> Judgement:
    """Return a judgement on data of which records are missing in one version: the interval stays, the verdict goes."""
    return replace(judgement, verdict=Verdict.DATA_LOST, reason=Reason.LOST_RECORDS)


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
    if comparison.spread.reason in UNTRUSTED:
        return Verdict.CANNOT_TELL
    if interval.low > least or interval.high < -least:
        if direction is Direction.NEITHER:
            return Verdict.CHANGED
        return Verdict.WORSE if (interval.low > least) == (direction is Direction.LOWER) else Verdict.BETTER
    return Verdict.SAME if change.compute_interval(2 * level - 1).is_within(least) else Verdict.CANNOT_TELL


def _compute_p_beyond(changes: Sequence[Change], least: float) -> float:
    above = max(change.compute_p_above(least) for change in changes)
    below = max(change.compute_p_below(-least) for change in changes)
    return min(1.0, 2 * min(above, below))


def _compute_p_worse(changes: Sequence[Change], least: float, direction: Direction) -> float:
    if direction is Direction.NEITHER:
        return 1.0
    if direction is Direction.LOWER:
        return max(change.compute_p_above(least) for change in changes)
    return max(change.compute_p_below(-least) for change in changes)
