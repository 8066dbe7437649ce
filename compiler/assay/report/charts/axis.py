"""Axes of charts: range, scale, ticks and their labels.

A few extreme samples must not press the body of a distribution into a corner.  The rule: among the candidates
below, in this order, the first one in which the middle 90 % of the samples takes three tenths of the axis.

1. all values and the bands of the hosts;
2. all values;
3. the axis cut at the centile 0.999, 0.995, 0.99, 0.97, 0.95 of the run that reaches furthest: its upper end,
   then its lower end, then both.

Each is tried on a linear scale, then on a logarithmic one if all is positive and spans a decade or more.
When every one fails, or when the middle 90 % is one value, the axis shows all values, linear.  Positive
values whose middle 90 % spans two decades or more are tried on the logarithmic scale first.

Widths of labels are guessed by counting characters, as those of legends are: nothing measured enters a drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from assay.report.document import Series

BODY_SHARE = 0.3
BODY = (0.05, 0.95)
CUTS = (0.999, 0.995, 0.99, 0.97, 0.95)
#: the ends of what axes are made for; no measurement is beyond
LEAST, GREATEST = 1e-150, 1e150
#: an axis from one value to another that is no further away is of one value: doubles are hardly finer
FINEST = 1e-12


@dataclass(frozen=True, slots=True)
class Scale:
    """A finished x axis: `kind` is `linear` or `log`, `low` < `high` its ends, `ticks` within them."""

    kind: str
    low: float
    high: float
    ticks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Window:
    kind: str
    low: float
    high: float

    def share(self, body: tuple[float, float]) -> float:
        """How much of the axis, which is not empty, lies between two values."""
        low, high, left, right = (_position(self.kind, x) for x in (self.low, self.high, *body))
        return (min(right, high) - max(left, low)) / (high - low)


def _position(kind: str, x: float) -> float:
    return math.log10(x) if kind == "log" else x


def _measurable(x: float) -> float:
    """A number as far as an axis can be worked out for it: ratios and widths of these are doubles."""
    return 0.0 if abs(x) < LEAST else max(-GREATEST, min(x, GREATEST))


def _at(series: Series, centile: float) -> float:
    """The value at the greatest listed centile that is not above the asked one."""
    listed = [point[0] for point in series.points if point[1] <= centile]
    return _measurable(listed[-1] if listed else series.points[0][0])


def _reach(series: Sequence[Series], low: float, high: float) -> tuple[float, float]:
    """The values between two centiles, over all runs."""
    return min(_at(item, low) for item in series), max(_at(item, high) for item in series)


def extent(series: Sequence[Series]) -> tuple[float, float]:
    """The least and greatest of all plotted numbers, the hosts' bands included; without any, 0 and 1."""
    numbers = [_measurable(x) for item in series for p in item.points for x in (p[0], p[2], p[3]) if x is not None]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _ends(series: Sequence[Series]) -> Iterator[tuple[float, float]]:
    """The ends of the candidates' axes, in order of preference."""
    yield extent(series)
    yield _reach(series, 0.0, 1.0)
    for cut in CUTS:
        yield _reach(series, 0.0, cut)
        yield _reach(series, 1.0 - cut, 1.0)
        yield _reach(series, 1.0 - cut, cut)


def _kinds(body: tuple[float, float], low: float, high: float) -> tuple[str, ...]:
    if low <= 0 or high / low < 10:
        return ("linear",)
    return ("log", "linear") if body[1] / body[0] >= 100 else ("linear", "log")


def choose(series: Sequence[Series], asked: str = "auto") -> Scale:
    """The x axis for these runs; `asked` is `auto`, `linear` or `log`.

    `log` with a number that is not positive falls back to `auto`.  Without points the axis goes from 0 to 1.
    """
    present = [item for item in series if item.points]
    whole = extent(present)
    if asked == "linear" or (asked == "log" and whole[0] > 0):
        window = _Window(asked, *whole)
    else:
        window = _with_room(_first_readable(present), whole)
    return _finish(window, all(point[0] % 1 == 0 for item in present for point in item.points))


def _first_readable(series: Sequence[Series]) -> _Window:
    """The first candidate that gives the body its share of the axis."""
    body = _reach(series, *BODY) if series else (0.0, 0.0)
    if body[0] < body[1]:
        for low, high in _ends(series):
            for kind in _kinds(body, low, high):
                window = _Window(kind, low, high)
                if window.share(body) >= BODY_SHARE:
                    return window
    return _Window("linear", *extent(series))


def _with_room(window: _Window, whole: tuple[float, float]) -> _Window:
    """A cut axis goes on a little beyond the cut, so that no line runs along its end."""
    room = 0.04 * (window.high - window.low) if window.kind == "linear" else 0.0
    low = window.low - room if window.low > whole[0] else window.low
    return _Window(window.kind, low, window.high + room if window.high < whole[1] else window.high)


def _finish(window: _Window, whole_numbers: bool) -> Scale:
    if window.kind == "log" and window.low < window.high:
        return _log_axis(window)
    return _linear_axis(window, whole_numbers)


def _linear_axis(window: _Window, whole_numbers: bool) -> Scale:
    """Ends rounded outwards to whole steps; from zero on when the least value is near it.

    Where all values are whole numbers, so are the ticks.
    """
    low, high = window.low, window.high
    if high - low <= FINEST * max(abs(low), abs(high)):
        low, high = _around((low + high) / 2)
    if 0 < low <= 0.35 * high:
        low = 0.0
    step = max(_step(high - low), (1, 0), key=_size) if whole_numbers else _step(high - low)
    first, last = math.floor(_steps(low, step) + 1e-9), math.ceil(_steps(high, step) - 1e-9)
    ticks = tuple(_multiple(index, step) for index in range(first, last + 1))
    return Scale("linear", ticks[0], ticks[-1], ticks)


def _around(value: float) -> tuple[float, float]:
    """Ends for an axis that shows one value only."""
    if value == 0:
        return 0.0, 1.0
    return tuple(sorted((0.9 * value, 1.1 * value)))  # type: ignore[return-value]


def _step(width: float) -> tuple[int, int]:
    """A step (mantissa, exponent of ten) of 1, 2 or 5 x ten to some power: the least with 6 parts at most."""
    exponent = math.floor(math.log10(width)) - 1
    for power in (exponent, exponent + 1):
        for mantissa in (1, 2, 5):
            if width / (mantissa * 10.0**power) <= 6:
                return mantissa, power
    raise AssertionError("a step of the width itself always fits")


def _size(step: tuple[int, int]) -> float:
    return _multiple(1, step)


def _steps(x: float, step: tuple[int, int]) -> float:
    return x / _size(step)


def _multiple(index: int, step: tuple[int, int]) -> float:
    """index x step, as the double nearest to the decimal text (0.3, not 0.30000000000000004)."""
    return float(f"{index * step[0]}e{step[1]}")


def _log_axis(window: _Window) -> Scale:
    """Ends rounded outwards to 1, 2, 5 times a power of ten; ticks at the powers when there are three."""
    marks = _log_marks(window.low, window.high)
    low = max(x for x in marks if x <= window.low)
    high = min(x for x in marks if x >= window.high)
    inside = [x for x in marks if low <= x <= high]
    powers = [x for x in inside if f"{x:e}".startswith("1.000000e")]
    return Scale("log", low, high, tuple(powers if len(powers) >= 3 else inside))


def _log_marks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    return [float(f"{mantissa}e{power}") for power in range(first, last + 1) for mantissa in (1, 2, 5)]


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
