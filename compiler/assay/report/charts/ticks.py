"""Which ticks of an axis have labels, and how these are written.

Widths of labels are guessed by counting characters, as those of legends are: nothing measured enters a drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from assay.report.charts.axis_scale import Scale

#: from which value on labels have prefixes (k, M), and below which one, where they need more decimals, exponents
LARGE, SMALL, DECIMALS = 1e5, 1e-3, 6
#: the width of a label's character, and the least room between two labels, in pixels
CHARACTER, APART = 4.75, 4.0
_PREFIX = 3


@dataclass(frozen=True, slots=True)
class Room:
    """The width of an axis, and how far labels may reach beyond its ends, in pixels."""

    width: float
    left: float
    right: float


def labelled(scale: Scale, room: Room) -> Scale:
    """The scale with as many of its ticks, each so many from the one before, as have room for their labels."""
    for step in range(1, len(scale.ticks)):
        ticks = _within(scale, scale.ticks[::step], room)
        if ticks and _are_apart(scale, ticks, room):
            return replace(scale, ticks=ticks)
    return replace(scale, ticks=scale.ticks[:1])


def _within(scale: Scale, ticks: Sequence[float], room: Room) -> tuple[float, ...]:
    """The ticks whose labels do not reach beyond the drawing."""
    halves = [width / 2 for width in _widths(ticks)]
    places = [_place(scale, tick, room) for tick in ticks]
    return tuple(
        tick
        for tick, at, half in zip(ticks, places, halves, strict=True)
        if at - half >= -room.left and at + half <= room.width + room.right
    )


def _are_apart(scale: Scale, ticks: Sequence[float], room: Room) -> bool:
    placed = [(_place(scale, tick, room), width) for tick, width in zip(ticks, _widths(ticks), strict=True)]
    return all(there - here >= (left + right) / 2 + APART for (here, left), (there, right) in pairwise(placed))


def _place(scale: Scale, x: float, room: Room) -> float:
    """Where a value stands, in pixels from the axis' beginning."""
    low, high, at = (math.log10(y) if scale.kind == "log" else y for y in (scale.low, scale.high, x))
    return room.width * (at - low) / (high - low)


def _widths(ticks: Sequence[float]) -> list[float]:
    labels = [_label(tick, ticks) for tick in ticks]
    return [CHARACTER * (len(label) - label.count(".") / 2) for label in labels]  # a point is half as wide


def _label(x: float, ticks: Sequence[float]) -> str:
    """A text as long as the label of a tick, which the drawing's program writes."""
    written = tick_format(ticks)
    if written == "~r":
        return _plain(x)
    if written != "~s":
        return format(x, written.removeprefix("~"))
    largest = max(map(abs, ticks)) if _evenly_spaced(ticks) else abs(x)
    power = _PREFIX * (math.floor(math.log10(largest)) // _PREFIX) if largest else 0
    return _plain(x, power) + "k" if x else "0"


def _plain(x: float, power: int = 0) -> str:
    """A number in units of a power of ten, with all its digits and without an exponent."""
    return f"{Decimal(repr(x)).scaleb(-power).normalize():f}"


def tick_format(ticks: Sequence[float]) -> str:
    """The d3 format of tick labels: the decimals that the finest tick needs; from 1e5 on k, M and so on.

    Where all are small, or some of a logarithmic axis, exponents.
    """
    largest = max(map(abs, ticks), default=0.0)
    if largest >= LARGE:
        return "~s"
    decimals = max(map(_decimals, ticks), default=0)
    evenly = _evenly_spaced(ticks)
    if decimals > DECIMALS and (largest < SMALL or not evenly):
        return "~g"
    return f".{decimals}f" if evenly else "~r"


def _evenly_spaced(ticks: Sequence[float]) -> bool:
    gaps = [later - earlier for earlier, later in pairwise(ticks)]
    return not gaps or max(gaps) < 1.5 * min(gaps)


def _decimals(x: float) -> int:
    return max(0, -int(Decimal(repr(x)).normalize().as_tuple().exponent))
