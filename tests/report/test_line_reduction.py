"""Test the selection of points of lines that are too many to draw."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.report.charts.line_reduction import Line, count_points, reduce_lines, select_extremes

LIMIT = 60

values = st.one_of(st.none(), st.integers(-50, 50).map(float), st.floats(allow_nan=False, allow_infinity=False))


def create_line(ys: list[float | None]) -> Line:
    """Create a line with a point each second; breaks are between points."""
    return [(float(x), y) for x, y in enumerate(ys)]


lines_of_values = st.lists(values, max_size=120).map(create_line)


def find_span(x: float, length: float, spans: int) -> int:
    return min(int(x / length * spans), spans - 1)


def is_subsequence(points: Line, all_points: Line) -> bool:
    remaining = iter(all_points)
    return all(point in remaining for point in points)


@given(lines_of_values.filter(lambda line: any(y is not None for _, y in line)), st.integers(1, 9))
@example(create_line([1.0, 5.0, 5.0, -2.0, -2.0, 3.0]), 2)
def test_extremes_of_each_span_stay(line: Line, spans: int) -> None:
    length = 119.0
    drawn = select_extremes(line, 0.0, length, spans)
    assert is_subsequence(drawn, line)
    for span in range(spans):
        before, after = (
            [y for x, y in points if y is not None and find_span(x, length, spans) == span] for points in (line, drawn)
        )
        assert bool(before) == bool(after)
        if before:
            assert (min(before), max(before)) == (min(after), max(after))
    measured, drawn_points = ([point for point in points if point[1] is not None] for points in (line, drawn))
    assert (drawn_points[0], drawn_points[-1]) == (measured[0], measured[-1])
    assert len(drawn_points) <= 2 * spans + 2


@given(lines_of_values, st.integers(1, 9))
@example(create_line([1.0, None, 2.0, None, 3.0]), 1)
def test_lines_stay_broken(line: Line, spans: int) -> None:
    """Points with a break between them have exactly one, and others none."""
    drawn = select_extremes(line, 0.0, 119.0, spans)
    places = [index for index, (_, y) in enumerate(drawn) if y is not None]
    breaks = [x for x, y in line if y is None]
    for left, right in pairwise(places):
        is_broken = any(drawn[left][0] < x < drawn[right][0] for x in breaks)
        assert right - left - 1 == is_broken
    assert not drawn or drawn[0][1] is not None is not drawn[-1][1]


@given(st.dictionaries(st.sampled_from("abcdef"), lines_of_values, min_size=1))
def test_figures_have_at_most_the_limit(lines: dict[str, Line]) -> None:
    drawn = reduce_lines(lines, limit=LIMIT)
    assert (drawn is lines) == (count_points(lines) <= LIMIT)
    assert count_points(drawn) <= LIMIT
    assert list(drawn) == list(lines)
    assert drawn == reduce_lines(dict(reversed(lines.items())), limit=LIMIT)
    for name, line in lines.items():
        before, after = ([y for _, y in points if y is not None] for points in (line, drawn[name]))
        assert (min(before, default=0), max(before, default=0)) == (min(after, default=0), max(after, default=0))


@given(st.lists(st.lists(st.integers(-9, 9).map(float), min_size=40, max_size=40), min_size=2, max_size=5))
def test_layers_keep_the_extremes_of_their_total(layers: list[list[float]]) -> None:
    lines = {f"layer {number}": create_line(list(ys)) for number, ys in enumerate(layers)}
    drawn = reduce_lines(lines, is_stacked=True, limit=LIMIT)
    totals = {float(x): math.fsum(ys) for x, ys in enumerate(zip(*layers, strict=True))}
    (instants,) = {tuple(x for x, _ in line) for line in drawn.values()}
    assert {min(totals.values()), max(totals.values())} <= {totals[x] for x in instants}
    assert {0.0, 39.0} <= set(instants)
    assert count_points(drawn) <= LIMIT
    assert all(set(drawn[name]) <= set(lines[name]) for name in lines)


@pytest.mark.parametrize(
    ("foremost", "counts"),
    [("", [58, 58, 58]), ("mean", [78, 78, 16]), ("other", [58, 58, 58])],
    ids=["none", "mean", "unknown"],
)
def test_line_over_all_others_has_a_tenth(foremost: str, counts: list[int]) -> None:
    """Both ends are extremes here, so two of the points that a line may have are not used."""
    lines = {name: create_line([float(x) for x in range(100)]) for name in ("a", "b", "mean")}
    drawn = reduce_lines(lines, foremost=foremost, limit=180)
    assert [len(line) for line in drawn.values()] == counts
