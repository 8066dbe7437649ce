"""Render timelines: series over time, the figures of several runs side by side."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.engine.point_rows import get_column, list_distinct
from assay.lang.blocks.timeline import Timeline
from assay.lang.chart_templates import MARKED
from assay.lang.model.headings import add_unit_if_missing
from assay.lang.model.series import Series
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, ShownRun, add_label_to_title, register_renderer
from assay.report.blocks.rows import Row
from assay.report.blocks.scatter import Point, format_file_name
from assay.report.charts import line_strokes
from assay.report.charts.line_reduction import Line, count_points, reduce_lines
from assay.report.charts.vega_spec import COLOURS, is_unnamed
from assay.report.document import Plot
from assay.report.run_results import RunFigures
from assay.util.numbers import format_count
from assay.util.time_units import SECOND

MEAN = line_strokes.MEAN
#: the column of a timeline's points that has the name of their line
LINE = "line"

#: room above the highest line, as a share of the axis
HEADROOM = 0.04

#: readings of intervals that add up records
ADDED = ("count", "sum")
#: distance of two values, in steps of the series, from which on samples between them are missing
GAP = 1.5
#: least length of an axis in seconds, its unit, and the seconds of that
DAY = 24 * 3600
UNITS = ((3.0 * DAY, "days", DAY), (2 * 3600.0, "hours", 3600), (600.0, "minutes", 60), (0.0, "seconds", 1))


@register_renderer(Timeline)
def render(context: RenderContext, items: Sequence[Timeline]) -> RenderedBlocks:
    """Render the figures of each timeline."""
    plots = context.number_plots(plot for item in items for plot in build_timeline_plots(context, item, context.runs))
    gaps = (
        *describe_missing_samples(context, items, context.runs),
        *describe_unclear_lines(plots),
        *describe_reduced_lines(plots),
    )
    return RenderedBlocks(plots, choices=tuple(item.choice for item in items), gaps=gaps)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a timeline in a run, in seconds since `begin_ns`, and their length in seconds."""

    lines: Mapping[str, Line] = field(default_factory=dict)
    length: float = 0.0
    begin_ns: int = 0

    @property
    def has_points(self) -> bool:
        """Whether any line has a point."""
        return any(self.lines.values())

    def compute_bounds(self, *, is_stacked: bool) -> tuple[float, float]:
        """Return the least and the greatest value; if stacked, 0 and the sums of all lines count."""
        values = [y for points in self.lines.values() for _, y in points if y is not None]
        if is_stacked:
            sums: dict[float, list[float]] = {}
            for points in self.lines.values():
                for x, y in points:
                    sums.setdefault(x, []).append(y or 0.0)
            values = [0.0, *(math.fsum(values_at_x) for values_at_x in sums.values())]
        return min(values, default=0.0), max(values, default=0.0)


def build_timeline_plots(context: RenderContext, item: Timeline, runs: Sequence[ShownRun]) -> list[Plot | None]:
    """Return the figure of each run, all with the same axes; None for a run without a row of the choice."""
    lines_by_run = [collect_lines(context, item, shown_run) for shown_run in runs]
    drawn_lines = [run_lines for run_lines in lines_by_run if run_lines and run_lines.has_points]
    if not drawn_lines:
        return []
    edges = frame_lines(drawn_lines, is_stacked=item.stacked)
    return [
        _build_timeline_plot(context, item, shown_run, run_lines, edges) if run_lines and run_lines.has_points else None
        for shown_run, run_lines in zip(runs, lines_by_run, strict=True)
    ]


def describe_missing_samples(
    context: RenderContext, items: Sequence[Timeline], runs: Sequence[ShownRun]
) -> Iterator[str]:
    """Yield sentences on figures without points."""
    for shown_run in runs:
        titles = [item.title for item in items if _lacks_samples(context, item, shown_run)]
        if titles:
            yield (
                "There are no samples of: "
                f"{', '.join(titles)}{f' ({shown_run.title_label})' if shown_run.title_label else ''}."
            )


def describe_unclear_lines(plots: Sequence[Plot | None]) -> Iterator[str]:
    """Yield sentences on figures in which printed lines have no legend or share a colour."""
    line_plots = [plot for plot in plots if plot and LINE in plot.columns]
    plots_without_legend = [str(plot.figure) for plot in line_plots if is_unnamed(plot.named or plot.panels)]
    plots_with_shared_colours = [
        str(plot.figure)
        for plot in line_plots
        if not plot.named and len([name for name in plot.panels if name != MEAN]) > COLOURS
    ]
    plots_with_grey_lines = [str(plot.figure) for plot in line_plots if plot.named]
    if plots_without_legend:
        yield f"Too many lines for a printed legend: {_format_figures(plots_without_legend)}."
    if plots_with_shared_colours:
        yield (
            f"More lines than colours ({COLOURS}), so that some share one: "
            f"{_format_figures(plots_with_shared_colours)}."
        )
    if plots_with_grey_lines:
        yield (
            f"More than {line_strokes.MOST_NAMED} lines, so that only those with the greatest and the least value have "
            f"colours and names, and the others are grey: {_format_figures(plots_with_grey_lines)}."
        )


def describe_reduced_lines(plots: Sequence[Plot | None]) -> Iterator[str]:
    """Yield a sentence on figures that draw only some points of their lines."""
    reduced_plots = [str(plot.figure) for plot in plots if plot and plot.reduced_from]
    if reduced_plots:
        yield (
            "Too many points to draw all, so that each line shows its least and its greatest value in equal spans of "
            f"time, and layers those at the least and the greatest total: {_format_figures(reduced_plots)}."
        )


def _format_figures(numbers: Sequence[str]) -> str:
    return f"figure{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def frame_lines(timeline_lines: Sequence[Lines], *, is_stacked: bool) -> tuple[Point, Point]:
    """Return two points that make the axes of several figures the same, with room above the highest line."""
    bounds = [lines.compute_bounds(is_stacked=is_stacked) for lines in timeline_lines]
    low, high = min((low for low, _ in bounds), default=0.0), max((high for _, high in bounds), default=0.0)
    high = high + HEADROOM * (high - min(low, 0.0)) or 1.0
    return (0.0, low), (max((lines.length for lines in timeline_lines), default=0.0), high)


def _build_timeline_plot(
    context: RenderContext, item: Timeline, shown_run: ShownRun, timeline_lines: Lines, edges: Sequence[Point]
) -> Plot:
    series = next(candidate for candidate in context.checked.package.series if candidate.name == item.series)
    names = [
        "series",
        format_file_name(shown_run.run.id),
        format_file_name(item.choice),
        item.series,
        "mean" if item.alone else "",
    ]
    file_name = "-".join(name for name in names if name)
    caption = Caption(file_name, item.title, series.unit.symbol, item.template, (item.series,), item.stacked)
    return build_line_plot(context, caption, shown_run, timeline_lines, edges)


@dataclass(frozen=True, slots=True)
class Caption:
    """What identifies a figure of lines: file name, title, symbol of the unit, template, what it shows."""

    file_name: str
    title: str
    symbol: str
    template: str
    shows: tuple[str, ...]
    is_stacked: bool = False


def build_line_plot(
    context: RenderContext, caption: Caption, shown_run: ShownRun, run_lines: Lines, edges: Sequence[Point]
) -> Plot:
    """Return a figure of lines over time, with marks where phases begin; `edges` make axes of several figures equal."""
    label, size = choose_time_unit(edges[1][0])
    count = count_points(run_lines.lines)
    drawn_lines = reduce_lines(run_lines.lines, foremost=MEAN, is_stacked=caption.is_stacked)
    points = tuple((line, x / size, y) for line, line_points in drawn_lines.items() for x, y in line_points)
    panels = sorted(run_lines.lines, key=lambda line: line != MEAN)
    marks = [
        (name, (t_ns - run_lines.begin_ns) / SECOND / size) for name, t_ns in context.instants.get(shown_run.run.id, ())
    ]
    rows: tuple[tuple[str | float | None, ...], ...] = (*points, *((None, x / size, y) for x, y in edges))
    if marks:
        rows = (*((*row, None) for row in rows), *((None, x, None, name) for name, x in marks))
    return Plot(
        caption.file_name,
        1,
        add_label_to_title(add_unit_if_missing(caption.title, caption.symbol), shown_run.title_label),
        caption.symbol,
        f"{caption.title} over time: {format_count(len(run_lines.lines), 'line')}, {format_count(count, 'point')}"
        + "".join(f"; {name} marked" for name, _ in marks),
        caption.template + MARKED if marks else caption.template,
        (LINE, "x", "y", "mark") if marks else (LINE, "x", "y"),
        rows,
        tuple(panels),
        x_label=f"time, {label}",
        y_label=add_unit_if_missing(caption.title, caption.symbol),
        shows=caption.shows,
        named=() if caption.is_stacked else line_strokes.choose_named_lines(run_lines.lines),
        reduced_from=count if drawn_lines is not run_lines.lines else 0,
    )


def collect_lines(context: RenderContext, item: Timeline, shown_run: ShownRun) -> Lines | None:
    """Return the lines of a run by their names, the mean over lines last; None if it has no row of the choice."""
    series = next(candidate for candidate in context.checked.package.series if candidate.name == item.series)
    rows: Sequence[Row] = block_rows.get_rows(shown_run.run, series)
    time_range = _find_time_range(context, item, series, shown_run)
    if time_range is None:
        return None
    first, last = time_range
    step_ns = get_step(series, shown_run.run)
    last_step = find_last_step(series, step_ns, block_rows.get_series_span(shown_run.run, series))
    points_by_line: dict[str, Line] = {}
    values_by_line: dict[str, list[Point]] = {}
    names = {} if item.alone else block_rows.name_keys(series.by, item.line, list_distinct(rows, series.by), (MEAN,))
    values_by_x: dict[float, list[float]] = {}
    for key, t_ns, value in _iter_samples(series, rows, (first, min(last, last_step))):
        x = (t_ns - first) / SECOND
        values_by_x.setdefault(x, []).append(value)
        if not item.alone:
            values_by_line.setdefault(names[key], []).append((x, value))
    if item.mean:
        values_by_line[MEAN] = [(x, math.fsum(values) / len(values)) for x, values in sorted(values_by_x.items())]
    # Stacked lines are not broken at gaps: a layer without a value counts as 0.
    points_by_line |= {
        name: points if item.stacked else break_at_gaps(points, step_ns / SECOND)
        for name, points in values_by_line.items()
    }
    return Lines(points_by_line, (last - first) / SECOND, first)


def get_step(series: Series, run: RunFigures) -> int:
    """Return the distance between steps of a series in a run, in ns."""
    return int(str(run.constants[series.every])) if series.every else series.every_ns


def find_last_step(series: Series, step_ns: int, span: tuple[int, int]) -> int:
    """Return the latest step (ns) to draw of a series whose windows have a span.

    The last interval of counts and sums is left out if the end of the records cuts it: its value would look like a
    fall. It is drawn if it is the only one.
    """
    begin, end = span
    last_whole = end + 1 - step_ns
    return last_whole if series.reading in ADDED and last_whole >= begin else end


def _find_time_range(
    context: RenderContext, item: Timeline, series: Series, shown_run: ShownRun
) -> tuple[int, int] | None:
    """Return the first and last instant (ns) of a timeline in a run; None if it has no row of the choice."""
    if item.choice:
        return context.find_time_range(item.choice, shown_run.run)
    return block_rows.get_series_span(shown_run.run, series)


def _lacks_samples(context: RenderContext, item: Timeline, shown_run: ShownRun) -> bool:
    """Return whether the time of a timeline in a run has no samples that can be drawn."""
    series = next(candidate for candidate in context.checked.package.series if candidate.name == item.series)
    time_range = _find_time_range(context, item, series, shown_run)
    rows = block_rows.get_rows(shown_run.run, series)
    return time_range is not None and not any(_iter_samples(series, rows, time_range))


def _iter_samples(
    series: Series, rows: Sequence[Row], time_range: tuple[int, int]
) -> Iterator[tuple[block_rows.Key, int, float]]:
    """Yield the labels of the line, the instant (ns) and the value of the rows of a series in a time.

    Values that are not finite are left out: drawn lines and the mean use the other lines at that instant.
    """
    first, last = time_range
    times, values = get_column(rows, "t_ns"), get_column(rows, "value")
    # Most rows are of other times, so they are left out before anything is computed of them.
    is_inside = [first <= t_ns <= last for t_ns in times]
    columns = [itertools.compress(get_column(rows, name), is_inside) for name in series.by]
    keys = zip(*columns, strict=True) if columns else itertools.repeat(())
    samples = zip(keys, itertools.compress(times, is_inside), itertools.compress(values, is_inside), strict=False)
    return ((key, t_ns, float(value)) for key, t_ns, value in samples if math.isfinite(value))


def choose_time_unit(length: float) -> tuple[str, int]:
    """Return the unit of an axis with a length in seconds, and the seconds of that unit."""
    return next((name, size) for min_length, name, size in UNITS if length >= min_length)


def break_at_gaps(points: Sequence[Point], step: float) -> Line:
    """Return the points, with one without a value wherever steps (in seconds; 0: unknown) are missing."""
    connected_points: list[tuple[float, float | None]] = []
    for x, y in points:
        if connected_points and step and x - connected_points[-1][0] > GAP * step:
            connected_points.append(((connected_points[-1][0] + x) / 2, None))
        connected_points.append((x, y))
    return connected_points
