"""Render timelines of runs: figures of series over time, with a line for each run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.engine.point_rows import get_column
from assay.lang.blocks.run_timeline import RunTimeline
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.headings import add_unit_if_missing
from assay.lang.model.series import Series
from assay.lang.series_wording import LINES
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.blocks.rows import get_rows, get_series_span
from assay.report.blocks.timeline import (
    Lines,
    break_at_gaps,
    choose_time_unit,
    describe_reduced_lines,
    describe_unclear_lines,
    find_last_step,
    frame_lines,
    get_step,
)
from assay.report.charts import line_strokes
from assay.report.charts.line_reduction import Line, count_points, reduce_lines
from assay.report.document import Plot
from assay.report.run_results import RunFigures
from assay.util.numbers import format_count
from assay.util.time_units import SECOND


@register_renderer(RunTimeline)
def render(context: RenderContext, items: Sequence[RunTimeline]) -> RenderedBlocks:
    """Render a figure of each timeline, over the time of whole runs."""
    runs_by_label = {shown_run.label: shown_run.run for shown_run in context.runs}
    plots: list[Plot] = []
    gaps = []
    for item in items:
        series = _find_series(context.checked, item.series)
        lines_by_run = {label: _collect_line(series, item, run) for label, run in runs_by_label.items()}
        if missing := [label for label, lines in lines_by_run.items() if not lines.has_points]:
            gaps.append(f"{item.title}: no values in {', '.join(missing)}.")
        drawn_lines = {label: lines for label, lines in lines_by_run.items() if lines.has_points}
        plots += [_build_plot(series, item, drawn_lines)] if drawn_lines else []
    numbered_plots = context.number_plots(plots)
    gaps += [*describe_unclear_lines(numbered_plots), *describe_reduced_lines(numbered_plots)]
    return RenderedBlocks(numbered_plots, notes=("Times count from the beginning of each run.",), gaps=tuple(gaps))


def _find_series(checked: CheckedPackage, name: str) -> Series:
    return next(item for item in checked.package.series if item.name == name)


def _collect_line(series: Series, timeline: RunTimeline, run: RunFigures) -> Lines:
    """Return the only line of a run, in seconds since its first window begins."""
    begin, end = get_series_span(run, series)
    step_ns = get_step(series, run)
    last_step = find_last_step(series, step_ns, (begin, end))
    rows = _reduce_rows(series, timeline, run)
    points = [((t_ns - begin) / SECOND, value) for t_ns, value in rows if t_ns <= last_step]
    line: Line = break_at_gaps(points, step_ns / SECOND)
    return Lines({"": line}, (end - begin) / SECOND, begin)


def _reduce_rows(series: Series, timeline: RunTimeline, run: RunFigures) -> Iterator[tuple[int, float]]:
    """Yield each instant with the reduction of its finite values, in order of time."""
    rows = get_rows(run, series)
    values_by_instant: dict[int, list[float]] = {}
    for t_ns, value in zip(get_column(rows, "t_ns"), get_column(rows, "value"), strict=True):
        if math.isfinite(value):
            values_by_instant.setdefault(t_ns, []).append(value)
    for t_ns, values in sorted(values_by_instant.items()):
        yield t_ns, _reduce_values(timeline.over, values)


def _reduce_values(over: str, values: Iterable[float]) -> float:
    """Return one value for those of several lines; without a reduction there is one."""
    items = list(values)
    if over in ("least", "greatest"):
        return min(items) if over == "least" else max(items)
    total = math.fsum(items)
    return total / len(items) if over == "mean" else total


def _build_plot(series: Series, timeline: RunTimeline, lines_by_run: Mapping[str, Lines]) -> Plot:
    """Return the figure of the lines of runs, all on one axis."""
    lines = {label: lines.lines[""] for label, lines in lines_by_run.items()}
    drawn_lines = reduce_lines(lines)
    edges = frame_lines(list(lines_by_run.values()), is_stacked=False)
    time_unit, seconds = choose_time_unit(edges[1][0])
    points = [(label, x / seconds, y) for label, line in drawn_lines.items() for x, y in line]
    count = count_points(lines)
    symbol = series.unit.symbol
    return Plot(
        "-".join(filter(None, ("timeline", timeline.series, timeline.over))),
        1,
        add_unit_if_missing(timeline.title, symbol),
        symbol,
        f"{timeline.title} over time, {LINES[timeline.over]}{timeline.series}: {format_count(len(lines), 'run')}, "
        f"{format_count(count, 'point')}",
        timeline.template,
        ("line", "x", "y"),
        (*points, *((None, x / seconds, y) for x, y in edges)),
        tuple(lines),
        x_label=f"time, {time_unit}",
        y_label=add_unit_if_missing(timeline.title, symbol),
        shows=(series.name,),
        named=line_strokes.choose_named_lines(lines),
        reduced_from=count if drawn_lines is not lines else 0,
    )
