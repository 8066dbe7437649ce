"""Render listings."""

from __future__ import annotations

from collections.abc import Sequence

from assay.lang.blocks.listing import Listing
from assay.report.blocks import rows as asked
from assay.report.blocks.context import (
    RenderContext,
    Rendered,
    ShownRun,
    cell,
    column_named,
    heading,
    metric_heading,
    renders,
    titled,
)  # fmt: skip
from assay.report.blocks.rows import ordered
from assay.report.cell_links import COLUMN, ROW, CellLink, on_row
from assay.report.document import Table
from assay.report.glossary import of_column


@renders(Listing, position=70)
def render(context: RenderContext, listings: Sequence[Listing]) -> Rendered:
    """Render a table for each listing and run."""
    return Rendered(tables=tuple(_listing(context, item, shown) for item in listings for shown in context.runs))


def _listing(context: RenderContext, listing: Listing, shown: ShownRun) -> Table:
    metrics = tuple(context.checked.metric(name) for name in listing.metrics)
    (item,) = asked.listed_of(context.checked, listing)
    grain, found = item.grain, asked.rows(shown.run, item)
    columns = [column_named(grain, name) for name in listing.keys]
    header = [*map(heading, columns), *map(metric_heading, metrics)]
    found = sorted(found, key=lambda row: tuple(ordered(row[name]) for name in listing.keys))
    rows = [
        (*(cell(column, row[column.name]) for column in columns), *(context.text(metric, row) for metric in metrics))
        for row in found
    ]
    means = (*(of_column(grain.name, name) for name in listing.keys), *listing.metrics)
    leads = tuple(
        CellLink(y, x, ROW, (on_row(name, shown.run.id, row, listing.keys),))
        for y, row in enumerate(found)
        for x, name in enumerate(listing.metrics, start=len(listing.keys))
    )
    leads += tuple(
        CellLink(y, x, COLUMN, (on_row(name, shown.run.id, row, listing.keys),))
        for y, row in enumerate(found)
        for x, name in enumerate(means[: len(listing.keys)])
    )
    return Table(titled(listing.title, shown.titled), tuple(header), tuple(rows), of_columns=means, leads=leads)
