"""Number style `typst-2026`: deltas and percents of unrounded numbers, with decimals that depend on the value.

Of an old report only the cells survive. Its deltas depend on digits that are not printed, so they cannot be recomputed.
But they can be checked: some pair of values must print as base, value, delta and percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from fractions import Fraction
from itertools import product

from assay.number_styles.exact_decimal import format_rounded, round_decimal, to_shortest_decimal
from assay.number_styles.row import NO_VALUE, Row
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
        """Return the number in the middle."""
        return (self.low + self.high) / 2

    @property
    def greatest(self) -> Fraction:
        """Return the greatest absolute value."""
        return max(abs(self.low), abs(self.high))

    def intersect(self, low: Fraction, high: Fraction) -> Interval | None:
        """Return the part between `low` and `high`; None if it is empty."""
        least, most = max(self.low, low), min(self.high, high)
        return Interval(least, most) if least <= most else None


@dataclass(frozen=True, slots=True)
class HalfPlane:
    """The points (x, y) with x_factor * x + y_factor * y + constant >= 0."""

    x_factor: Fraction
    y_factor: Fraction
    constant: Fraction

    def compute_level(self, point: Point) -> Fraction:
        """Return how far inside (positive) or outside (negative) a point is."""
        return self.x_factor * point[0] + self.y_factor * point[1] + self.constant


def has_common_point(x: Interval, y: Interval, bounds: Iterable[HalfPlane]) -> bool:
    """Return whether a point of the rectangle `x` by `y` is in all half-planes, edges included."""
    corners = list(product((x.low, x.high), (y.low, y.high)))
    region = [corners[index] for index in (0, 1, 3, 2)]
    for bound in bounds:
        region = _clip(region, bound)
    return bool(region)


def _clip(region: list[Point], bound: HalfPlane) -> list[Point]:
    """Return the part of a convex polygon in a half-plane (Sutherland and Hodgman, 1974)."""
    clipped: list[Point] = []
    for start, end in zip(region, region[1:] + region[:1], strict=True):
        start_level, end_level = bound.compute_level(start), bound.compute_level(end)
        if start_level >= 0:
            clipped.append(start)
        if (start_level < 0 < end_level) or (end_level < 0 < start_level):
            share = start_level / (start_level - end_level)
            clipped.append((start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])))
    return clipped


TINY = 0.00001
"""Below, only the sign of a number is printed."""

SMALL = 0.0001
"""Below, a number is printed with an exponent."""

UNDEFINED = "NaN"

# (least absolute value, decimals), in descending order
_LONG_DECIMALS = ((10000.0, 0), (1000.0, 1), (100.0, 2), (10.0, 3))


def format_number(number: float, decimals: int) -> str:
    """Return `number` with at most `decimals`, rounded half to even on its decimal text.

    With more than 3 decimals, trailing zeros are removed and the point stays (`6660.`, `0.001`). Below 0.0001 it is
    `3.0e-5`, below 0.00001 `0.0` with its sign. Without digits: `NaN`, `inf` and `-inf`.
    """
    if not math.isfinite(number):
        return UNDEFINED if math.isnan(number) else str(float(number))
    if abs(number) < TINY:
        return _format_tiny(number, decimals)
    if abs(number) < SMALL:
        return _format_small(number)
    text = format_rounded(number, count_decimals(number, decimals))
    return text.rstrip("0") if decimals > 3 and "." in text else text


def count_decimals(number: float, decimals: int) -> int:
    """Return the number of decimals of a number that is not small: a wide field has 5 digits in all."""
    if decimals <= 5:
        return decimals
    return next((digits for least, digits in _LONG_DECIMALS if abs(number) >= least), 4)


def _format_tiny(number: float, decimals: int) -> str:
    sign = "-" if number < 0 else ""
    return f"{sign}0.0" if decimals > 3 else f"{sign}{0:.{decimals}f}"


def _format_small(number: float) -> str:
    # The mantissa may round up to the next power: 9.97e-05 is 1.0e-4.
    exact = to_shortest_decimal(number)
    rounded = round_decimal(exact, 1 - exact.adjusted(), ROUND_HALF_EVEN)
    power = rounded.adjusted()
    return f"{rounded.scaleb(-power):.1f}e{power}"


DELTA_DECIMALS = 3
_TINY = Fraction(str(TINY))
_SMALL = Fraction(str(SMALL))
_HUNDRED = Fraction(100)

# The published deltas and percents were computed in doubles: their last bits are not exact.
_DOUBLE_ERROR = Fraction(1, 2**48)


def is_possible(base: str, value: str, delta: str, percent: str, width: int) -> bool:
    """Return whether some unrounded values print as these four texts, for a metric of this field width.

    The ends of intervals count as possible, although a tie is printed in one way only.
    """
    first, second = parse_printed_interval(base, width + 1), parse_printed_interval(value, width + 1)
    difference = parse_printed_interval(delta, DELTA_DECIMALS)
    if first is None or second is None or difference is None:
        return False
    if percent == UNDEFINED:
        return 0 in first and second.intersect(difference.low, difference.high) is not None
    narrowed = _restrict_delta(difference, percent)
    if narrowed is None:
        return False
    bounds = _bound_delta(narrowed, _DOUBLE_ERROR * (first.greatest + second.greatest))
    if percent != "0":
        share = parse_percent_interval(percent)
        if share is None:
            return False
        bounds += _bound_percent(share, first, second)
    return has_common_point(first, second, bounds)


def parse_printed_interval(text: str, decimals: int) -> Interval | None:
    """Return the numbers that `format_number` writes as `text` with these decimals; None if no number is."""
    unsigned = text.removeprefix("-")
    try:
        number = Decimal(unsigned)
    except InvalidOperation:
        return None
    if number.is_signed() or not number.is_finite():
        return None
    interval = _find_rounding_interval(number, decimals, unsigned)
    if interval is None or format_number(float(interval.middle), decimals) != unsigned:
        return None
    return interval if unsigned == text else -interval


def parse_percent_interval(text: str) -> Interval | None:
    """Return the percents that are written as `text`: one decimal below 1, else none; None without any."""
    if "." not in text:
        interval = parse_printed_interval(text, 0)
        return None if interval is None else _restrict_to_least(interval, Fraction(1))
    interval = parse_printed_interval(text, 1)
    return None if interval is None else interval.intersect(Fraction(-1), Fraction(1))


def _find_rounding_interval(number: Decimal, decimals: int, text: str) -> Interval | None:
    """Return the numbers that round to `number`, which is not negative, and are written like `text`."""
    exact = Fraction(number)
    if "e" in text:
        step_below, step_above = _find_mantissa_steps(number)
        return Interval(exact - step_below / 2, exact + step_above / 2).intersect(_TINY, _SMALL)
    if number == 0:
        half_step = Fraction(1, 2 * 10**decimals) if decimals <= DELTA_DECIMALS else Fraction(0)
        return Interval(Fraction(0), max(_TINY, half_step))
    # Where the number of decimals changes, the steps are finer below the number than above it.
    below = count_decimals(float(number) * (1 - 2**-50), decimals)
    above = count_decimals(float(number), decimals)
    low, high = exact - Fraction(1, 2 * 10**below), exact + Fraction(1, 2 * 10**above)
    if above == 0 != below:
        # Both sides round to the same number, but only numbers below are written with a point.
        low, high = (low, exact) if "." in text else (exact, high)
    return _restrict_to_least(Interval(low, high), _SMALL)


def _find_mantissa_steps(number: Decimal) -> tuple[Fraction, Fraction]:
    """Return the distances to the next lower and higher number with a mantissa of one decimal."""
    above = Fraction(10) ** (number.adjusted() - 1)
    is_power = number == Decimal(1).scaleb(number.adjusted())
    return (above / 10 if is_power else above), above


def _restrict_to_least(interval: Interval, least: Fraction) -> Interval | None:
    """Return the part of an interval on one side of 0 whose absolute values are `least` or more."""
    if interval.low >= 0:
        return interval.intersect(least, max(interval.high, least))
    return interval.intersect(min(interval.low, -least), -least)


def _restrict_delta(delta: Interval, percent: str) -> Interval | None:
    """Return the deltas that can have this percent: `0` is printed for deltas below 0.0001 only."""
    return delta.intersect(-_SMALL, _SMALL) if percent == "0" else _restrict_to_least(delta, _SMALL)


def _bound_delta(delta: Interval, error: Fraction) -> list[HalfPlane]:
    """Return the bounds for delta.low <= value - base <= delta.high."""
    unit = Fraction(1)
    return [HalfPlane(-unit, unit, error - delta.low), HalfPlane(unit, -unit, error + delta.high)]


def _bound_percent(percent: Interval, base: Interval, value: Interval) -> list[HalfPlane]:
    """Return the bounds for percent.low <= 100 (value - base) / base <= percent.high.

    Both sides are multiplied by the base, whose sign is known.
    """
    low, high = (percent.low, percent.high) if base.low >= 0 else (percent.high, percent.low)
    error = _DOUBLE_ERROR * (base.greatest + value.greatest) * (100 + percent.greatest)
    return [
        HalfPlane(-_HUNDRED - low, _HUNDRED, error),
        HalfPlane(_HUNDRED + high, -_HUNDRED, error),
    ]


@dataclass(frozen=True, slots=True)
class Typst2026:
    """A style whose deltas and percents depend on digits that are not printed; printed cells only bound them."""

    name: str = "typst-2026"
    has_sample_counts: bool = False
    has_unit_prefixes: bool = False
    follows_from_print: bool = False

    def format_table_row(self, values: Sequence[float | None], width: int) -> Row:
        """Return the texts of values with `width` + 1 decimals, or fewer for large numbers."""
        pairs = [(values[0], value) for value in values[1:]]
        return Row(
            tuple(format_value(value, width) for value in values),
            tuple(format_delta(base, value) for base, value in pairs),
            tuple(format_percent(base, value) for base, value in pairs),
        )

    def format_printed_row(self, printed_cells: Sequence[str]) -> Row:
        """Raise AssayError: printed cells do not determine a delta of this style."""
        raise fail(
            "hidden-digits",
            f"deltas of the number style `{self.name}` cannot be computed from printed cells",
            found=", ".join(printed_cells),
            hint="pass the unrounded values, or check printed deltas with `can_print`",
        )

    def can_print(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:
        """Return whether some pair of unrounded values prints as these four texts."""
        if NO_VALUE in (base, value):
            return (delta, percent) == (NO_VALUE, NO_VALUE)
        if UNDEFINED in (base, value):
            return (delta, percent) == (UNDEFINED, UNDEFINED)
        return is_possible(base, value, delta, percent, width)

    def format_sample_count(self, count: int) -> str:
        """Raise AssayError: tables of this style have no sample counts."""
        raise fail("no-sample-counts", f"the number style `{self.name}` has no sample counts", found=str(count))


def format_value(value: float | None, width: int) -> str:
    """Return the value of a metric, with up to `width` + 1 decimals."""
    return NO_VALUE if value is None else format_number(value, width + 1)


def format_delta(base: float | None, value: float | None) -> str:
    """Return value - base with 3 decimals; below 0.0001 only the sign is left: `0.000`, `-0.000`."""
    if base is None or value is None:
        return NO_VALUE
    delta = value - base
    if abs(delta) < SMALL:
        return "-0.000" if delta < 0 else "0.000"
    return format_number(delta, DELTA_DECIMALS)


def format_percent(base: float | None, value: float | None) -> str:
    """Return 100 (value - base) / base: one decimal below 1, else none.

    `0` if the delta is small, `NaN` for a base of 0.
    """
    if base is None or value is None:
        return NO_VALUE
    if base == 0:
        return UNDEFINED
    delta = value - base
    if abs(delta) < SMALL:
        return "0"
    percent = 100 * delta / base
    return format_number(percent, 1 if abs(percent) < 1 else 0)
