"""Render grids: a row for each case, a column for each scatter and timeline."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.blocks.grid import Grid
from assay.lang.blocks.scatter import Scatter
from assay.lang.blocks.timeline import Timeline
from assay.lang.model.headings import add_unit_if_missing, format_column_heading, format_metric_heading
from assay.lang.model.package import Metric
from assay.number_styles.cell_text import print_number
from assay.number_styles.exact_decimal import format_rounded_fraction, to_fraction
from assay.number_styles.row import NO_VALUE
from assay.report.blocks import rows as block_rows
from assay.report.blocks.chosen_rows import describe_chosen_row, list_ties
from assay.report.blocks.context import (
    PORTRAIT_COLUMNS,
    RenderContext,
    RenderedBlocks,
    ShownRun,
    find_column,
    format_cell,
    register_renderer,
)
from assay.report.blocks.scatter import COARSE, Point, frame_points, thin_points
from assay.report.blocks.timeline import MEAN, Lines, collect_lines, describe_reduced_lines, frame_lines
from assay.report.cell_links import FACT, REPEATS, CellLink, CellSource, create_row_source
from assay.report.charts.line_reduction import MAX_POINTS, Line, count_points, reduce_lines
from assay.report.document import Plot, Value
from assay.report.glossary import get_column_id, get_constant_id
from assay.report.run_results import RunFigures, add_unit, list_own_names
from assay.report.tables import Mark, Table
from assay.util.escape import shorten
from assay.util.time_units import SECOND

#: columns of a grid on a landscape page
LANDSCAPE_COLUMNS = 8
STRONG = "strong"


@register_renderer(Grid)
def render(context: RenderContext, items: Sequence[Grid]) -> RenderedBlocks:
    """Render the drawings of each grid; only runs that are cases have rows."""
    if not context.cases:
        constant = context.report.cases
        return RenderedBlocks(notes=(f"Nothing to show: the constant `{constant}` is empty in all runs.",))
    max_columns = LANDSCAPE_COLUMNS if context.is_landscape else PORTRAIT_COLUMNS
    cases_by_grid = [[list_repeats_of_case(context, grid, case) for case in context.cases] for grid in items]
    plots = [
        plot
        for count, (grid, cases) in enumerate(zip(items, cases_by_grid, strict=True), start=1)
        for plot in build_grid_plots(grid, cases, max_columns, f"{context.place}-{count}")
    ]
    tables = (
        table
        for grid, cases in zip(items, cases_by_grid, strict=True)
        for scatter in grid.scatters
        if (table := build_repeats_table(context, grid, scatter, cases))
    )
    notes = (
        note
        for grid, cases in zip(items, cases_by_grid, strict=True)
        for note in _describe_unshown_rows(context, grid, cases)
    )
    numbered_plots = tuple(dataclasses.replace(plot, figure=next(context.figure_numbers)) for plot in plots)
    return RenderedBlocks(
        wide=numbered_plots,
        tables=(build_cases_table(context, cases_by_grid[0]), *tables),
        notes=tuple(notes),
        gaps=tuple(describe_reduced_lines(numbered_plots)),
    )


def build_cases_table(context: RenderContext, cases: Sequence[Case]) -> Table:
    """Build a table of the cases: the case and the label of each run, and its day."""
    report = context.report
    names = map(shorten, list_own_names(report.label, [case.run for case in cases]))
    rows = tuple((case.label, name, case.run.day) for case, name in zip(cases, names, strict=True))
    entries = (get_constant_id(report.cases), get_constant_id(report.label) if report.label else "")
    links = tuple(
        CellLink(y, x, FACT, (CellSource(entry, case.run.id),))
        for y, case in enumerate(cases)
        for x, entry in enumerate(entries)
        if entry
    )
    return Table("Cases", ("Case", "Version", "Date"), rows, of_columns=(*entries, ""), leads=links)


def _describe_unshown_rows(context: RenderContext, grid: Grid, cases: Sequence[Case]) -> Iterator[str]:
    """Yield how the repeats of cases are drawn, and which rows cases might show as well."""
    if any(case.is_repeated for case in cases):
        yield (
            "A case whose rows repeat shows every repeat: the points of all with the mean of their means, lines one "
            "after another. Each repeat has a drawing of its own, and a row in a table."
        )
    for case in cases:
        choice = context.report.get_choice(grid.choice) if grid.choice else None
        row = choice and context.find_row(choice.name, case.run)
        ties = list_ties(context.checked, context.report, choice, case.run, row) if choice and row else ()
        if choice and ties:
            descriptions = "; ".join(describe_chosen_row(choice, item) for item in ties)
            yield f"{grid.title}, {case.label}: not shown, though as good: {descriptions}."


@dataclass(frozen=True, slots=True)
class Case:
    """A row of a grid: a run with its label, and a context for each repeat of its chosen row, which has it as chosen.

    Without a choice, or if the run has no row of it, there is one context.
    """

    shown_run: ShownRun
    contexts: Sequence[RenderContext]

    @property
    def label(self) -> str:
        """The label of the case."""
        return self.shown_run.label

    @property
    def run(self) -> RunFigures:
        """The run of the case."""
        return self.shown_run.run

    @property
    def is_repeated(self) -> bool:
        """Whether the chosen row has repeats."""
        return len(self.contexts) > 1


def list_repeats_of_case(context: RenderContext, grid: Grid, shown_run: ShownRun) -> Case:
    """Return a row of a grid with the repeats of its chosen row."""
    repeats = context.find_repeats(grid.choice, shown_run.run) if grid.choice else ()
    contexts = [
        dataclasses.replace(context, rows_by_choice={**context.rows_by_choice, (grid.choice, shown_run.run.id): row})
        for row in repeats
    ]
    return Case(shown_run, contexts or [context])


def find_isolated_points(points: Line) -> Iterator[tuple[float, float | None]]:
    """Yield the points of a line without neighbours, which no stroke shows."""
    values = [None, *(y for _, y in points), None]
    for previous_y, point, next_y in zip(values, points, values[2:], strict=False):
        if point[1] is not None and previous_y is None and next_y is None:
            yield point


@dataclass(frozen=True, slots=True)
class Panel:
    """A column of a grid: its title, and for each case either points and their mean, or lines.

    The title has the unit of y, `x_label` the title of the x axis with its unit.
    `edges` are points that make the axes of all cases the same; `shows` are the ids of metrics and series.
    `reduced_from` is the number of points of the lines if only some of them are drawn, else 0.
    """

    title: str
    x_label: str
    edges: Sequence[Point]
    points: Sequence[Sequence[Point]] = ()
    levels: Sequence[float | None] = ()
    lines: Sequence[Mapping[str, Line]] = ()
    shows: tuple[str, ...] = ()
    reduced_from: int = 0


def build_grid_plots(grid: Grid, cases: Sequence[Case], max_columns: int, plot_number: str) -> Iterator[Plot]:
    """Yield the drawings of a grid, with at most `max_columns` columns each; then those of the repeats of each case."""
    panels = [_build_scatter_panel(grid, item, cases) for item in grid.scatters]
    panels += [_build_timeline_panel(grid, item, cases) for item in grid.timelines]
    yield from _draw_panels(grid, grid.title, _split_panels(panels, max_columns), cases, plot_number)
    if any(case.is_repeated for case in cases):
        for count, item in enumerate(grid.scatters, start=1):
            title = f"{grid.title}, {item.title.lower()} of each repeat"
            repeat_panels = _split_panels(list(_build_repeat_panels(grid, item, cases)), max_columns)
            yield from _draw_panels(grid, title, repeat_panels, cases, f"{plot_number}-repeats-{count}")


def _split_panels(panels: Sequence[Panel], max_columns: int) -> list[Sequence[Panel]]:
    """Return the panels of each plot, of like numbers, with at most `max_columns` columns."""
    part_count = -(-len(panels) // max_columns)
    part_size = -(-len(panels) // max(part_count, 1))
    return [panels[part * part_size : (part + 1) * part_size] for part in range(part_count)]


def _draw_panels(
    grid: Grid, title: str, parts: Sequence[Sequence[Panel]], cases: Sequence[Case], plot_number: str
) -> Iterator[Plot]:
    for part, part_panels in enumerate(parts):
        names = ", ".join(panel.title for panel in part_panels)
        yield Plot(
            f"grid-{plot_number}-{part + 1}",
            1,
            title if part == 0 else f"{title}, continued",
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
    """Yield case, panel, x, y, line, mark (edge, point, level, line, mean; panel, axis, case for names), and name."""
    for panel in panels:
        yield cases[-1], panel.title, None, None, None, "axis", panel.x_label
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


def _build_scatter_panel(grid: Grid, scatter: Scatter, cases: Sequence[Case]) -> Panel:
    """Build a panel with all points of each run, or those of the chosen row and its repeats."""
    points_by_case = [_list_points_by_repeat(grid, scatter, case) for case in cases]
    return _build_points_panel(
        _title_scatter(scatter, cases),
        scatter,
        cases,
        [[point for points in repeats for point in points] for repeats in points_by_case],
        [
            _compute_mean([mean for points in repeats if (mean := _compute_level(points)) is not None])
            for repeats in points_by_case
        ],
    )


def _build_repeat_panels(grid: Grid, scatter: Scatter, cases: Sequence[Case]) -> Iterator[Panel]:
    """Yield a panel for each repeat, all with the same axes; cases with fewer repeats leave some empty."""
    points_by_case = [_list_points_by_repeat(grid, scatter, case) for case in cases]
    drawn_points = [points for repeats in points_by_case for points in repeats if points]
    symbol = cases[0].contexts[0].checked.get_metric(scatter.y).unit.symbol
    for index in range(max(map(len, points_by_case))):
        points = [repeats[index] if index < len(repeats) else [] for repeats in points_by_case]
        panel = _build_points_panel(
            add_unit(f"Repeat {index + 1}", symbol), scatter, cases, points, list(map(_compute_level, points))
        )
        yield dataclasses.replace(panel, edges=frame_points(drawn_points) if drawn_points else ())


def _title_scatter(scatter: Scatter, cases: Sequence[Case]) -> str:
    return add_unit(scatter.title, cases[0].contexts[0].checked.get_metric(scatter.y).unit.symbol)


def _build_points_panel(
    title: str,
    scatter: Scatter,
    cases: Sequence[Case],
    points_by_case: Sequence[Sequence[Point]],
    levels: Sequence[float | None],
) -> Panel:
    drawn_points = [points for points in points_by_case if points]
    x = cases[0].contexts[0].checked.get_metric(scatter.x)
    return Panel(
        title,
        add_unit(x.name, x.unit.symbol),
        frame_points(drawn_points) if drawn_points else (),
        points=[thin_points(points, COARSE) if points else [] for points in points_by_case],
        levels=levels,
        shows=(scatter.y, scatter.x),
    )


def _compute_mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _compute_level(points: Sequence[Point]) -> float | None:
    """Return the mean of the points' values; None without points."""
    return _compute_mean([y for _, y in points])


def _list_points_by_repeat(grid: Grid, scatter: Scatter, case: Case) -> list[list[Point]]:
    return [_list_points(context, grid, scatter, case.shown_run) for context in case.contexts]


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


def _build_timeline_panel(grid: Grid, item: Timeline, cases: Sequence[Case]) -> Panel:
    """Build a panel with the lines of each run in the time of the chosen row and of its repeats."""
    checked = cases[0].contexts[0].checked
    series = next(candidate for candidate in checked.package.series if candidate.name == item.series)
    timeline = dataclasses.replace(item, choice=grid.choice)
    lines_by_case = [
        join_lines([lines for context in case.contexts if (lines := collect_lines(context, timeline, case.shown_run))])
        for case in cases
    ]
    edges = frame_lines([case_lines for case_lines in lines_by_case if case_lines], is_stacked=False)
    all_lines = [case_lines.lines if case_lines else {} for case_lines in lines_by_case]
    drawn_lines = [reduce_lines(lines, foremost=MEAN, limit=MAX_POINTS // len(cases)) for lines in all_lines]
    is_reduced = any(drawn is not lines for drawn, lines in zip(drawn_lines, all_lines, strict=True))
    return Panel(
        add_unit_if_missing(item.title, series.unit.symbol),
        "time, seconds",
        edges,
        lines=drawn_lines,
        shows=(item.series,),
        reduced_from=sum(map(count_points, all_lines)) if is_reduced else 0,
    )


def join_lines(repeats: Sequence[Lines]) -> Lines | None:
    """Return the lines of repeats in one time, which begins with the first of them, with breaks between repeats."""
    if len(repeats) < 2:
        return repeats[0] if repeats else None
    begin_ns = min(item.begin_ns for item in repeats)
    lines: dict[str, list[tuple[float, float | None]]] = {}
    length = 0.0
    for item in sorted(repeats, key=lambda item: item.begin_ns):
        offset = (item.begin_ns - begin_ns) / SECOND
        length = max(length, offset + item.length)
        for name, points in item.lines.items():
            line = lines.setdefault(name, [])
            if line and points:
                line.append(((line[-1][0] + offset + points[0][0]) / 2, None))
            line += ((x + offset, y) for x, y in points)
    return Lines(lines, length, begin_ns)


# Repeats of cases


def build_repeats_table(context: RenderContext, grid: Grid, scatter: Scatter, cases: Sequence[Case]) -> Table | None:
    """Build a table of the mean of a scatter's points in each repeat, and of the mean of these means in each case.

    `n` is the number of values that a mean is of: points or repeats. The deviation of the repeats, in percent of their
    mean, is that of a sample. None if no case has repeats.
    """
    if not any(case.is_repeated for case in cases):
        return None
    choice, metric = context.report.get_choice(grid.choice), context.checked.get_metric(scatter.y)
    columns = [find_column(block_rows.find_grain(context.checked, choice.grain), name) for name in choice.label]
    rows: list[tuple[str, ...]] = []
    marks: list[Mark] = []
    links: list[CellLink] = []
    for case in cases:
        sources, means, shown_rows = [], [], []
        for repeat_context, points in zip(case.contexts, _list_points_by_repeat(grid, scatter, case), strict=True):
            row, mean = repeat_context.find_row(choice.name, case.run), _compute_level(points)
            if row is None or mean is None:
                continue
            sources.append(create_row_source(metric.id, case.run.id, row, (scatter.per,)))
            means.append(mean)
            shown_rows.append(tuple(format_cell(column, row[column.name]) for column in columns))
            links.append(CellLink(len(rows), len(columns) + 1, REPEATS, (sources[-1],)))
            rows.append(
                (case.label, *shown_rows[-1], _format_mean(context, metric, mean), print_number(str(len(points))), "")
            )
        if len(means) > 1:
            mean = math.fsum(means) / len(means)
            links.append(CellLink(len(rows), len(columns) + 1, REPEATS, tuple(sources)))
            marks += [Mark(len(rows), x, STRONG) for x in range(len(columns) + 4)]
            common_keys = (texts[0] if len(set(texts)) == 1 else NO_VALUE for texts in zip(*shown_rows, strict=True))
            texts = _format_mean(context, metric, mean), print_number(str(len(means))), _format_deviation(means)
            rows.append((f"{case.label}, mean", *common_keys, *texts))
    header = (
        "Case",
        *map(format_column_heading, columns),
        format_metric_heading(metric),
        "n",
        "Deviation of repeats, %",
    )
    entries = ("", *(get_column_id(choice.grain, name) for name in choice.label), metric.id, "", "")
    return Table(
        f"{grid.title}: {scatter.title.lower()} of repeats",
        header,
        tuple(rows),
        tuple(marks),
        of_columns=entries,
        leads=tuple(links),
    )


def _format_mean(context: RenderContext, metric: Metric, mean: float) -> str:
    return context.number_style.format_table_row([mean], metric.width).cells[0]


def _format_deviation(means: Sequence[float]) -> str:
    """Return the deviation of some means, as of a sample, in percent of the amount of their mean."""
    mean = abs(math.fsum(means) / len(means))
    if not mean:
        return NO_VALUE
    return print_number(format_rounded_fraction(to_fraction(100 * statistics.stdev(means) / mean), 1))
