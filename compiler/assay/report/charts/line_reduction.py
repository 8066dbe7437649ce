"""Reduce the points of lines that are too many to draw, so that their extremes stay.

The axis of time is divided into equal spans. Of each span, a line keeps its least and its greatest value, and of the
whole, its first and its last. Layers of a stack keep the instants at which their total is least and greatest. Points
are selected, never computed, so every drawn point is a measured one; of equal values the first is selected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

#: most points of the lines of a figure, not counting breaks
MAX_POINTS = 40_000
#: share of these for the line that is drawn over all others
FOREMOST_SHARE = 10

Line = Sequence[tuple[float, float | None]]
"""Points of a line; a point without a value breaks the line."""


def reduce_lines(
    lines: Mapping[str, Line], *, foremost: str = "", is_stacked: bool = False, limit: int = MAX_POINTS
) -> Mapping[str, Line]:
    """Return lines with at most `limit` points together, besides breaks; the same object if they have no more.

    Each line may have the same number of points (but at least 4), the line `foremost` a tenth of the limit.
    """
    if count_points(lines) <= limit:
        return lines
    xs = [x for points in lines.values() for x, y in points if y is not None]
    left, width = min(xs), max(xs) - min(xs)
    if is_stacked:
        return _reduce_layers(lines, left, width, _count_spans(limit // len(lines)))
    others = len(lines) - (foremost in lines)
    foremost_share = limit // FOREMOST_SHARE if foremost in lines and others else limit
    share = (limit - foremost_share) // others if foremost in lines and others else limit // len(lines)
    return {
        name: _reduce_line(points, left, width, foremost_share if name == foremost else share)
        for name, points in lines.items()
    }


def count_points(lines: Mapping[str, Line]) -> int:
    """Return the number of points with a value."""
    return sum(y is not None for points in lines.values() for _, y in points)


def _count_spans(max_points: int) -> int:
    """Return the number of spans whose extremes, with both ends of the line, are at most `max_points` points."""
    return max(1, (max_points - 2) // 2)


def _reduce_line(points: Line, left: float, width: float, max_points: int) -> Line:
    if count_points({"": points}) <= max_points:
        return points
    return select_extremes(points, left, width, _count_spans(max_points))


def select_extremes(points: Line, left: float, width: float, spans: int) -> list[tuple[float, float | None]]:
    """Return the first and last point with a value, and the least and greatest of each span of the axis.

    Their order stays. Where the line breaks between two of them, the first break stays.
    """
    extremes: dict[int, tuple[int, float, int, float]] = {}  # by span: index and value of the least and the greatest
    ends: list[int] = []
    for index, (x, y) in enumerate(points):
        if y is None:
            continue
        ends[1:] = [index]
        span = _find_span(x, left, width, spans)
        least_index, least, greatest_index, greatest = extremes.get(span, (index, y, index, y))
        if y < least:
            least_index, least = index, y
        if y > greatest:
            greatest_index, greatest = index, y
        extremes[span] = least_index, least, greatest_index, greatest
    selected = {*ends, *(index for least, _, greatest, _ in extremes.values() for index in (least, greatest))}
    return _keep_breaks(points, sorted(selected))


def _find_span(x: float, left: float, width: float, spans: int) -> int:
    """Return the number of the span that a place of the axis is in; its end belongs to the last one."""
    return min(int((x - left) / width * spans), spans - 1) if width else 0


def _keep_breaks(points: Line, selected: Sequence[int]) -> list[tuple[float, float | None]]:
    """Return the points with these indexes, and the first break between any two of them."""
    breaks = [index for index, (_, y) in enumerate(points) if y is None]
    kept_points: list[tuple[float, float | None]] = []
    next_break, previous = 0, -1
    for index in selected:
        while next_break < len(breaks) and breaks[next_break] < previous:
            next_break += 1
        if kept_points and next_break < len(breaks) and breaks[next_break] < index:
            kept_points.append(points[breaks[next_break]])
        kept_points.append(points[index])
        previous = index
    return kept_points


def _reduce_layers(lines: Mapping[str, Line], left: float, width: float, spans: int) -> Mapping[str, Line]:
    """Return the layers of a stack at the instants at which their total is least or greatest in its span."""
    values_by_x: dict[float, list[float]] = {}
    for points in lines.values():
        for x, y in points:
            values_by_x.setdefault(x, []).append(y or 0.0)
    totals = [(x, math.fsum(values)) for x, values in sorted(values_by_x.items())]
    instants = {x for x, _ in select_extremes(totals, left, width, spans)}
    return {name: [point for point in points if point[0] in instants] for name, points in lines.items()}
