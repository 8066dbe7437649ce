"""Render grids: a row for each case, a column for each scatter and timeline."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.blocks.grid import Grid
from assay.lang.blocks.scatter import Scatter
from assay.lang.blocks.timeline import Timeline
from assay.report.blocks import rows as asked
from assay.report.blocks.context import RenderContext, Rendered, ShownRun, renders
from assay.report.blocks.scatter import COARSE, Point, frame_points, thin_points
from assay.report.blocks.timeline import MEAN, Line, frame_lines, lines
from assay.report.document import Plot, Value
from assay.report.run_results import named_once, row_label

#: with more runs than this, pages are laid down
UPRIGHT = 4
#: columns of a grid on a page that is laid down
LAID = 8


@renders(Grid, position=30)
def render(context: RenderContext, items: Sequence[Grid]) -> Rendered:
    """Render the drawings of each grid; of runs that are no cases there is nothing to show."""
    if not context.cases:
        constant = context.article.cases
        return Rendered(notes=(f"Nothing to show: no run tells a case of its own (constant `{constant}`).",))
    most = LAID if len(context.all_runs) > UPRIGHT else UPRIGHT
    plots = [
        plot
        for count, grid in enumerate(items, start=1)
        for plot in grids(context, grid, context.cases, most, f"{context.place}-{count}")
    ]
    return Rendered(wide=tuple(dataclasses.replace(plot, figure=next(context.numbers)) for plot in plots))


def alone(points: Line) -> Iterator[tuple[float, float | None]]:
    """The points of a line that have none before and none behind them: no stroke shows these."""
    values = [None, *(y for _, y in points), None]
    for before, point, behind in zip(values, points, values[2:], strict=False):
        if point[1] is not None and before is None and behind is None:
            yield point


@dataclass(frozen=True, slots=True)
class Panel:
    """A column of a grid: its title, and what stands in it for each case: points and their mean, or
    lines; `shows` are the ids of metrics and series."""

    title: str
    edges: Sequence[Point]
    points: Sequence[Sequence[Point]] = ()
    levels: Sequence[float | None] = ()
    lines: Sequence[Mapping[str, Line]] = ()
    shows: tuple[str, ...] = ()


def grids(context: RenderContext, grid: Grid, cases: Sequence[ShownRun], most: int, place: str) -> Iterator[Plot]:
    """The drawings of a grid, with so many columns each at most."""
    panels = [_scattered(context, grid, item, cases) for item in grid.scatters]
    panels += [_lined(context, grid, item, cases) for item in grid.timelines]
    parts = -(-len(panels) // most)
    size = -(-len(panels) // max(parts, 1))
    for part in range(parts):
        held = panels[part * size : (part + 1) * size]
        names = ", ".join(panel.title for panel in held)
        yield Plot(
            f"grid-{place}-{part + 1}",
            1,
            grid.title if part == 0 else f"{grid.title}, continued",
            "",
            f"{names}, a column each; a row for each of {', '.join(shown.label for shown in cases)}",
            grid.template,
            ("case", "panel", "x", "y", "line", "mark", "text"),
            tuple(_grid_rows(held, [shown.label for shown in cases])),
            tuple(panel.title for panel in held),
            tuple(shown.label for shown in cases),
            shows=tuple(dict.fromkeys(name for panel in held for name in panel.shows)),
        )


def _grid_rows(panels: Sequence[Panel], cases: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """Case, panel, x, y, line, what it is (edge, point, level, line, mean; of names: panel, case), a name."""
    for panel in panels:
        yield cases[0], panel.title, None, None, None, "panel", panel.title
        for case in cases:
            yield from ((case, panel.title, x, y, None, "edge", None) for x, y in panel.edges)
        for case, points in zip(cases, panel.points, strict=False):
            yield from ((case, panel.title, x, y, None, "point", None) for x, y in points)
        for case, level in zip(cases, panel.levels, strict=False):
            if level is not None:
                yield case, panel.title, None, level, None, "level", None
        for case, held in zip(cases, panel.lines, strict=False):
            for line, found in held.items():
                mark = "mean" if line == MEAN else "line"
                yield from ((case, panel.title, x, y, line, mark, None) for x, y in found)
                if line != MEAN:
                    yield from ((case, panel.title, x, y, None, "point", None) for x, y in alone(found))
    if panels:
        yield from ((case, panels[0].title, None, None, None, "case", case) for case in cases)


def _scattered(context: RenderContext, grid: Grid, scatter: Scatter, cases: Sequence[ShownRun]) -> Panel:
    """All points of each run, or those of the chosen row."""
    found = [_points(context, grid, scatter, shown) for shown in cases]
    there = [points for points in found if points]
    symbol = context.checked.metric(scatter.y).unit.symbol
    return Panel(
        row_label(scatter.title, symbol),
        frame_points(there) if there else (),
        points=[thin_points(points, COARSE) if points else [] for points in found],
        levels=[math.fsum(y for _, y in points) / len(points) if points else None for points in found],
        shows=(scatter.y, scatter.x),
    )


def _points(context: RenderContext, grid: Grid, scatter: Scatter, shown: ShownRun) -> list[Point]:
    listed, _ = asked.listed_of(context.checked, scatter)
    x, y = context.checked.metric(scatter.x), context.checked.metric(scatter.y)
    chosen = context.row(grid.choice, shown.run)
    if grid.choice and chosen is None:
        return []
    rows = asked.rows(shown.run, listed)
    pairs = (
        (context.number(x, row), context.number(y, row))
        for row in rows
        if chosen is None or row[scatter.per] == chosen[scatter.per]
    )
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _lined(context: RenderContext, grid: Grid, item: Timeline, cases: Sequence[ShownRun]) -> Panel:
    """The lines of each run in the time of the chosen row."""
    series = next(found for found in context.checked.package.series if found.name == item.series)
    held = [lines(context, dataclasses.replace(item, choice=grid.choice), shown) for shown in cases]
    edges = frame_lines([found for found in held if found], stacked=False)
    shown = [found.lines if found else {} for found in held]
    return Panel(named_once(item.title, series.unit.symbol), edges, lines=shown, shows=(item.series,))
