"""Render listings of reports and of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.engine.point_rows import get_column
from assay.lang.blocks.listing import Listing
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.headings import format_column_heading, format_metric_heading
from assay.lang.model.package import Column, Grain, Metric
from assay.number_styles.registry import Style
from assay.number_styles.unit_prefix import choose_prefix
from assay.plan.request import REJECTED_BY, RowRequest
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import (
    RenderContext,
    RenderedBlocks,
    ShownRun,
    add_label_to_title,
    find_column,
    format_cell,
    register_renderer,
)  # fmt: skip
from assay.report.blocks.rows import Row, get_sort_key
from assay.report.blocks.section import find_report_unit
from assay.report.cell_links import COLUMN, REPEATS, ROW, CellLink, create_row_source
from assay.report.glossary import get_column_id
from assay.report.row_units import RowUnit
from assay.report.tables import Table

#: number of rows that pages print of a listing with a metric `most`
SHORTLIST = 10
#: a report has no more rows of a listing with files: the others are only in these
MOST_ROWS = 5000
HEADING = "Rejected by"
#: longer texts in key columns, such as hashes, are cut to their first characters
LONG_TEXT, CUT_TEXT = 24, 10


@register_renderer(Listing)
def render(context: RenderContext, listings: Sequence[Listing]) -> RenderedBlocks:
    """Render a table for each listing and run; notes say where all rows of a listing with files are."""
    tables: list[Table] = []
    notes: list[str] = []
    for item in listings:
        if item.files:
            long_tables = [_build_long_table(context, item, shown_run) for shown_run in context.runs]
            tables += [table for table, count in long_tables if count]
            notes += _describe_rows(context, item, long_tables)
        else:
            tables += [_build_table(context, item, shown_run) for shown_run in context.runs]
    return RenderedBlocks(tables=tuple(tables), notes=tuple(notes))


def _build_long_table(context: RenderContext, listing: Listing, shown_run: ShownRun) -> tuple[Table, int]:
    """Return the table of a listing with files in a run, with at most `MOST_ROWS` rows, and the number of all rows.

    In a part with the title of the listing, the table is named after the run alone.
    """
    (request,) = block_rows.request_block_rows(context.checked, listing)
    rows = block_rows.get_rows(shown_run.run, request)
    units = _choose_units(context, listing)
    builder = ListingTable(context.checked, context.number_style, listing, request, shown_run.run.id, units)
    shortlist = list_greatest(rows, listing.most)
    title = shown_run.label if _is_alone(context, listing) else f"{listing.title}: {shown_run.label}"
    if len(rows) > MOST_ROWS:
        return builder.build(title, [rows[index] for index in shortlist or range(MOST_ROWS)]), len(rows)
    return builder.build(title, rows, shortlist), len(rows)


def _choose_units(context: RenderContext, listing: Listing) -> dict[str, RowUnit]:
    """Return the units of metrics in a listing, by their ids: those of averages, else those that suit all runs."""
    (request,) = block_rows.request_block_rows(context.checked, listing)
    units = {}
    for metric in map(context.checked.get_metric, listing.metrics):
        if unit := find_report_unit(context, metric):
            units[metric.id] = unit
        elif context.number_style.has_unit_prefixes:
            columns = [get_column(block_rows.get_rows(item.run, request), metric.id) for item in context.runs]
            values = [
                block_rows.compute_value(context.checked, metric, value) for column in columns for value in column
            ]
            units[metric.id] = choose_prefix(values, metric.unit.symbol)
    return units


def _is_alone(context: RenderContext, listing: Listing) -> bool:
    """Return whether the heading of the part names the listing."""
    return context.part.title == listing.title


def _describe_rows(context: RenderContext, listing: Listing, tables: Sequence[tuple[Table, int]]) -> Iterator[str]:
    """Yield which rows of a listing are printed, and the files with all rows."""
    (request,) = block_rows.request_block_rows(context.checked, listing)
    counts = []
    for shown_run, (table, count) in zip(context.runs, tables, strict=True):
        printed = len(table.printed_rows)
        counts.append(f"{shown_run.label}: {count if printed == count else f'{printed} of {count}'}")
    most = context.checked.get_metric(listing.most).name if listing.most else ""
    greatest = f", those with the greatest {most}" if any(" of " in count for count in counts) else ""
    files = [context.files[shown_run.run.id, request.name] for shown_run in context.runs]
    label = "" if _is_alone(context, listing) else f"{listing.title}: "
    yield f"{label}{'Rows' if not label else 'rows'}: {', '.join(counts)}{greatest}."
    yield (
        f"{label}{'All' if not label else 'all'} rows are in files, as Parquet and as CSV (.csv instead of .parquet): "
        f"{', '.join(files)}."
    )


def _build_table(context: RenderContext, listing: Listing, shown_run: ShownRun) -> Table:
    (request,) = block_rows.request_block_rows(context.checked, listing)
    rows = sorted(
        block_rows.get_rows(shown_run.run, request),
        key=lambda row: tuple(get_sort_key(row[name]) for name in listing.keys),
    )
    title = add_label_to_title(listing.title, shown_run.title_label)
    builder = ListingTable(context.checked, context.number_style, listing, request, shown_run.run.id)
    return builder.build(title, rows, list_greatest(rows, listing.most))


def list_greatest(rows: Sequence[Row], most: str) -> tuple[int, ...]:
    """Return the indexes of the rows of which a metric is greatest, the greatest first; empty if they are all rows."""
    if not most or len(rows) <= SHORTLIST:
        return ()
    values = get_column(rows, most)
    present = [(value, -index) for index, value in enumerate(values) if isinstance(value, (int, float))]
    return tuple(-index for _, index in sorted(present, reverse=True)[:SHORTLIST])


@dataclass(frozen=True, slots=True)
class ListingTable:
    """Builds the table of a listing in a run; `request` are its rows."""

    checked: CheckedPackage
    number_style: Style
    listing: Listing
    request: RowRequest
    run: str
    units: Mapping[str, RowUnit] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics of the columns."""
        return tuple(map(self.checked.get_metric, self.listing.metrics))

    @property
    def grain(self) -> Grain:
        """The grain of the rows."""
        return self.request.grain

    def build(self, title: str, rows: Sequence[Row], shortlist: tuple[int, ...] = ()) -> Table:
        """Return the table of some rows; pages print those of the `shortlist` (their indexes; empty: all)."""
        columns = [
            (format_column_heading(column), self._format_keys(column.name, rows), column.unit.symbol)
            for column in self._keys
        ]
        if self.request.rejected:
            columns.append((HEADING, [str(text) for text in get_column(rows, REJECTED_BY)], ""))
        columns += [self._format_metric(metric, rows) for metric in self.metrics]
        entry_ids = [*(get_column_id(self.grain.name, name) for name in self.listing.keys)]
        entry_ids += [""] if self.request.rejected else []
        return Table(
            title,
            tuple(heading for heading, _, _ in columns),
            tuple(zip(*(cells for _, cells, _ in columns), strict=True)),
            column_units=tuple(symbol for _, _, symbol in columns),
            of_columns=(*entry_ids, *self.listing.metrics),
            leads=self._link_cells(rows, shortlist or range(len(rows))),
            shortlist=shortlist,
        )

    @property
    def _keys(self) -> list[Column]:
        return [find_column(self.grain, name) for name in self.listing.keys]

    def _format_keys(self, name: str, rows: Sequence[Row]) -> list[str]:
        """Return the cells of a key column; a report, whose files have all texts, cuts long ones."""
        column = find_column(self.grain, name)
        texts = [format_cell(column, value) for value in get_column(rows, name)]
        return [f"{text[:CUT_TEXT]}…" if self._is_cut(text) else text for text in texts]

    def _is_cut(self, text: str) -> bool:
        return bool(self.request.listing) and len(text) > LONG_TEXT

    def _format_metric(self, metric: Metric, rows: Sequence[Row]) -> tuple[str, list[str], str]:
        """Return heading, cells and unit of a metric; a report has a unit that suits the whole column."""
        values = get_column(rows, metric.id)
        if self.request.listing:
            unit = self.units.get(metric.id)
            return block_rows.format_metric_column(self.checked, self.number_style, metric, values, unit)
        format_value = block_rows.format_metric_value
        cells = [format_value(self.checked, self.number_style, metric, value) for value in values]
        return format_metric_heading(metric), cells, metric.unit.symbol

    def _link_cells(self, rows: Sequence[Row], indexes: Sequence[int]) -> tuple[CellLink, ...]:
        """Link the cells of some rows: values of metrics first, then those of key columns."""
        key_columns = self.grain.key if self.request.listing else self.listing.keys
        first = len(self.listing.keys) + int(self.request.rejected)
        links = [
            CellLink(y, x, self._get_kind(metric), (create_row_source(metric.id, self.run, rows[y], key_columns),))
            for y in indexes
            for x, metric in enumerate(self.metrics, start=first)
            if not self.request.rejected  # metrics have no samples there
        ]
        entry_ids = [get_column_id(self.grain.name, name) for name in self.listing.keys]
        links += [
            CellLink(y, x, COLUMN, (create_row_source(entry, self.run, rows[y], key_columns),))
            for y in indexes
            for x, (entry, name) in enumerate(zip(entry_ids, self.listing.keys, strict=True))
            if not self._is_cut(str(rows[y][name]))
        ]
        return tuple(links)

    def _get_kind(self, metric: Metric) -> str:
        """Return what the cells of a metric print: its value on the row, or its mean over rows of another grain."""
        is_mean = metric.grain != self.grain.name and not metric.reduction and not is_formula(metric)
        return REPEATS if is_mean else ROW
