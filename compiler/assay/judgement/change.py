"""Hold a change with its error: its interval, and how probable it is if nothing or little changed.

The percentage of a metric that is never below 0 is a ratio. Estimates of a ratio are skewed: with 8 events after 15 it
may well be 1.2, but not -0.1. Their logarithms are not. So the error of a ratio r is that of ln r (the delta method;
Katz, Baptista, Azen and Pike 1978), and its interval is r / f to r f.

Logarithms are those of the module `decimal`, which rounds them correctly on every machine; the C library does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from assay.judgement.student_t import compute_cdf, compute_quantile

_CONTEXT = Context(prec=34)
_MOST_REACH = 50.0  # a factor of 5e21: noise of other runs may be any multiple of the average; doubles end at 1e308


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds between which a change lies."""

    low: float
    high: float

    @property
    def distance(self) -> float:
        """How far the interval is from no change, of which so much is certain; 0 if it holds 0."""
        return max(self.low, -self.high, 0.0)

    def is_within(self, bound: float) -> bool:
        """Return whether the interval lies between -bound and bound."""
        return -bound <= self.low and self.high <= bound


@dataclass(frozen=True, slots=True)
class Change:
    """A change and its standard error, both in percent of the base or both in the metric's unit.

    No end of an interval lies below `least`. The error of an exact change is 0: its interval is a point.
    """

    value: float
    error: float
    df: int
    least: float = -math.inf

    def compute_interval(self, level: float = 0.95) -> Interval:
        """Return the interval that holds the true change in a share `level` of all comparisons."""
        reach = compute_quantile((1 + level) / 2, self.df) * self.error if self.error else 0.0
        return Interval(max(self.least, self.value - reach), max(self.least, self.value + reach))

    def compute_p(self) -> float:
        """Return the two-sided p of "no change"."""
        return min(1.0, 2 * min(self.compute_p_above(0.0), self.compute_p_below(0.0)))

    def compute_p_above(self, bound: float) -> float:
        """Return the one-sided p of "the change is at most `bound`"."""
        return compute_cdf(-self._count_errors_above(bound), self.df) if self.error else float(self.value <= bound)

    def compute_p_below(self, bound: float) -> float:
        """Return the one-sided p of "the change is at least `bound`"."""
        return compute_cdf(self._count_errors_above(bound), self.df) if self.error else float(self.value >= bound)

    def _count_errors_above(self, bound: float) -> float:
        return (self.value - bound) / self.error


@dataclass(frozen=True, slots=True)
class RatioChange(Change):
    """A change in percent of a base above 0 to a value above 0; `error` is that of the logarithm of their ratio."""

    def compute_interval(self, level: float = 0.95) -> Interval:
        """Return the interval that holds the true change in a share `level` of all comparisons, above -100."""
        if not self.error:
            return Interval(self.value, self.value)
        reach = Decimal(min(_MOST_REACH, compute_quantile((1 + level) / 2, self.df) * self.error))
        low, high = (self._multiply(_CONTEXT.exp(sign * reach)) for sign in (-1, 1))
        return Interval(low, high)

    def _multiply(self, factor: Decimal) -> float:
        """Return the change in percent of a ratio that is `factor` times as great."""
        ratio = _CONTEXT.multiply(_find_ratio(self.value), factor)
        return float(_CONTEXT.multiply(100, _CONTEXT.subtract(ratio, 1)))

    def _count_errors_above(self, bound: float) -> float:
        if bound <= -100:
            return math.inf
        return float(_CONTEXT.ln(_CONTEXT.divide(_find_ratio(self.value), _find_ratio(bound)))) / self.error


def compute_log(ratio: Fraction) -> float:
    """Return the natural logarithm of a number above 0, with the same bits on every machine."""
    return float(_CONTEXT.ln(_CONTEXT.divide(ratio.numerator, ratio.denominator)))


def raise_e(exponent: float) -> float:
    """Return e to a power, with the same bits on every machine."""
    return float(_CONTEXT.exp(Decimal(exponent)))


def _find_ratio(percent: float) -> Decimal:
    return _CONTEXT.add(1, _CONTEXT.divide(Decimal(percent), 100))
