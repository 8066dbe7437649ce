"""Render the worst rows of all runs."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence

from assay.engine.point_rows import get_column
from assay.lang.blocks.worst_rows import WorstRows
from assay.lang.model.headings import format_column_heading
from assay.lang.model.package import Metric
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import (
    RenderContext,
    RenderedBlocks,
    ShownRun,
    find_column,
    format_cell,
    register_renderer,
)
from assay.report.blocks.rows import Row
from assay.report.blocks.section import find_report_unit
from assay.report.cell_links import COLUMN, ROW, CellLink, create_row_source
from assay.report.glossary import get_column_id
from assay.report.tables import Table


@register_renderer(WorstRows)
def render(context: RenderContext, items: Sequence[WorstRows]) -> RenderedBlocks:
    """Render a table for each item, whose values lead to their rows."""
    worst_rows = [(item, _find_worst(context, item)) for item in items]
    titles_without_rows = ", ".join(item.title for item, rows in worst_rows if not rows)
    return RenderedBlocks(
        tables=tuple(_build_table(context, item, rows) for item, rows in worst_rows if rows),
        gaps=(f"There are no rows for: {titles_without_rows}.",) if titles_without_rows else (),
    )


def _find_worst(context: RenderContext, item: WorstRows) -> list[tuple[ShownRun, Row]]:
    """Return the worst rows of all runs, the worst first; rows without a value do not count."""
    metric = context.checked.get_metric(item.metric)
    (request,) = block_rows.request_block_rows(context.checked, item)
    rows = [block_rows.get_rows(shown_run.run, request) for shown_run in context.runs]
    candidates = (
        (_rank(metric, value), -place, -index)
        for place, run_rows in enumerate(rows)
        for index, value in enumerate(get_column(run_rows, metric.id))
        if isinstance(value, (int, float)) and math.isfinite(value)
    )
    worst = heapq.nlargest(item.limit, candidates)
    return [(context.runs[-place], rows[-place][-index]) for _, place, index in worst]


def _rank(metric: Metric, value: float) -> float:
    return -value if metric.better == "higher" else value


def _build_table(context: RenderContext, item: WorstRows, worst: Sequence[tuple[ShownRun, Row]]) -> Table:
    (request,) = block_rows.request_block_rows(context.checked, item)
    metric, grain = context.checked.get_metric(item.metric), request.grain
    columns = [find_column(grain, name) for name in grain.key]
    heading, values, symbol = block_rows.format_metric_column(
        context.checked, context.number_style, metric, [row[metric.id] for _, row in worst],
        find_report_unit(context, metric),
    )  # fmt: skip
    rows = tuple(
        (run.label, *(format_cell(column, row[column.name]) for column in columns), value)
        for (run, row), value in zip(worst, values, strict=True)
    )
    entries = [get_column_id(grain.name, column.name) for column in columns]

    def link(y: int, run: ShownRun, row: Row) -> Iterator[CellLink]:
        for x, (prints, entry) in enumerate([*((COLUMN, name) for name in entries), (ROW, metric.id)], start=1):
            yield CellLink(y, x, prints, (create_row_source(entry, run.run.id, row, grain.key),))

    return Table(
        "" if item.title == context.part.title else item.title,
        ("Run", *map(format_column_heading, columns), heading),
        rows,
        of_columns=("", *entries, metric.id),
        column_units=("", *(column.unit.symbol for column in columns), symbol),
        leads=tuple(item for y, (run, row) in enumerate(worst) for item in link(y, run, row)),
    )
