"""Decide declared rules on changes: a metric falls or rises by a percentage, stays within one, or is not worse.

A rule holds if the whole interval of the change satisfies it, and does not hold if the whole interval violates it. If
the interval reaches across the limit, the runs cannot tell. Without an interval a rule is not decided.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from assay.judgement.report_judgements import JudgedChange
from assay.judgement.verdict import Verdict
from assay.lang.blocks.conclusion import FALLS, NOT_WORSE, RISES, STAYS


class Outcome(StrEnum):
    """What runs say of a rule."""

    HOLDS = "yes"
    VIOLATED = "no"
    CANNOT_TELL = "cannot tell"
    NO_INTERVAL = "no interval"
    DATA_LOST = "data lost"
    NO_VALUE = "no value"


def is_change_allowed(kind: str, limit: int, better: str, change: Fraction) -> bool:
    """Check that a change, in percent of the amount of the old value, satisfies a rule of this kind and limit.

    `better` is the direction in which the metric is better.
    """
    if kind == FALLS:
        return -change >= limit and change < 0
    if kind == RISES:
        return change >= limit and change > 0
    worsening = {"lower": change, "higher": -change}.get(better, abs(change))
    return (abs(change) if kind == STAYS else worsening) <= limit


def decide_rule(kind: str, limit: int, change: JudgedChange) -> Outcome:
    """Decide a rule by the interval of a judged change."""
    judgement = change.judgement
    if judgement.verdict is Verdict.DATA_LOST:
        return Outcome.DATA_LOST
    if judgement.interval is None or judgement.comparison is None:
        return Outcome.NO_INTERVAL
    interval = judgement.interval
    if judgement.comparison.percent is None:  # from a base of 0, where any change exceeds every percentage
        limit = 0
    bounds = (Fraction(interval.low), Fraction(interval.high))
    ends = {is_change_allowed(kind, limit, judgement.direction.value, end) for end in bounds}
    # A rule with bounds on both sides may be violated within an interval whose ends both violate it.
    crosses_range = ends == {False} and interval.low < 0 < interval.high and kind in (STAYS, NOT_WORSE)
    if len(ends) > 1 or crosses_range:
        return Outcome.CANNOT_TELL
    return Outcome.HOLDS if ends == {True} else Outcome.VIOLATED
