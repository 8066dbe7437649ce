"""Format chart points: the centile, then the value cut to the metric's field width.

A metric that is summarized over hosts has five values at a centile: the median, least and greatest of the hosts, and
the median less and plus the standard deviation. A chart plots the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import floor

from assay.number_styles.exact_decimal import cut_text, drop_leading_zero, format_decimal, format_exact

_PICOSECOND_DIGITS = 12
_PICOSECONDS: int = 10**_PICOSECOND_DIGITS
_IN_NANOSECOND = 1000
_UNSIGNED_VALUES = 2**64


class PointKind(StrEnum):
    """How the values of a metric are written: nanoseconds as exact seconds, real numbers, or integers."""

    DURATION = "duration"
    RATIO = "ratio"
    COUNT = "count"
    INTEGER = "integer"
    """Like a count, but may be negative; a negative count is written as an unsigned 64-bit number."""


@dataclass(frozen=True, slots=True)
class HostSpread:
    """The values of hosts at one centile.  Durations are integers in nanoseconds, but `deviation` is in seconds."""

    median: float
    least: float
    greatest: float
    deviation: float


def format_centile(centile: float) -> str:
    """Return the centile as decimal text: `0.5`, `1.0`."""
    return format_decimal(centile)


def format_point(kind: PointKind, value: float, width: int) -> str:
    """Return the text of one value.

    Durations (in nanoseconds) are exact and cut, ratios are cut, and integers are complete or marked by `>`.
    """
    if kind is PointKind.RATIO:
        return _format_ratio(value, width)
    if kind is PointKind.DURATION:
        return _format_duration(int(value) * _IN_NANOSECOND, width)
    return format_integer(int(value), width)


def format_host_point(
    kind: PointKind, spread: HostSpread, width: int, *, reciprocal_points: bool = False
) -> tuple[str, ...]:
    """Return the texts of median, least, greatest, median less deviation, and median plus deviation.

    `reciprocal_points` is a compatibility choice: 1 / (1 / x) replaces the median and the deviation, which can change
    their last digits.
    """
    if kind is PointKind.RATIO:
        return _format_ratios(spread, width, reciprocal_points)
    if kind is PointKind.DURATION:
        return _format_durations(spread, width, reciprocal_points)
    return _format_integers(spread, width, reciprocal_points, signed=kind is PointKind.INTEGER)


def format_integer(number: int, width: int) -> str:
    """Return an integer; one longer than the width becomes its first `width` - 1 characters and `>`."""
    text = str(number)
    return text if len(text) <= width else text[: width - 1] + ">"


def invert_twice(number: float) -> float:
    """Return 1 / (1 / number) in doubles, which may differ from `number` in the last bit; 0 stays 0."""
    return 1 / (1 / float(number)) if number else number


def invert_picoseconds_twice(seconds: float) -> int:
    """Return 1 / (1 / seconds) in integer picoseconds; 0 stays 0.

    The inner quotient is a double, floored to 12 decimals; the outer quotient is exact and floored.
    """
    if not seconds:
        return 0
    inverse = floor(Fraction(1 / seconds) * _PICOSECONDS)
    # The inverse of more than 1e12 s is 0 in 12 decimals: such a value stays as it is.
    return _PICOSECONDS * _PICOSECONDS // inverse if inverse else floor(Fraction(seconds) * _PICOSECONDS)


def wrap_unsigned(number: int) -> int:
    """Return a number as unsigned 64 bits.

    Compatibility choice: a median less the deviation wraps around below 0.
    """
    return number % _UNSIGNED_VALUES


def _format_ratios(spread: HostSpread, width: int, reciprocal_points: bool) -> tuple[str, ...]:
    median, deviation = spread.median, spread.deviation
    if reciprocal_points:
        median, deviation = invert_twice(median), invert_twice(deviation)
    items = (median, spread.least, spread.greatest, median - deviation, median + deviation)
    return tuple(_format_ratio(item, width) for item in items)


def _format_durations(spread: HostSpread, width: int, reciprocal_points: bool) -> tuple[str, ...]:
    median, least, greatest = (int(item) * _IN_NANOSECOND for item in (spread.median, spread.least, spread.greatest))
    deviation = floor(Fraction(spread.deviation) * _PICOSECONDS)
    if reciprocal_points:
        median = invert_picoseconds_twice(median / _PICOSECONDS)
        deviation = invert_picoseconds_twice(spread.deviation)
    items = (median, least, greatest, median - deviation, median + deviation)
    return tuple(_format_duration(item, width) for item in items)


def _format_integers(spread: HostSpread, width: int, reciprocal_points: bool, signed: bool) -> tuple[str, ...]:
    median, least, greatest = (int(item) for item in (spread.median, spread.least, spread.greatest))
    deviation = round(spread.deviation)
    if reciprocal_points:
        median, deviation = round(invert_twice(median)), round(invert_twice(spread.deviation))
    items = (median, least, greatest, median - deviation, median + deviation)
    return tuple(format_integer(item if signed else wrap_unsigned(item), width) for item in items)


def _format_ratio(number: float, width: int) -> str:
    return cut_text(drop_leading_zero(format_decimal(number)), width)


def _format_duration(picoseconds: int, width: int) -> str:
    return cut_text(drop_leading_zero(format_exact(picoseconds, _PICOSECOND_DIGITS)), width)
