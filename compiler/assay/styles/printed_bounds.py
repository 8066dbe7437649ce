"""What printed cells of the style `typst-2026` say of the unrounded numbers behind them.

Only cells survive of an old report. Its deltas came from digits that are not printed: they cannot be
recomputed, but they can be checked: some pair of values must print base, value, delta and percent.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from assay.styles.interval import HalfPlane, Interval, has_common_point
from assay.styles.typst_number import SMALL, TINY, UNDEFINED, kept_decimals, number_text

DELTA_DECIMALS = 3
_TINY = Fraction(str(TINY))
_SMALL = Fraction(str(SMALL))
_HUNDRED = Fraction(100)

# Deltas and percents were computed with doubles: their last bits are not exact.
_DOUBLE_ERROR = Fraction(1, 2**48)


def possible(base: str, value: str, delta: str, percent: str, width: int) -> bool:
    """Whether unrounded values exist that print these four texts, for a metric of this field width.

    Ends of intervals count as possible, though a tie is printed one way only.
    """
    first, second = printed_interval(base, width + 1), printed_interval(value, width + 1)
    difference = printed_interval(delta, DELTA_DECIMALS)
    if first is None or second is None or difference is None:
        return False
    if percent == UNDEFINED:
        return 0 in first and second.meet(difference.low, difference.high) is not None
    narrowed = _delta_beside(difference, percent)
    if narrowed is None:
        return False
    bounds = _delta_bounds(narrowed, _DOUBLE_ERROR * (first.greatest + second.greatest))
    if percent != "0":
        share = percent_interval(percent)
        if share is None:
            return False
        bounds += _percent_bounds(share, first, second)
    return has_common_point(first, second, bounds)


def printed_interval(text: str, decimals: int) -> Interval | None:
    """The numbers that `number_text` writes as `text` with so many decimals; None when there are none."""
    unsigned = text.removeprefix("-")
    try:
        number = Decimal(unsigned)
    except InvalidOperation:
        return None
    if number.is_signed() or not number.is_finite():
        return None
    found = _rounding_interval(number, decimals, unsigned)
    if found is None or number_text(float(found.middle), decimals) != unsigned:
        return None
    return found if unsigned == text else -found


def percent_interval(text: str) -> Interval | None:
    """The percents that are written as `text`: one decimal under 1, else none; None when no percent is."""
    if "." not in text:
        found = printed_interval(text, 0)
        return None if found is None else _at_least(found, Fraction(1))
    found = printed_interval(text, 1)
    return None if found is None else found.meet(Fraction(-1), Fraction(1))


def _rounding_interval(number: Decimal, decimals: int, text: str) -> Interval | None:
    """The numbers that round to `number`, which is not negative, and are written in the form of `text`."""
    exact = Fraction(number)
    if "e" in text:
        step_below, step_above = _mantissa_steps(number)
        return Interval(exact - step_below / 2, exact + step_above / 2).meet(_TINY, _SMALL)
    if number == 0:
        rounds = Fraction(1, 2 * 10**decimals) if decimals <= DELTA_DECIMALS else Fraction(0)
        return Interval(Fraction(0), max(_TINY, rounds))
    # A number at which the decimals change is reached from below in finer steps.
    below = kept_decimals(float(number) * (1 - 2**-50), decimals)
    above = kept_decimals(float(number), decimals)
    low, high = exact - Fraction(1, 2 * 10**below), exact + Fraction(1, 2 * 10**above)
    if above == 0 != below:
        # Both sides round to the same number, but only that from below is written with a point.
        low, high = (low, exact) if "." in text else (exact, high)
    return _at_least(Interval(low, high), _SMALL)


def _mantissa_steps(number: Decimal) -> tuple[Fraction, Fraction]:
    """The distance to the numbers below and above that have a mantissa of one decimal."""
    above = Fraction(10) ** (number.adjusted() - 1)
    is_power = number == Decimal(1).scaleb(number.adjusted())
    return (above / 10 if is_power else above), above


def _at_least(interval: Interval, least: Fraction) -> Interval | None:
    """The part of an interval on one side of 0 whose absolute values are `least` or more."""
    if interval.low >= 0:
        return interval.meet(least, max(interval.high, least))
    return interval.meet(min(interval.low, -least), -least)


def _delta_beside(delta: Interval, percent: str) -> Interval | None:
    """The deltas that go with this percent: `0` stands for a delta under 0.0001, and for it alone."""
    return delta.meet(-_SMALL, _SMALL) if percent == "0" else _at_least(delta, _SMALL)


def _delta_bounds(delta: Interval, error: Fraction) -> list[HalfPlane]:
    """delta.low <= value - base <= delta.high."""
    one = Fraction(1)
    return [HalfPlane(-one, one, error - delta.low), HalfPlane(one, -one, error + delta.high)]


def _percent_bounds(percent: Interval, base: Interval, value: Interval) -> list[HalfPlane]:
    """percent.low <= 100 (value - base) / base <= percent.high, times the base, whose sign is known."""
    low, high = (percent.low, percent.high) if base.low >= 0 else (percent.high, percent.low)
    error = _DOUBLE_ERROR * (base.greatest + value.greatest) * (100 + percent.greatest)
    return [
        HalfPlane(-_HUNDRED - low, _HUNDRED, error),
        HalfPlane(_HUNDRED + high, -_HUNDRED, error),
    ]
