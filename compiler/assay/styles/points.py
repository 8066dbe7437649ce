"""Texts of chart points: the centile, then the value cut to the metric's field width.

A metric that is summarised host by host has five values at a centile: the hosts' median, least, greatest, and
the median less and plus the standard deviation. A chart plots the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import floor

from assay.styles.exact_decimal import cut, decimal_text, exact_text, without_leading_zero

_PICOSECOND_DIGITS = 12
_PICOSECONDS: int = 10**_PICOSECOND_DIGITS
_IN_NANOSECOND = 1000
_UNSIGNED_VALUES = 2**64


class PointKind(StrEnum):
    """How a metric's values are written: whole nanoseconds as exact seconds, real numbers, whole numbers."""

    DURATION = "duration"
    RATIO = "ratio"
    COUNT = "count"
    INTEGER = "integer"
    """As a count, but may be negative; a count below 0 is written as the 64 bits that hold it."""


@dataclass(frozen=True, slots=True)
class HostSpread:
    """One centile over the hosts. Durations are whole nanoseconds, but the deviation is in seconds."""

    median: float
    least: float
    greatest: float
    deviation: float


def centile_text(centile: float) -> str:
    """The centile as decimal text: `0.5`, `1.0`."""
    return decimal_text(centile)


def point_text(kind: PointKind, value: float, width: int) -> str:
    """One value: durations (nanoseconds) exact and cut, ratios cut, whole numbers whole or marked by `>`."""
    if kind is PointKind.RATIO:
        return _ratio_text(value, width)
    if kind is PointKind.DURATION:
        return _duration_text(int(value) * _IN_NANOSECOND, width)
    return integer_text(int(value), width)


def host_point_texts(
    kind: PointKind, spread: HostSpread, width: int, *, reciprocal_points: bool = False
) -> tuple[str, ...]:
    """Median, least, greatest, median less deviation, median plus deviation.

    `reciprocal_points` is a compatibility choice: 1 / (1 / x) stands for the median and for the deviation, so
    that their last digits can change.
    """
    if kind is PointKind.RATIO:
        return _ratio_texts(spread, width, reciprocal_points)
    if kind is PointKind.DURATION:
        return _duration_texts(spread, width, reciprocal_points)
    return _integer_texts(spread, width, reciprocal_points, signed=kind is PointKind.INTEGER)


def integer_text(number: int, width: int) -> str:
    """A whole number; one longer than the width is its first `width` - 1 characters and `>`."""
    text = str(number)
    return text if len(text) <= width else text[: width - 1] + ">"


def inverted_twice(number: float) -> float:
    """1 / (1 / number) in doubles, which may differ from `number` in the last bit; 0 stays 0."""
    return 1 / (1 / float(number)) if number else number


def picoseconds_inverted_twice(seconds: float) -> int:
    """1 / (1 / seconds) in whole picoseconds; 0 stays 0.

    The inner quotient is a double, floored to 12 decimals; the outer one that of two such numbers.
    """
    if not seconds:
        return 0
    inverse = floor(Fraction(1 / seconds) * _PICOSECONDS)
    # More than 1e12 s have no inverse of 12 decimals: they are left alone.
    return _PICOSECONDS * _PICOSECONDS // inverse if inverse else floor(Fraction(seconds) * _PICOSECONDS)


def wrapped(number: int) -> int:
    """A number as unsigned 64 bits.

    Compatibility choice: a median less the deviation wraps around when it falls below 0.
    """
    return number % _UNSIGNED_VALUES


def _ratio_texts(spread: HostSpread, width: int, reciprocal_points: bool) -> tuple[str, ...]:
    median, deviation = spread.median, spread.deviation
    if reciprocal_points:
        median, deviation = inverted_twice(median), inverted_twice(deviation)
    items = (median, spread.least, spread.greatest, median - deviation, median + deviation)
    return tuple(_ratio_text(item, width) for item in items)


def _duration_texts(spread: HostSpread, width: int, reciprocal_points: bool) -> tuple[str, ...]:
    median, least, greatest = (int(item) * _IN_NANOSECOND for item in (spread.median, spread.least, spread.greatest))
    deviation = floor(Fraction(spread.deviation) * _PICOSECONDS)
    if reciprocal_points:
        median = picoseconds_inverted_twice(median / _PICOSECONDS)
        deviation = picoseconds_inverted_twice(spread.deviation)
    items = (median, least, greatest, median - deviation, median + deviation)
    return tuple(_duration_text(item, width) for item in items)


def _integer_texts(spread: HostSpread, width: int, reciprocal_points: bool, signed: bool) -> tuple[str, ...]:
    median, least, greatest = (int(item) for item in (spread.median, spread.least, spread.greatest))
    deviation = round(spread.deviation)
    if reciprocal_points:
        median, deviation = round(inverted_twice(median)), round(inverted_twice(spread.deviation))
    items = (median, least, greatest, median - deviation, median + deviation)
    return tuple(integer_text(item if signed else wrapped(item), width) for item in items)


def _ratio_text(number: float, width: int) -> str:
    return cut(without_leading_zero(decimal_text(number)), width)


def _duration_text(picoseconds: int, width: int) -> str:
    return cut(without_leading_zero(exact_text(picoseconds, _PICOSECOND_DIGITS)), width)
