"""Choose the axes of charts: range, scale, ticks and their labels.

A few extreme samples must not squeeze the body of a distribution into a corner. The axis is therefore the first of the
candidates below in which the middle 90 % of the samples covers three tenths of the axis.

1. all values and the bands of the hosts;
2. all values;
3. the axis cut at the centile 0.999, 0.995, 0.99, 0.97, 0.95 of the run that reaches furthest: its upper end,
   then its lower end, then both.

Each is tried on a linear scale, then on a logarithmic one if all values are positive and span a decade or more.
If every one fails, or the middle 90 % is a single value, the axis shows all values on a linear scale. Positive
values whose middle 90 % spans two decades or more are tried on the logarithmic scale first.

Widths of labels are estimated by counting characters, as for legends: no measured text affects a drawing.
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
#: limits of axes; no measurement is beyond them
LEAST, GREATEST = 1e-150, 1e150
#: relative width below which an axis shows a single value: doubles are hardly more precise
FINEST = 1e-12


@dataclass(frozen=True, slots=True)
class Scale:
    """A finished x axis: `kind` is `linear` or `log`, `low` < `high` are its ends, `ticks` lie within them."""

    kind: str
    low: float
    high: float
    ticks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Window:
    kind: str
    low: float
    high: float

    def compute_share(self, body: tuple[float, float]) -> float:
        """Return the part of the axis, which is not empty, that lies between two values."""
        low, high, left, right = (_to_scale(self.kind, x) for x in (self.low, self.high, *body))
        return (min(right, high) - max(left, low)) / (high - low)


def _to_scale(kind: str, x: float) -> float:
    return math.log10(x) if kind == "log" else x


def _limit_number(x: float) -> float:
    """Limit a number so that ratios and widths of an axis remain finite doubles."""
    return 0.0 if abs(x) < LEAST else max(-GREATEST, min(x, GREATEST))


def _get_value(series: Series, centile: float) -> float:
    """Return the value at the greatest listed centile that is at most `centile`."""
    listed = [point[0] for point in series.points if point[1] <= centile]
    return _limit_number(listed[-1] if listed else series.points[0][0])


def _find_range(series: Sequence[Series], low: float, high: float) -> tuple[float, float]:
    """Return the values between two centiles, over all runs."""
    return min(_get_value(item, low) for item in series), max(_get_value(item, high) for item in series)


def find_extent(series: Sequence[Series]) -> tuple[float, float]:
    """Return the least and greatest plotted number, including the hosts' bands; 0 and 1 without any."""
    numbers = [_limit_number(x) for item in series for p in item.points for x in (p[0], p[2], p[3]) if x is not None]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def _list_candidates(series: Sequence[Series]) -> Iterator[tuple[float, float]]:
    """Yield the ends of candidate axes, in order of preference."""
    yield find_extent(series)
    yield _find_range(series, 0.0, 1.0)
    for cut in CUTS:
        yield _find_range(series, 0.0, cut)
        yield _find_range(series, 1.0 - cut, 1.0)
        yield _find_range(series, 1.0 - cut, cut)


def _choose_kinds(body: tuple[float, float], low: float, high: float) -> tuple[str, ...]:
    if low <= 0 or high / low < 10:
        return ("linear",)
    return ("log", "linear") if body[1] / body[0] >= 100 else ("linear", "log")


def choose_scale(series: Sequence[Series], requested_kind: str = "auto") -> Scale:
    """Choose the x axis for runs; `requested_kind` is `auto`, `linear` or `log`.

    `log` falls back to `auto` if a number is not positive. Without points the axis goes from 0 to 1.
    """
    drawn_series = [item for item in series if item.points]
    whole = find_extent(drawn_series)
    if requested_kind == "linear" or (requested_kind == "log" and whole[0] > 0):
        window = _Window(requested_kind, *whole)
    else:
        window = _add_margin(_find_readable(drawn_series), whole)
    return _build_scale(window, all(point[0] % 1 == 0 for item in drawn_series for point in item.points))


def _find_readable(series: Sequence[Series]) -> _Window:
    """Return the first candidate in which the body has its share of the axis."""
    body = _find_range(series, *BODY) if series else (0.0, 0.0)
    if body[0] < body[1]:
        for low, high in _list_candidates(series):
            for kind in _choose_kinds(body, low, high):
                window = _Window(kind, low, high)
                if window.compute_share(body) >= BODY_SHARE:
                    return window
    return _Window("linear", *find_extent(series))


def _add_margin(window: _Window, whole: tuple[float, float]) -> _Window:
    """Extend a cut axis a little beyond the cut, so that no line runs along its end."""
    room = 0.04 * (window.high - window.low) if window.kind == "linear" else 0.0
    low = window.low - room if window.low > whole[0] else window.low
    return _Window(window.kind, low, window.high + room if window.high < whole[1] else window.high)


def _build_scale(window: _Window, whole_numbers: bool) -> Scale:
    if window.kind == "log" and window.low < window.high:
        return _build_log_scale(window)
    return _build_linear_scale(window, whole_numbers)


def _build_linear_scale(window: _Window, whole_numbers: bool) -> Scale:
    """Round the ends outwards to whole steps; start at zero if the least value is near it.

    If all values are whole numbers, so are the ticks.
    """
    low, high = window.low, window.high
    if high - low <= FINEST * max(abs(low), abs(high)):
        low, high = _choose_single_value_range((low + high) / 2)
    if 0 < low <= 0.35 * high:
        low = 0.0
    step = max(_choose_step(high - low), (1, 0), key=_get_size) if whole_numbers else _choose_step(high - low)
    first, last = math.floor(_count_steps(low, step) + 1e-9), math.ceil(_count_steps(high, step) - 1e-9)
    ticks = tuple(_multiply_step(index, step) for index in range(first, last + 1))
    return Scale("linear", ticks[0], ticks[-1], ticks)


def _choose_single_value_range(value: float) -> tuple[float, float]:
    """Return the ends of an axis that shows a single value."""
    if value == 0:
        return 0.0, 1.0
    return tuple(sorted((0.9 * value, 1.1 * value)))  # type: ignore[return-value]


def _choose_step(width: float) -> tuple[int, int]:
    """Return the least step (mantissa, exponent of ten) of 1, 2 or 5 times a power of ten with at most 6 parts."""
    exponent = math.floor(math.log10(width)) - 1
    for power in (exponent, exponent + 1):
        for mantissa in (1, 2, 5):
            if width / (mantissa * 10.0**power) <= 6:
                return mantissa, power
    raise AssertionError("a step of the width itself always fits")


def _get_size(step: tuple[int, int]) -> float:
    return _multiply_step(1, step)


def _count_steps(x: float, step: tuple[int, int]) -> float:
    return x / _get_size(step)


def _multiply_step(index: int, step: tuple[int, int]) -> float:
    """Return index x step as the double nearest to the decimal text (0.3, not 0.30000000000000004)."""
    return float(f"{index * step[0]}e{step[1]}")


def _build_log_scale(window: _Window) -> Scale:
    """Round the ends outwards to 1, 2, 5 times a power of ten; ticks are the powers if there are three."""
    marks = _list_log_marks(window.low, window.high)
    low = max(x for x in marks if x <= window.low)
    high = min(x for x in marks if x >= window.high)
    inside = [x for x in marks if low <= x <= high]
    powers = [x for x in inside if f"{x:e}".startswith("1.000000e")]
    return Scale("log", low, high, tuple(powers if len(powers) >= 3 else inside))


def _list_log_marks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    return [float(f"{mantissa}e{power}") for power in range(first, last + 1) for mantissa in (1, 2, 5)]


#: labels have prefixes (k, M) from LARGE on, and exponents below SMALL if they need more than DECIMALS decimals
LARGE, SMALL, DECIMALS = 1e5, 1e-3, 6
#: the width of a character of a label, and the least space between two labels, in pixels
CHARACTER, MIN_LABEL_DISTANCE = 4.75, 4.0
_PREFIX = 3


@dataclass(frozen=True, slots=True)
class Room:
    """The width of an axis, and how far labels may extend beyond its ends, in pixels."""

    width: float
    left: float
    right: float


def keep_fitting_labels(scale: Scale, room: Room) -> Scale:
    """Return the scale with every nth tick, for the least n with which the labels fit."""
    for step in range(1, len(scale.ticks)):
        ticks = _drop_outer_ticks(scale, scale.ticks[::step], room)
        if ticks and _do_labels_fit(scale, ticks, room):
            return replace(scale, ticks=ticks)
    return replace(scale, ticks=scale.ticks[:1])


def _drop_outer_ticks(scale: Scale, ticks: Sequence[float], room: Room) -> tuple[float, ...]:
    """Return the ticks whose labels fit into the drawing."""
    halves = [width / 2 for width in _estimate_widths(ticks)]
    positions = [_locate(scale, tick, room) for tick in ticks]
    return tuple(
        tick
        for tick, position, half in zip(ticks, positions, halves, strict=True)
        if position - half >= -room.left and position + half <= room.width + room.right
    )


def _do_labels_fit(scale: Scale, ticks: Sequence[float], room: Room) -> bool:
    labels = [(_locate(scale, tick, room), width) for tick, width in zip(ticks, _estimate_widths(ticks), strict=True)]
    return all(
        right_position - left_position >= (left + right) / 2 + MIN_LABEL_DISTANCE
        for (left_position, left), (right_position, right) in pairwise(labels)
    )


def _locate(scale: Scale, x: float, room: Room) -> float:
    """Return the position of a value, in pixels from the start of the axis."""
    low, high, position = (math.log10(y) if scale.kind == "log" else y for y in (scale.low, scale.high, x))
    return room.width * (position - low) / (high - low)


def _estimate_widths(ticks: Sequence[float]) -> list[float]:
    labels = [_format_label(tick, ticks) for tick in ticks]
    return [CHARACTER * (len(label) - label.count(".") / 2) for label in labels]  # a point is half as wide


def _format_label(x: float, ticks: Sequence[float]) -> str:
    """Return a text that is as long as the label of a tick; the renderer writes the label itself."""
    number_format = choose_tick_format(ticks)
    if number_format == "~r":
        return _format_plain(x)
    if number_format != "~s":
        return format(x, number_format.removeprefix("~"))
    largest = max(map(abs, ticks)) if _are_evenly_spaced(ticks) else abs(x)
    power = _PREFIX * (math.floor(math.log10(largest)) // _PREFIX) if largest else 0
    return _format_plain(x, power) + "k" if x else "0"


def _format_plain(x: float, power: int = 0) -> str:
    """Format a number in units of a power of ten, with all its digits and without an exponent."""
    return f"{Decimal(repr(x)).scaleb(-power).normalize():f}"


def choose_tick_format(ticks: Sequence[float]) -> str:
    """Return the d3 format of tick labels: the decimals that the finest tick needs; prefixes (k, M) from 1e5 on.

    Exponents if all ticks are small, or some of a logarithmic axis.
    """
    largest = max(map(abs, ticks), default=0.0)
    if largest >= LARGE:
        return "~s"
    decimals = max(map(_count_decimals, ticks), default=0)
    is_even = _are_evenly_spaced(ticks)
    if decimals > DECIMALS and (largest < SMALL or not is_even):
        return "~g"
    return f".{decimals}f" if is_even else "~r"


def _are_evenly_spaced(ticks: Sequence[float]) -> bool:
    gaps = [right - left for left, right in pairwise(ticks)]
    return not gaps or max(gaps) < 1.5 * min(gaps)


def _count_decimals(x: float) -> int:
    return max(0, -int(Decimal(repr(x)).normalize().as_tuple().exponent))
