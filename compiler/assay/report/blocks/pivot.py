"""Render pivots, and tables of their diagonals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.lang.blocks.pivot import Pivot
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Column, Metric
from assay.report.blocks import rows as asked
from assay.report.blocks.context import (
    RenderContext,
    Rendered,
    ShownRun,
    Term,
    cell,
    column_named,
    heading,
    metric_heading,
    renders,
    titled,
)  # fmt: skip
from assay.report.blocks.rows import Row, ordered
from assay.report.cell_links import ROW, SHARE, SHORT, CellLink, on_row
from assay.report.document import Entry, Mark, Table
from assay.report.glossary import OVER_COLUMNS, OVER_METRICS, name_column, of_column
from assay.styles.exact_decimal import decimal_value, on_its_side, whole_text
from assay.styles.row import NO_VALUE

FALLS_SHORT = " *"
STRONG, SHADED = "strong", "shaded"


def explain(checked: CheckedPackage, pivot: Pivot) -> Iterable[Term]:
    """Yield the entries of the table of diagonals."""
    across = f"{name_column(pivot.across)} × {pivot.down.replace('_', ' ')}"
    said = (
        f"The product of the columns {pivot.across} and {pivot.down} of the grain {pivot.grain}; equal on a diagonal "
        "of the table before."
    )
    yield OVER_COLUMNS, Entry(of_product(pivot), across, "", said, "")
    if pivot.due:
        metric, due = checked.metric(pivot.metric), checked.metric(pivot.due)
        said = f"100 × {metric.id} / {due.id}: {metric.name}, in percent of {due.name}."
        yield OVER_METRICS, Entry(of_share(pivot), "Of what is due", "%", said, "")


def of_product(pivot: Pivot) -> str:
    """Return the id of what row and column of a cell amount to."""
    return f"product.{pivot.grain}.{pivot.down}.{pivot.across}"


def of_share(pivot: Pivot) -> str:
    """Return the id of the metric's share of what is due, in percent."""
    return f"share.{pivot.metric}.{pivot.due}"


@renders(Pivot, position=60, explain=explain)
def render(context: RenderContext, pivots: Sequence[Pivot]) -> Rendered:
    """Render the tables of all runs side by side for each pivot, then those of their diagonals."""
    tables = (table for item in pivots for table in _pivots(context, item, context.runs))
    return Rendered(tables=tuple(tables), choices=tuple(item.choice for item in pivots))


@dataclass(frozen=True, slots=True)
class Cells:
    """The rows of a pivot by their places, and the values down and across in order."""

    at: Mapping[tuple[object, object], Row]
    down: Sequence[object]
    across: Sequence[object]


def _pivots(context: RenderContext, pivot: Pivot, runs: Sequence[ShownRun]) -> Iterator[Table]:
    """The tables of all runs side by side, then those of their diagonals."""
    made = [_pivot(context, pivot, shown) for shown in runs]
    yield from (replace(table, beside=place > 0) for place, (table, _) in enumerate(made))
    yield from (diagonals for _, diagonals in made if diagonals)


def _pivot(context: RenderContext, pivot: Pivot, shown: ShownRun) -> tuple[Table, Table | None]:
    """The table, and that of its diagonals."""
    (item,) = asked.listed_of(context.checked, pivot)
    at: dict[tuple[object, object], Row] = {}
    for row in sorted(asked.rows(shown.run, item), key=lambda row: ordered(row[pivot.first])):
        at.setdefault((row[pivot.down], row[pivot.across]), row)
    cells = Cells(at, sorted({d for d, _ in at}, key=ordered), sorted({a for _, a in at}, key=ordered))
    chosen = context.row(pivot.choice, shown.run)
    place = (chosen[pivot.down], chosen[pivot.across]) if chosen else None
    down, across = (column_named(item.grain, name) for name in (pivot.down, pivot.across))
    rows = [
        (cell(down, left), *(_cell(context, pivot, at.get((left, top))) for top in cells.across)) for left in cells.down
    ]
    marks = [
        Mark(y, x, kind)
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        for kind in _kinds(pivot, cells, (left, top), place)
    ]
    header = (f"{heading(down)} \\ {heading(across)}", *(cell(across, top) for top in cells.across))
    means = (of_column(pivot.grain, pivot.down), *(pivot.metric for _ in cells.across))
    title, heads = titled(pivot.title, shown.titled), of_column(pivot.grain, pivot.across)
    leads = tuple(
        CellLink(y, x, ROW, (on_row(pivot.metric, shown.run.id, at[left, top], pivot.columns),))
        for y, left in enumerate(cells.down)
        for x, top in enumerate(cells.across, start=1)
        if (left, top) in at
    )
    table = Table(title, header, tuple(rows), tuple(marks), of_columns=means, of_headings=heads, leads=leads)
    return table, _diagonals(context, pivot, shown, cells, place, (across, down)) if pivot.diagonals else None


def _kinds(pivot: Pivot, cells: Cells, at: tuple[object, object], chosen: object) -> Iterator[str]:
    """What sets a cell apart: every other diagonal is shaded, the chosen cell strong."""
    if pivot.diagonals and _products(cells).index(_product(at)) % 2:
        yield SHADED
    if at == chosen:
        yield STRONG


def _product(at: tuple[object, object]) -> Fraction:
    """What a place amounts to, exactly: 0.1 × 3 and 0.3 × 1 are one diagonal."""
    down, across = at
    assert isinstance(down, (int, float))
    assert isinstance(across, (int, float))
    return decimal_value(down) * decimal_value(across)


def _products(cells: Cells) -> list[Fraction]:
    """What the diagonals amount to, those of all places, in order."""
    return sorted({_product((down, across)) for down in cells.down for across in cells.across})


def _diagonals(
    context: RenderContext, pivot: Pivot, shown: ShownRun, cells: Cells, chosen: object, columns: tuple[Column, Column]
) -> Table:
    """A row for each cell, those of a diagonal together: what it amounts to, place, value, what is due."""
    across, down = columns
    metric = context.checked.metric(pivot.metric)
    due = context.checked.metric(pivot.due) if pivot.due else None
    places = sorted(cells.at, key=lambda at: (_product(at), ordered(at[1])))
    rows, marks, leads = [], [], list[CellLink]()
    for y, at in enumerate(places):
        row = cells.at[at]
        given = (whole_text(_product(at)), str(at[1]), str(at[0]), context.text(metric, row))
        rows.append((*given, *(_due(context, pivot, metric, due, row) if due else ())))
        kinds = tuple(_kinds(pivot, cells, at, chosen))
        marks += [Mark(y, x, kind) for kind in kinds for x in range(len(rows[-1]))]
        of = [on_row(item.id, shown.run.id, row, pivot.columns) for item in (metric, *((due,) if due else ()))]
        leads += [CellLink(y, x, ROW, (item,)) for x, item in enumerate(of, start=len(given) - 1)]
        leads += [
            CellLink(y, len(given) + x, prints, tuple(of)) for x, prints in enumerate((SHARE, SHORT), start=1) if due
        ]
    header = [
        f"{across.name.replace('_', ' ').capitalize()} × {down.name.replace('_', ' ')}",
        heading(across), heading(down), metric_heading(metric),
    ]  # fmt: skip
    header += [metric_heading(due), "Of what is due, %", f"Short by more than {pivot.tolerance} %"] if due else []
    places_ = (of_column(pivot.grain, pivot.across), of_column(pivot.grain, pivot.down))
    means: tuple[str, ...] = (of_product(pivot), *places_, metric.id)
    means += (due.id, of_share(pivot), "") if due else ()
    title = titled("Diagonals", shown.titled)
    return Table(title, tuple(header), tuple(rows), tuple(marks), of_columns=means, leads=tuple(leads))


def _due(context: RenderContext, pivot: Pivot, metric: Metric, due: Metric, row: Row) -> tuple[str, str, str]:
    """What is due, the share of it that there is, whether that falls short."""
    short = asked.short(context.checked, metric, due, row, pivot.tolerance)
    return context.text(due, row), _share(context, pivot, metric, due, row, short), "yes" if short else "no"


def _share(context: RenderContext, pivot: Pivot, metric: Metric, due: Metric, row: Row, short: bool) -> str:
    """The share in percent, with as many decimals as it takes to be seen on its side of what counts as short."""
    found, wanted = context.exact(metric, row), context.exact(due, row)
    if found is None or not wanted:
        return NO_VALUE
    return on_its_side(100 * found / wanted, 1, lambda shown: (shown < 100 - pivot.tolerance) == short)


def _cell(context: RenderContext, pivot: Pivot, row: Row | None) -> str:
    """A cell; marked when it falls short of what is due."""
    if row is None:
        return NO_VALUE
    metric = context.checked.metric(pivot.metric)
    text = context.text(metric, row)
    due = context.checked.metric(pivot.due) if pivot.due else None
    return text + FALLS_SHORT if due and asked.short(context.checked, metric, due, row, pivot.tolerance) else text
