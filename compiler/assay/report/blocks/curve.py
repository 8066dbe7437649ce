"""Render curves: rows over time, the figures of several runs side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.engine.point_rows import get_column
from assay.lang.blocks.curve import Curve
from assay.plan.request import RowRequest
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, ShownRun, register_renderer
from assay.report.blocks.scatter import format_file_name
from assay.report.blocks.timeline import (
    Caption,
    Lines,
    build_line_plot,
    describe_reduced_lines,
    describe_unclear_lines,
    frame_lines,
)
from assay.report.charts.line_reduction import Line
from assay.report.document import Plot
from assay.util.time_units import SECOND


@register_renderer(Curve)
def render(context: RenderContext, items: Sequence[Curve]) -> RenderedBlocks:
    """Render the figures of each curve."""
    plots = context.number_plots(plot for item in items for plot in _build_plots(context, item))
    gaps = tuple(
        f"There are no values of: {', '.join(titles)}{f' ({shown_run.title_label})' if shown_run.title_label else ''}."
        for shown_run in context.runs
        if (titles := [item.title for item in items if not _collect_lines(context, item, shown_run).has_points])
    )
    return RenderedBlocks(plots, gaps=(*gaps, *describe_unclear_lines(plots), *describe_reduced_lines(plots)))


def _build_plots(context: RenderContext, item: Curve) -> Iterator[Plot | None]:
    """Yield the figure of each run, all with the same axes; None for a run without values."""
    lines_by_run = [_collect_lines(context, item, shown_run) for shown_run in context.runs]
    drawn_lines = [lines for lines in lines_by_run if lines.has_points]
    edges = frame_lines(drawn_lines, is_stacked=False)
    symbol = context.checked.get_metric(item.metrics[0]).unit.symbol
    for shown_run, lines in zip(context.runs, lines_by_run, strict=True):
        file_name = f"curve-{format_file_name(shown_run.run.id)}-{'-'.join(item.metrics)}"
        caption = Caption(file_name, item.title, symbol, item.template, item.metrics)
        if drawn_lines:
            yield build_line_plot(context, caption, shown_run, lines, edges) if lines.has_points else None


def _collect_lines(context: RenderContext, item: Curve, shown_run: ShownRun) -> Lines:
    """Return a line for each metric, by its name, or for each value of a column; no finite value breaks a line."""
    (request,) = block_rows.request_block_rows(context.checked, item)
    if item.by:
        return _collect_lines_by_column(context, item, shown_run, request)
    rows_by_time = sorted(
        (t_ns, tuple(map(block_rows.get_sort_key, (row[name] for name in request.grain.key))), row)
        for row in block_rows.get_rows(shown_run.run, request)
        if isinstance(t_ns := row[request.grain.at], int)
    )
    if not rows_by_time:
        return Lines()
    begin, end = rows_by_time[0][0], rows_by_time[-1][0]
    lines: dict[str, Line] = {}
    for name in item.metrics:
        metric = context.checked.get_metric(name)
        values = [((t_ns - begin) / SECOND, context.compute_metric(metric, row)) for t_ns, _, row in rows_by_time]
        points = [(x, y if y is not None and math.isfinite(y) else None) for x, y in values]
        if any(y is not None for _, y in points):
            lines[metric.name] = points
    return Lines(lines, (end - begin) / SECOND, begin)


def _collect_lines_by_column(context: RenderContext, item: Curve, shown_run: ShownRun, request: RowRequest) -> Lines:
    """Return a line for each value of a column, in their order; rows of a line are in the order of their instants."""
    rows, metric = block_rows.get_rows(shown_run.run, request), context.checked.get_metric(item.metrics[0])
    factor = context.checked.measured[metric.id].factor
    samples: dict[str, list[tuple[int, float | None]]] = {}
    columns = (get_column(rows, name) for name in (item.by, request.grain.at, metric.id))
    for name, t_ns, value in zip(*columns, strict=True):
        if t_ns is not None:
            is_number = isinstance(value, (int, float)) and math.isfinite(value)
            y = value * factor.numerator / factor.denominator if is_number else None
            samples.setdefault(block_rows.format_value(name), []).append((t_ns, y))
    if not samples:
        return Lines()
    times = [t_ns for line in samples.values() for t_ns, _ in line]
    begin, end = min(times), max(times)
    lines: dict[str, Line] = {
        name: [((t_ns - begin) / SECOND, y) for t_ns, y in sorted(line, key=lambda sample: sample[0])]
        for name, line in sorted(samples.items())
        if any(y is not None for _, y in line)
    }
    return Lines(lines, (end - begin) / SECOND, begin)
