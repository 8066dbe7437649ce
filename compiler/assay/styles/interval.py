"""Closed intervals and convex regions of exact numbers: what is known of numbers with hidden digits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

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
