"""Render pivots, and tables of their diagonals."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from assay.lang.blocks.pivot import Pivot
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.headings import format_column_heading, format_metric_heading
from assay.lang.model.package import Column, Metric
from assay.lang.model.report import Report
from assay.number_styles.cell_text import convert_text, print_number, print_value
from assay.number_styles.exact_decimal import format_all_digits, format_on_same_side, to_fraction
from assay.number_styles.row import NO_VALUE
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import (
    RenderContext,
    RenderedBlocks,
    ShownRun,
    Term,
    add_label_to_title,
    find_column,
    format_cell,
    register_renderer,
)  # fmt: skip
from assay.report.blocks.repeats import (
    add_count_of_repeats,
    average_rows,
    get_printed_kind,
    group_repeats,
    link_repeats,
)
from assay.report.blocks.row_notes import describe_excluded_rows, describe_repeats, exclude_rows
from assay.report.blocks.rows import Key, Row, get_sort_key
from assay.report.cell_links import SHARE, SHORT, CellLink
from assay.report.cells import FALLS_SHORT
from assay.report.document import Entry
from assay.report.glossary import OVER_COLUMNS, OVER_METRICS, get_column_id, name_column
from assay.report.run_results import RunFigures
from assay.report.tables import Mark, Table

STRONG = "strong"
SHADES = ("", "shaded", "shaded-2", "shaded-3")
"""Kinds of marks that tell diagonals apart; the first is no mark."""


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


@register_renderer(Pivot, explain=explain)
def render(context: RenderContext, pivots: Sequence[Pivot]) -> RenderedBlocks:
    """Render the tables of all runs side by side for each pivot, then those of their diagonals."""
    tables = (table for item in pivots for table in _build_pivot_tables(context, item, context.runs))
    notes = (note for item in pivots for note in _describe_rows(context, item, context.runs))
    return RenderedBlocks(tables=tuple(tables), choices=tuple(item.choice for item in pivots), notes=tuple(notes))


def _describe_rows(context: RenderContext, pivot: Pivot, runs: Sequence[ShownRun]) -> Iterator[str]:
    """Yield of which rows cells show the mean, and which rows are left out."""
    groups = [(item.title_label, group_pivot_rows(context.checked, context.report, pivot, item.run)) for item in runs]
    yield from describe_repeats(pivot.title, (pivot.down, pivot.across), pivot.first, groups)
    yield from describe_excluded_rows(context, pivot.title, pivot.without, "not shown", runs)


def group_pivot_rows(checked: CheckedPackage, report: Report, pivot: Pivot, run: RunFigures) -> dict[Key, list[Row]]:
    """Return the rows of each cell, by the values of `down` and `across`; empty if they were not requested."""
    (request,) = block_rows.request_block_rows(checked, pivot)
    if request.name not in run.results.rows:
        return {}
    rows = exclude_rows(checked, report, request.grain, pivot.without, run, block_rows.get_rows(run, request))
    return group_repeats(rows, (pivot.down, pivot.across), pivot.first)


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a pivot and their means by their (down, across) values, and these values in order.

    `shades` are the shades of the diagonals by their products; `strong_places` are those of the cells in bold.
    """

    rows_by_place: Mapping[Key, Sequence[Row]]
    down: Sequence[object]
    across: Sequence[object]
    means_by_place: Mapping[Key, Row] = field(default_factory=dict)
    shades: Mapping[Fraction, str] = field(default_factory=dict)
    strong_places: Container[Key] = ()


def _build_pivot_tables(context: RenderContext, pivot: Pivot, runs: Sequence[ShownRun]) -> Iterator[Table]:
    """Yield the tables of all runs side by side, then those of their diagonals."""
    pivot_tables = [_build_pivot_table(context, pivot, shown_run, runs[-1]) for shown_run in runs]
    yield from (replace(table, beside=index > 0) for index, (table, _) in enumerate(pivot_tables))
    yield from (diagonals for _, diagonals in pivot_tables if diagonals)


def _arrange_cells(context: RenderContext, pivot: Pivot, shown_run: ShownRun, last_run: ShownRun) -> Cells:
    """Return the cells of a run; the last run determines the choice for runs that lack its row."""
    rows_by_place = group_pivot_rows(context.checked, context.report, pivot, shown_run.run)
    down = sorted({d for d, _ in rows_by_place}, key=get_sort_key)
    across = sorted({a for _, a in rows_by_place}, key=get_sort_key)
    return Cells(
        rows_by_place,
        down,
        across,
        {place: average_rows(rows, pivot.read_metrics()) for place, rows in rows_by_place.items()},
        _shade_diagonals(down, across) if pivot.diagonals else {},
        _list_strong_places(context, pivot, rows_by_place, (shown_run, last_run)),
    )


def _list_strong_places(
    context: RenderContext, pivot: Pivot, places: Iterable[Key], runs: Sequence[ShownRun]
) -> Sequence[Key]:
    """Return the places of the cells in bold: the chosen row's, or all of its diagonal if the pivot has diagonals.

    Equal products are equal loads: a run that lacks the row itself may have others of its diagonal.
    """
    chosen_rows = (context.find_row(pivot.choice, shown_run.run) for shown_run in runs)
    row = next((row for row in chosen_rows if row), None)
    if row is None:
        return []
    chosen_place = (row[pivot.down], row[pivot.across])
    if not pivot.diagonals:
        return [chosen_place]
    return [place for place in places if _compute_product(place) == _compute_product(chosen_place)]


def _build_pivot_table(
    context: RenderContext, pivot: Pivot, shown_run: ShownRun, last_run: ShownRun
) -> tuple[Table, Table | None]:
    """Build the table, and that of its diagonals if the pivot has them."""
    (request,) = block_rows.request_block_rows(context.checked, pivot)
    cells = _arrange_cells(context, pivot, shown_run, last_run)
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
        for kind in _list_mark_kinds(pivot, cells, (left, top))
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
        if (place_rows := cells.rows_by_place.get((left, top)))
    )
    table = Table(
        title,
        header,
        tuple(rows),
        tuple(marks),
        of_columns=entry_ids,
        of_headings=heading_entry,
        leads=links,
        row_units=(context.checked.get_metric(pivot.metric).unit.symbol,) * len(rows),
    )
    return table, _build_diagonals_table(context, pivot, shown_run, cells, (across, down)) if pivot.diagonals else None


def _list_mark_kinds(pivot: Pivot, cells: Cells, place: Key) -> Iterator[str]:
    """Yield the highlights of a cell: the shade of its diagonal, and whether it is bold."""
    if pivot.diagonals and (shade := cells.shades[_compute_product(place)]):
        yield shade
    if place in cells.strong_places:
        yield STRONG


def _shade_diagonals(down: Sequence[object], across: Sequence[object]) -> dict[Fraction, str]:
    """Return the shade of each diagonal: in ascending order of products, the one that has not been used for longest.

    Diagonals whose cells touch along an edge, or at the corners along a diagonal, have different shades, so that they
    do not look like one; if all shades are taken by such neighbours, it is the one not used for longest nevertheless.
    """
    products = [[_compute_product((left, top)) for top in across] for left in down]
    neighbours: dict[Fraction, set[Fraction]] = {product: set() for row in products for product in row}
    for y, row in enumerate(products):
        for x, product in enumerate(row):
            for below, right in ((0, 1), (1, 0), (1, -1)):
                if y + below < len(products) and 0 <= x + right < len(row):
                    other = products[y + below][x + right]
                    neighbours[product].add(other)
                    neighbours[other].add(product)
    shades: dict[Fraction, str] = {}
    queue = list(SHADES)
    for product in sorted(neighbours):
        used_shades = {shades[other] for other in neighbours[product] - {product} if other in shades}
        shades[product] = next((shade for shade in queue if shade not in used_shades), queue[0])
        queue.remove(shades[product])
        queue.append(shades[product])
    return shades


def _compute_product(place: Key) -> Fraction:
    """Compute the exact product of a place: 0.1 × 3 and 0.3 × 1 are one diagonal."""
    down, across = place
    assert isinstance(down, (int, float))
    assert isinstance(across, (int, float))
    return to_fraction(down) * to_fraction(across)


def _build_diagonals_table(
    context: RenderContext,
    pivot: Pivot,
    shown_run: ShownRun,
    cells: Cells,
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
            print_number(format_all_digits(_compute_product(place))),
            print_value(place[1], str(place[1])),
            print_value(place[0], str(place[0])),
            add_count_of_repeats(context.format_metric(metric, mean), place_rows, metric.id),
        )
        rows.append(
            (*leading_cells, *(_format_due_cells(context, pivot, metric, due_metric, mean) if due_metric else ()))
        )
        kinds = tuple(_list_mark_kinds(pivot, cells, place))
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
        _format_share(context, pivot, row, is_short=is_short),
        "yes" if is_short else "no",
    )


def _format_share(context: RenderContext, pivot: Pivot, row: Row, *, is_short: bool) -> str:
    """Return the share of the due value in percent, with enough decimals to be on the correct side of the limit."""
    metric, due_metric = map(context.checked.get_metric, (pivot.metric, pivot.due))
    actual_value, due_value = context.compute_exact_metric(metric, row), context.compute_exact_metric(due_metric, row)
    if actual_value is None or not due_value:
        return NO_VALUE
    share = format_on_same_side(
        100 * actual_value / due_value, 1, lambda printed_share: (printed_share < 100 - pivot.tolerance) == is_short
    )
    return print_number(share)


def _format_cell(context: RenderContext, pivot: Pivot, cells: Cells, place: Key) -> str:
    """Return the text of a cell, marked if it falls short of the due value."""
    row = cells.means_by_place.get(place)
    if row is None:
        return NO_VALUE
    metric = context.checked.get_metric(pivot.metric)
    text = add_count_of_repeats(context.format_metric(metric, row), cells.rows_by_place[place], metric.id)
    due_metric = context.checked.get_metric(pivot.due) if pivot.due else None
    return (
        convert_text(text, lambda number: number + FALLS_SHORT)
        if due_metric and block_rows.is_short(context.checked, metric, due_metric, row, pivot.tolerance)
        else text
    )
