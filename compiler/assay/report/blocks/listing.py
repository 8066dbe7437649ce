"""Render listings."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.listing import Listing
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import (
    RenderContext,
    RenderedBlocks,
    ShownRun,
    add_label_to_title,
    find_column,
    format_cell,
    format_column_heading,
    format_metric_heading,
    register_renderer,
)  # fmt: skip
from assay.report.blocks.rows import get_sort_key
from assay.report.cell_links import COLUMN, ROW, CellLink, create_row_source
from assay.report.document import Table
from assay.report.glossary import get_column_id


@register_renderer(Listing, position=70)
def render(context: RenderContext, listings: Sequence[Listing]) -> RenderedBlocks:
    """Render a table for each listing and run."""
    return RenderedBlocks(
        tables=tuple(_build_listing_table(context, item, shown_run) for item in listings for shown_run in context.runs)
    )


def _build_listing_table(context: RenderContext, listing: Listing, shown_run: ShownRun) -> Table:
    metrics = tuple(context.checked.get_metric(name) for name in listing.metrics)
    (request,) = block_rows.request_block_rows(context.checked, listing)
    grain, rows_in_order = request.grain, block_rows.get_rows(shown_run.run, request)
    columns = [find_column(grain, name) for name in listing.keys]
    header = [*map(format_column_heading, columns), *map(format_metric_heading, metrics)]
    rows_in_order = sorted(rows_in_order, key=lambda row: tuple(get_sort_key(row[name]) for name in listing.keys))
    rows = [
        (
            *(format_cell(column, row[column.name]) for column in columns),
            *(context.format_metric(metric, row) for metric in metrics),
        )
        for row in rows_in_order
    ]
    entry_ids = (*(get_column_id(grain.name, name) for name in listing.keys), *listing.metrics)
    links = tuple(
        CellLink(y, x, ROW, (create_row_source(name, shown_run.run.id, row, listing.keys),))
        for y, row in enumerate(rows_in_order)
        for x, name in enumerate(listing.metrics, start=len(listing.keys))
    )
    links += tuple(
        CellLink(y, x, COLUMN, (create_row_source(name, shown_run.run.id, row, listing.keys),))
        for y, row in enumerate(rows_in_order)
        for x, name in enumerate(entry_ids[: len(listing.keys)])
    )
    return Table(
        add_label_to_title(listing.title, shown_run.title_label),
        tuple(header),
        tuple(rows),
        of_columns=entry_ids,
        leads=links,
    )
