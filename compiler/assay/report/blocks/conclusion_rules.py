"""Rules of conclusions: what is expected of a metric's average from one run or phase to another; whether it is so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from assay.lang.model.article import Rule
from assay.lang.model.package import Metric
from assay.styles.exact_decimal import decimal_value, on_its_side, percent_change

NOT_WORSE = "not worse"
NEITHER = "neither"


def in_words(rule: Rule, metric: Metric) -> str:
    """What a rule says."""
    if rule.kind in ("falls", "rises"):
        return f"{rule.kind} by at least {rule.percent} %"
    worse = {"lower": "higher", "higher": "lower"}.get(metric.better, "other")
    if rule.kind == "stays" or worse == "other":
        return f"changes by at most {rule.percent} %"
    return f"at most {rule.percent} % {worse}"


def holds(rule: Rule, metric: Metric, old: float | None, new: float | None) -> bool | None:
    """Whether a rule holds of two averages, as their decimal texts have them; None when one is no finite number."""
    if old is None or new is None or not (math.isfinite(old) and math.isfinite(new)):
        return None
    base, value = decimal_value(old), decimal_value(new)
    if not base:  # any change of it is more than any percent
        return allows(rule.kind, 0, metric, value)
    return allows(rule.kind, rule.percent, metric, percent_change(base, value))


def percent_told(rule: Rule, metric: Metric, values: Sequence[float | None], shown: str) -> str:
    """The change from the first value to the second in percent: as the number style shows it (`shown`), unless the rule
    would come out another way by that; then of the first value's amount, with as many more decimals as it takes."""
    old, new = values
    due = holds(rule, metric, old, new)
    printed = _number(shown)
    if due is None or not old or new is None or printed is None:
        return shown
    if allows(rule.kind, rule.percent, metric, printed) == due:
        return shown
    change = percent_change(decimal_value(old), decimal_value(new))
    decimals = len(shown.partition(".")[2]) + 1
    return on_its_side(change, decimals, lambda found: allows(rule.kind, rule.percent, metric, found) == due)


def allows(kind: str, limit: int, metric: Metric, change: Fraction) -> bool:
    """Whether a change, in percent of the amount of what it is from, is as a rule of this kind and limit wants it."""
    if kind == "falls":
        return -change >= limit and change < 0
    if kind == "rises":
        return change >= limit and change > 0
    worse = {"lower": change, "higher": -change}.get(metric.better, abs(change))
    return (abs(change) if kind == "stays" else worse) <= limit


def _number(text: str) -> Fraction | None:
    """The number that a cell shows; None where it shows none."""
    try:
        return Fraction(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError):
        return None
