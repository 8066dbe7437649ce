"""Number style `typst-2026`: everything from unrounded numbers, with decimals that follow the value.

Only cells survive of an old report. Its deltas came from digits that are not printed: they cannot be
recomputed, but they can be checked: some pair of values must print base, value, delta and percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from fractions import Fraction
from itertools import product

from assay.styles.exact_decimal import quantized, rounded_text, shortest_decimal
from assay.styles.row import NO_VALUE, Row
from assay.util.diagnostics import fail

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, both included."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"an interval from {self.low} to {self.high} is empty")

    def __contains__(self, number: Fraction | float) -> bool:
        return self.low <= number <= self.high

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    @property
    def middle(self) -> Fraction:
        """The number in the middle."""
        return (self.low + self.high) / 2

    @property
    def greatest(self) -> Fraction:
        """The greatest absolute value."""
        return max(abs(self.low), abs(self.high))

    def meet(self, low: Fraction, high: Fraction) -> Interval | None:
        """What lies between `low` and `high` too; None when nothing does."""
        least, most = max(self.low, low), min(self.high, high)
        return Interval(least, most) if least <= most else None


@dataclass(frozen=True, slots=True)
class HalfPlane:
    """The points (x, y) with x_factor * x + y_factor * y + constant >= 0."""

    x_factor: Fraction
    y_factor: Fraction
    constant: Fraction

    def level(self, point: Point) -> Fraction:
        """How far inside (positive) or outside the point is."""
        return self.x_factor * point[0] + self.y_factor * point[1] + self.constant


def has_common_point(x: Interval, y: Interval, bounds: Iterable[HalfPlane]) -> bool:
    """Whether a point of the rectangle `x` by `y` lies in all the half-planes, their edges included."""
    corners = list(product((x.low, x.high), (y.low, y.high)))
    region = [corners[index] for index in (0, 1, 3, 2)]
    for bound in bounds:
        region = _clipped(region, bound)
    return bool(region)


def _clipped(region: list[Point], bound: HalfPlane) -> list[Point]:
    """A convex polygon's part in a half-plane (Sutherland and Hodgman, 1974)."""
    kept: list[Point] = []
    for start, end in zip(region, region[1:] + region[:1], strict=True):
        here, there = bound.level(start), bound.level(end)
        if here >= 0:
            kept.append(start)
        if (here < 0 < there) or (there < 0 < here):
            share = here / (here - there)
            kept.append((start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])))
    return kept


TINY = 0.00001
"""Below, a number has no digits left: only its sign is printed."""

SMALL = 0.0001
"""Below, a number is printed with an exponent."""

UNDEFINED = "NaN"

# From the greatest: at least this great, so many decimals.
_LONG_DECIMALS = ((10000.0, 0), (1000.0, 1), (100.0, 2), (10.0, 3))


def number_text(number: float, decimals: int) -> str:
    """`number` with at most so many decimals, rounded half to even on its decimal text.

    Above 3 decimals trailing zeros go and the point stays (`6660.`, `0.001`); under 0.0001 `3.0e-5`; under
    0.00001 `0.0`, with its sign. Not-a-number is `NaN`, infinities are `inf` and `-inf`.
    """
    if not math.isfinite(number):
        return UNDEFINED if math.isnan(number) else str(float(number))
    if abs(number) < TINY:
        return _vanished(number, decimals)
    if abs(number) < SMALL:
        return _with_exponent(number)
    text = rounded_text(number, kept_decimals(number, decimals))
    return text.rstrip("0") if decimals > 3 and "." in text else text


def kept_decimals(number: float, decimals: int) -> int:
    """The decimals that are printed of a number that is not small: a wide field has 5 digits in all."""
    if decimals <= 5:
        return decimals
    return next((kept for least, kept in _LONG_DECIMALS if abs(number) >= least), 4)


def _vanished(number: float, decimals: int) -> str:
    sign = "-" if number < 0 else ""
    return f"{sign}0.0" if decimals > 3 else f"{sign}{0:.{decimals}f}"


def _with_exponent(number: float) -> str:
    # The mantissa may round up to the next power: 9.97e-05 is 1.0e-4.
    exact = shortest_decimal(number)
    rounded = quantized(exact, 1 - exact.adjusted(), ROUND_HALF_EVEN)
    power = rounded.adjusted()
    return f"{rounded.scaleb(-power):.1f}e{power}"


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


@dataclass(frozen=True, slots=True)
class Typst2026:
    """Deltas and percents come from digits that are not printed; printed cells only bound them."""

    name: str = "typst-2026"
    has_sample_counts: bool = False
    follows_from_print: bool = False

    def table_row(self, values: Sequence[float | None], width: int) -> Row:
        """One decimal more than the field is wide, as far as the magnitude lets them print."""
        pairs = [(values[0], value) for value in values[1:]]
        return Row(
            tuple(value_text(value, width) for value in values),
            tuple(delta_text(base, value) for base, value in pairs),
            tuple(percent_text(base, value) for base, value in pairs),
        )

    def printed_row(self, printed: Sequence[str]) -> Row:
        """Always an error: a delta of this style is not determined by the printed cells."""
        raise fail(
            "hidden-digits",
            f"deltas of the number style `{self.name}` cannot be computed from printed cells",
            found=", ".join(printed),
            hint="give the unrounded values, or check printed deltas with `allows`",
        )

    def allows(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:
        """Whether some pair of unrounded values prints these four texts."""
        if NO_VALUE in (base, value):
            return (delta, percent) == (NO_VALUE, NO_VALUE)
        if UNDEFINED in (base, value):
            return (delta, percent) == (UNDEFINED, UNDEFINED)
        return possible(base, value, delta, percent, width)

    def sample_count(self, count: int) -> str:
        """Always an error: tables of this style have no sample counts."""
        raise fail("no-sample-counts", f"the number style `{self.name}` has no sample counts", found=str(count))


def value_text(value: float | None, width: int) -> str:
    """A metric's value; decimals up to `width` + 1."""
    return NO_VALUE if value is None else number_text(value, width + 1)


def delta_text(base: float | None, value: float | None) -> str:
    """value - base with 3 decimals; under 0.0001 only the sign is left: `0.000`, `-0.000`."""
    if base is None or value is None:
        return NO_VALUE
    delta = value - base
    if abs(delta) < SMALL:
        return "-0.000" if delta < 0 else "0.000"
    return number_text(delta, DELTA_DECIMALS)


def percent_text(base: float | None, value: float | None) -> str:
    """100 (value - base) / base: one decimal under 1, else none; `0` if the delta is small; base 0: `NaN`."""
    if base is None or value is None:
        return NO_VALUE
    if base == 0:
        return UNDEFINED
    delta = value - base
    if abs(delta) < SMALL:
        return "0"
    percent = 100 * delta / base
    return number_text(percent, 1 if abs(percent) < 1 else 0)
