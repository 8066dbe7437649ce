"""Render grids: a row for each case, a column for each scatter and timeline."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.blocks.grid import Grid
from assay.lang.blocks.scatter import Scatter
from assay.lang.blocks.timeline import Timeline
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, ShownRun, register_renderer
from assay.report.blocks.scatter import COARSE, Point, frame_points, thin_points
from assay.report.blocks.timeline import MEAN, collect_lines, describe_reduced_lines, frame_lines
from assay.report.charts.line_reduction import MAX_POINTS, Line, count_points, reduce_lines
from assay.report.document import Plot, Value
from assay.report.run_results import add_unit, add_unit_if_missing

#: with more runs than this, pages are in landscape format
PORTRAIT_COLUMNS = 4
#: columns of a grid on a landscape page
LANDSCAPE_COLUMNS = 8


@register_renderer(Grid, position=30)
def render(context: RenderContext, items: Sequence[Grid]) -> RenderedBlocks:
    """Render the drawings of each grid; only runs that are cases have rows."""
    if not context.cases:
        constant = context.article.cases
        return RenderedBlocks(notes=(f"Nothing to show: the constant `{constant}` is empty in all runs.",))
    max_columns = LANDSCAPE_COLUMNS if len(context.all_runs) > PORTRAIT_COLUMNS else PORTRAIT_COLUMNS
    plots = [
        plot
        for count, grid in enumerate(items, start=1)
        for plot in build_grid_plots(context, grid, context.cases, max_columns, f"{context.place}-{count}")
    ]
    numbered_plots = tuple(dataclasses.replace(plot, figure=next(context.figure_numbers)) for plot in plots)
    return RenderedBlocks(wide=numbered_plots, gaps=tuple(describe_reduced_lines(numbered_plots)))


def find_isolated_points(points: Line) -> Iterator[tuple[float, float | None]]:
    """Yield the points of a line without neighbours, which no stroke shows."""
    values = [None, *(y for _, y in points), None]
    for previous_y, point, next_y in zip(values, points, values[2:], strict=False):
        if point[1] is not None and previous_y is None and next_y is None:
            yield point


@dataclass(frozen=True, slots=True)
class Panel:
    """A column of a grid: its title, and for each case either points and their mean, or lines.

    `edges` are points that make the axes of all cases the same; `shows` are the ids of metrics and series.
    `reduced_from` is the number of points of the lines if only some of them are drawn, else 0.
    """

    title: str
    edges: Sequence[Point]
    points: Sequence[Sequence[Point]] = ()
    levels: Sequence[float | None] = ()
    lines: Sequence[Mapping[str, Line]] = ()
    shows: tuple[str, ...] = ()
    reduced_from: int = 0


def build_grid_plots(
    context: RenderContext, grid: Grid, cases: Sequence[ShownRun], max_columns: int, plot_number: str
) -> Iterator[Plot]:
    """Yield the drawings of a grid, with at most `max_columns` columns each."""
    panels = [_build_scatter_panel(context, grid, item, cases) for item in grid.scatters]
    panels += [_build_timeline_panel(context, grid, item, cases) for item in grid.timelines]
    part_count = -(-len(panels) // max_columns)
    part_size = -(-len(panels) // max(part_count, 1))
    for part in range(part_count):
        part_panels = panels[part * part_size : (part + 1) * part_size]
        names = ", ".join(panel.title for panel in part_panels)
        yield Plot(
            f"grid-{plot_number}-{part + 1}",
            1,
            grid.title if part == 0 else f"{grid.title}, continued",
            "",
            f"Columns: {names}; rows: {', '.join(case.label for case in cases)}",
            grid.template,
            ("case", "panel", "x", "y", "line", "mark", "text"),
            tuple(_list_grid_rows(part_panels, [case.label for case in cases])),
            tuple(panel.title for panel in part_panels),
            tuple(case.label for case in cases),
            shows=tuple(dict.fromkeys(name for panel in part_panels for name in panel.shows)),
            reduced_from=sum(panel.reduced_from for panel in part_panels),
        )


def _list_grid_rows(panels: Sequence[Panel], cases: Sequence[str]) -> Iterator[tuple[Value, ...]]:
    """Yield case, panel, x, y, line, mark (edge, point, level, line or mean; panel and case for names), and name."""
    for panel in panels:
        yield cases[0], panel.title, None, None, None, "panel", panel.title
        for case in cases:
            yield from ((case, panel.title, x, y, None, "edge", None) for x, y in panel.edges)
        for case, points in zip(cases, panel.points, strict=False):
            yield from ((case, panel.title, x, y, None, "point", None) for x, y in points)
        for case, level in zip(cases, panel.levels, strict=False):
            if level is not None:
                yield case, panel.title, None, level, None, "level", None
        for case, lines_by_name in zip(cases, panel.lines, strict=False):
            for line, line_points in lines_by_name.items():
                mark = "mean" if line == MEAN else "line"
                yield from ((case, panel.title, x, y, line, mark, None) for x, y in line_points)
                if line != MEAN:
                    yield from (
                        (case, panel.title, x, y, None, "point", None) for x, y in find_isolated_points(line_points)
                    )
    if panels:
        yield from ((case, panels[0].title, None, None, None, "case", case) for case in cases)


def _build_scatter_panel(context: RenderContext, grid: Grid, scatter: Scatter, cases: Sequence[ShownRun]) -> Panel:
    """Build a panel with all points of each run, or those of the chosen row."""
    points_by_case = [_list_points(context, grid, scatter, case) for case in cases]
    drawn_points = [points for points in points_by_case if points]
    symbol = context.checked.get_metric(scatter.y).unit.symbol
    return Panel(
        add_unit(scatter.title, symbol),
        frame_points(drawn_points) if drawn_points else (),
        points=[thin_points(points, COARSE) if points else [] for points in points_by_case],
        levels=[math.fsum(y for _, y in points) / len(points) if points else None for points in points_by_case],
        shows=(scatter.y, scatter.x),
    )


def _list_points(context: RenderContext, grid: Grid, scatter: Scatter, shown_run: ShownRun) -> list[Point]:
    request, _ = block_rows.request_block_rows(context.checked, scatter)
    x, y = context.checked.get_metric(scatter.x), context.checked.get_metric(scatter.y)
    chosen_row = context.find_row(grid.choice, shown_run.run)
    if grid.choice and chosen_row is None:
        return []
    rows = block_rows.get_rows(shown_run.run, request)
    pairs = (
        (context.compute_metric(x, row), context.compute_metric(y, row))
        for row in rows
        if chosen_row is None or row[scatter.per] == chosen_row[scatter.per]
    )
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _build_timeline_panel(context: RenderContext, grid: Grid, item: Timeline, cases: Sequence[ShownRun]) -> Panel:
    """Build a panel with the lines of each run in the time of the chosen row."""
    series = next(candidate for candidate in context.checked.package.series if candidate.name == item.series)
    lines_by_case = [collect_lines(context, dataclasses.replace(item, choice=grid.choice), case) for case in cases]
    edges = frame_lines([case_lines for case_lines in lines_by_case if case_lines], is_stacked=False)
    all_lines = [case_lines.lines if case_lines else {} for case_lines in lines_by_case]
    drawn_lines = [reduce_lines(lines, foremost=MEAN, limit=MAX_POINTS // len(cases)) for lines in all_lines]
    is_reduced = any(drawn is not lines for drawn, lines in zip(drawn_lines, all_lines, strict=True))
    return Panel(
        add_unit_if_missing(item.title, series.unit.symbol),
        edges,
        lines=drawn_lines,
        shows=(item.series,),
        reduced_from=sum(map(count_points, all_lines)) if is_reduced else 0,
    )
