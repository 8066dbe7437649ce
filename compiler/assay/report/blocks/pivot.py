"""Render pivots, and tables of their diagonals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from assay.lang.blocks.pivot import Pivot
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article
from assay.lang.model.package import Column, Metric
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import (
    RenderContext,
    RenderedBlocks,
    ShownRun,
    Term,
    add_label_to_title,
    find_column,
    format_cell,
    format_column_heading,
    format_metric_heading,
    register_renderer,
)  # fmt: skip
from assay.report.blocks.repeats import (
    average_rows,
    format_count_of_repeats,
    get_printed_kind,
    group_repeats,
    link_repeats,
)
from assay.report.blocks.row_notes import describe_excluded_rows, describe_repeats, exclude_rows
from assay.report.blocks.rows import Key, Row, get_sort_key
from assay.report.cell_links import SHARE, SHORT, CellLink
from assay.report.document import Entry, Mark, Table
from assay.report.glossary import OVER_COLUMNS, OVER_METRICS, get_column_id, name_column
from assay.report.run_results import RunFigures
from assay.styles.exact_decimal import format_all_digits, format_on_same_side, to_fraction
from assay.styles.row import NO_VALUE

FALLS_SHORT = " *"
STRONG, SHADED = "strong", "shaded"


def explain(checked: CheckedPackage, pivot: Pivot) -> Iterable[Term]:
    """Yield the entries of the table of diagonals."""
    column_name = f"{name_column(pivot.across)} × {pivot.down.replace('_', ' ')}"
    description = (
        f"The product of the columns {pivot.across} and {pivot.down} of the grain {pivot.grain}; it is the same in all "
        "cells of a diagonal of the preceding table."
    )
    yield OVER_COLUMNS, Entry(get_product_id(pivot), column_name, "", description, "")
    if pivot.due:
        metric, due = checked.get_metric(pivot.metric), checked.get_metric(pivot.due)
        description = f"100 × {metric.id} / {due.id}: {metric.name}, in percent of {due.name}."
        yield OVER_METRICS, Entry(get_share_id(pivot), "Share of the due value", "%", description, "")


def get_product_id(pivot: Pivot) -> str:
    """Return the id of the product of a cell's row and column."""
    return f"product.{pivot.grain}.{pivot.down}.{pivot.across}"


def get_share_id(pivot: Pivot) -> str:
    """Return the id of the metric's share of the due value, in percent."""
    return f"share.{pivot.metric}.{pivot.due}"


@register_renderer(Pivot, position=60, explain=explain)
def render(context: RenderContext, pivots: Sequence[Pivot]) -> RenderedBlocks:
    """Render the tables of all runs side by side for each pivot, then those of their diagonals."""
    tables = (table for item in pivots for table in _build_pivot_tables(context, item, context.runs))
    notes = (note for item in pivots for note in _describe_rows(context, item, context.runs))
    return RenderedBlocks(tables=tuple(tables), choices=tuple(item.choice for item in pivots), notes=tuple(notes))


def _describe_rows(context: RenderContext, pivot: Pivot, runs: Sequence[ShownRun]) -> Iterator[str]:
    """Yield of which rows cells show the mean, and which rows are left out."""
    groups = [(item.title_label, group_pivot_rows(context.checked, context.article, pivot, item.run)) for item in runs]
    yield from describe_repeats(pivot.title, (pivot.down, pivot.across), pivot.first, groups)
    yield from describe_excluded_rows(context, pivot.title, pivot.without, "not shown", runs)


def group_pivot_rows(checked: CheckedPackage, article: Article, pivot: Pivot, run: RunFigures) -> dict[Key, list[Row]]:
    """Return the rows of each cell, by the values of `down` and `across`; empty if they were not requested."""
    (request,) = block_rows.request_block_rows(checked, pivot)
    if request.name not in run.results.rows:
        return {}
    rows = exclude_rows(checked, article, request.grain, pivot.without, run, block_rows.get_rows(run, request))
    return group_repeats(rows, (pivot.down, pivot.across), pivot.first)


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a pivot and their means by their (down, across) values, and these values in order."""

    rows_by_place: Mapping[Key, Sequence[Row]]
    down: Sequence[object]
    across: Sequence[object]
    means_by_place: Mapping[Key, Row] = field(default_factory=dict)


def _build_pivot_tables(context: RenderContext, pivot: Pivot, runs: Sequence[ShownRun]) -> Iterator[Table]:
    """Yield the tables of all runs side by side, then those of their diagonals."""
    pivot_tables = [_build_pivot_table(context, pivot, shown_run) for shown_run in runs]
    yield from (replace(table, beside=index > 0) for index, (table, _) in enumerate(pivot_tables))
    yield from (diagonals for _, diagonals in pivot_tables if diagonals)


def _build_pivot_table(context: RenderContext, pivot: Pivot, shown_run: ShownRun) -> tuple[Table, Table | None]:
    """Build the table, and that of its diagonals if the pivot has them."""
    (request,) = block_rows.request_block_rows(context.checked, pivot)
    rows_by_place = group_pivot_rows(context.checked, context.article, pivot, shown_run.run)
    cells = Cells(
        rows_by_place,
        sorted({d for d, _ in rows_by_place}, key=get_sort_key),
        sorted({a for _, a in rows_by_place}, key=get_sort_key),
        {place: average_rows(rows, pivot.read_metrics()) for place, rows in rows_by_place.items()},
    )
    chosen_row = context.find_row(pivot.choice, shown_run.run)
    chosen_place = (chosen_row[pivot.down], chosen_row[pivot.across]) if chosen_row else None
    down, across = (find_column(request.grain, name) for name in (pivot.down, pivot.across))
    rows = [
        (
            format_cell(down, left),
            *(_format_cell(context, pivot, cells, (left, top)) for top in cells.across),
        )
        for left in cells.down
    ]
    marks = [
        Mark(y, x, kind)
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        for kind in _list_mark_kinds(pivot, cells, (left, top), chosen_place)
    ]
    header = (
        f"{format_column_heading(down)} \\ {format_column_heading(across)}",
        *(format_cell(across, top) for top in cells.across),
    )
    entry_ids = (get_column_id(pivot.grain, pivot.down), *(pivot.metric for _ in cells.across))
    title, heading_entry = (
        add_label_to_title(pivot.title, shown_run.title_label),
        get_column_id(pivot.grain, pivot.across),
    )
    links = tuple(
        CellLink(
            y,
            x,
            get_printed_kind(place_rows),
            link_repeats(pivot.metric, shown_run.run.id, place_rows, pivot.columns),
        )
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        if (place_rows := rows_by_place.get((left, top)))
    )
    table = Table(
        title, header, tuple(rows), tuple(marks), of_columns=entry_ids, of_headings=heading_entry, leads=links
    )
    return table, _build_diagonals_table(
        context, pivot, shown_run, cells, chosen_place, (across, down)
    ) if pivot.diagonals else None


def _list_mark_kinds(pivot: Pivot, cells: Cells, place: Key, chosen_place: object) -> Iterator[str]:
    """Yield the highlights of a cell: every other diagonal is shaded, the chosen cell strong."""
    if pivot.diagonals and _list_products(cells).index(_compute_product(place)) % 2:
        yield SHADED
    if place == chosen_place:
        yield STRONG


def _compute_product(place: Key) -> Fraction:
    """Compute the exact product of a place: 0.1 × 3 and 0.3 × 1 are one diagonal."""
    down, across = place
    assert isinstance(down, (int, float))
    assert isinstance(across, (int, float))
    return to_fraction(down) * to_fraction(across)


def _list_products(cells: Cells) -> list[Fraction]:
    """Return the products of all places, each once, in ascending order."""
    return sorted({_compute_product((down, across)) for down in cells.down for across in cells.across})


def _build_diagonals_table(
    context: RenderContext,
    pivot: Pivot,
    shown_run: ShownRun,
    cells: Cells,
    chosen_place: object,
    columns: tuple[Column, Column],
) -> Table:
    """Build a table with a row for each cell, ordered by diagonal: product, place, value, due value and its share."""
    across, down = columns
    metric = context.checked.get_metric(pivot.metric)
    due_metric = context.checked.get_metric(pivot.due) if pivot.due else None
    places = sorted(cells.rows_by_place, key=lambda place: (_compute_product(place), get_sort_key(place[1])))
    rows, marks, links = [], [], list[CellLink]()
    for y, place in enumerate(places):
        mean, place_rows = cells.means_by_place[place], cells.rows_by_place[place]
        leading_cells = (
            format_all_digits(_compute_product(place)),
            str(place[1]),
            str(place[0]),
            context.format_metric(metric, mean) + format_count_of_repeats(place_rows, metric.id),
        )
        rows.append(
            (*leading_cells, *(_format_due_cells(context, pivot, metric, due_metric, mean) if due_metric else ()))
        )
        kinds = tuple(_list_mark_kinds(pivot, cells, place, chosen_place))
        marks += [Mark(y, x, kind) for kind in kinds for x in range(len(rows[-1]))]
        sources = [
            link_repeats(item.id, shown_run.run.id, place_rows, pivot.columns)
            for item in (metric, *((due_metric,) if due_metric else ()))
        ]
        printed_kind = get_printed_kind(place_rows)
        links += [CellLink(y, x, printed_kind, items) for x, items in enumerate(sources, start=len(leading_cells) - 1)]
        links += [
            CellLink(y, len(leading_cells) + x, prints, tuple(item for items in sources for item in items))
            for x, prints in enumerate((SHARE, SHORT), start=1)
            if due_metric
        ]
    header = [
        f"{across.name.replace('_', ' ').capitalize()} × {down.name.replace('_', ' ')}",
        format_column_heading(across), format_column_heading(down), format_metric_heading(metric),
    ]  # fmt: skip
    header += (
        [format_metric_heading(due_metric), "Share of the due value, %", f"Short by more than {pivot.tolerance} %"]
        if due_metric
        else []
    )
    key_entries = (get_column_id(pivot.grain, pivot.across), get_column_id(pivot.grain, pivot.down))
    entry_ids: tuple[str, ...] = (get_product_id(pivot), *key_entries, metric.id)
    entry_ids += (due_metric.id, get_share_id(pivot), "") if due_metric else ()
    title = add_label_to_title("Diagonals", shown_run.title_label)
    return Table(title, tuple(header), tuple(rows), tuple(marks), of_columns=entry_ids, leads=tuple(links))


def _format_due_cells(
    context: RenderContext, pivot: Pivot, metric: Metric, due_metric: Metric, row: Row
) -> tuple[str, str, str]:
    """Return the due value, the share that is done, and whether it falls short."""
    is_short = block_rows.is_short(context.checked, metric, due_metric, row, pivot.tolerance)
    return (
        context.format_metric(due_metric, row),
        _format_share(context, pivot, metric, due_metric, row, is_short),
        "yes" if is_short else "no",
    )


def _format_share(
    context: RenderContext, pivot: Pivot, metric: Metric, due_metric: Metric, row: Row, is_short: bool
) -> str:
    """Return the share in percent, with enough decimals to be on the correct side of the limit."""
    actual_value, due_value = context.compute_exact_metric(metric, row), context.compute_exact_metric(due_metric, row)
    if actual_value is None or not due_value:
        return NO_VALUE
    return format_on_same_side(
        100 * actual_value / due_value, 1, lambda printed_share: (printed_share < 100 - pivot.tolerance) == is_short
    )


def _format_cell(context: RenderContext, pivot: Pivot, cells: Cells, place: Key) -> str:
    """Return the text of a cell, marked if it falls short of the due value."""
    row = cells.means_by_place.get(place)
    if row is None:
        return NO_VALUE
    metric = context.checked.get_metric(pivot.metric)
    text = context.format_metric(metric, row) + format_count_of_repeats(cells.rows_by_place[place], metric.id)
    due_metric = context.checked.get_metric(pivot.due) if pivot.due else None
    return (
        text + FALLS_SHORT
        if due_metric and block_rows.is_short(context.checked, metric, due_metric, row, pivot.tolerance)
        else text
    )
