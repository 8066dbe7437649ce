"""Compute changes in percent: the Δ% of tables, verdicts, histories and rules. Number styles print them.

The style of the Typst reports of 2026 divides by the base itself, not by its amount.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

Number = TypeVar("Number", float, Fraction, Decimal)


def compute_percent_change(base: Number, value: Number) -> Number:
    """Return the change to `value` in percent of the amount of `base`, which is not 0; positive if it is greater."""
    return to_percent(value - base, base)


def to_percent(difference: Number, base: Number) -> Number:
    """Return a difference from `base` in percent of its amount, which is not 0."""
    return 100 * difference / abs(base)
