"""Render tables of metrics against declared classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.engine.results import Formulas, averages, measured
from assay.lang import formula
from assay.lang.blocks.class_table import ClassTable
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import Figures
from assay.report.blocks import rows as asked
from assay.report.blocks.context import RenderContext, Rendered, Term, renders
from assay.report.cell_links import FORMULA, CellLink, CellSource
from assay.report.document import Entry, Table
from assay.report.glossary import OVER_METRICS
from assay.report.run_results import RunFigures, row_label
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE


def explain(_checked: CheckedPackage, table: ClassTable) -> Iterable[Term]:
    """Yield the entry of the table: its formula, and what its classes are."""
    listed = "; ".join(f"{item.name} ({item.amount} {item.unit.symbol})" for item in table.classes)
    values = f"the rows of its metrics by {table.across}" if table.across else "the averages of metrics over runs"
    worked = f"Formula: {formula.format_formula(table.value)}, in {table.unit.name}, over the class and {values}."
    said = f"{worked}\n{table.heading}: {listed}."
    yield OVER_METRICS, Entry(of_classes(table), table.title, table.unit.symbol, said, "")


def of_classes(table: ClassTable) -> str:
    """Return the id of what a table against classes shows."""
    return f"classes.{'-'.join(table.title.lower().split())}"


@renders(ClassTable, position=90, explain=explain)
def render(context: RenderContext, items: Sequence[ClassTable]) -> Rendered:
    """Render the tables against classes, and say why cells of them are empty."""
    tables, gaps = [], []
    runs, named = [shown.run for shown in context.runs], [shown.label for shown in context.runs]
    for table in items:
        columns = (runs, named) if table.across else (context.compared.columns, context.headings)
        found, why = class_tables(context.checked, context.look, table, *columns)
        tables += found
        gaps += why
    return Rendered(tables=tuple(tables), gaps=tuple(gaps))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of figures: its heading, its run, the figures in it, the columns that tell its row, if it is one."""

    heading: str
    run: RunFigures
    figures: Figures
    where: tuple[tuple[str, str], ...] = ()


def class_tables(
    checked: CheckedPackage, look: Style, table: ClassTable, runs: Sequence[RunFigures], named: Sequence[str]
) -> tuple[list[Table], list[str]]:
    """A table against classes, one for each run where its columns are rows; and why cells are empty."""
    if not table.across:
        summary = checked.package.summaries[0].name
        columns = [
            _Column(label, run, averages(run.results.metrics, summary)) for run, label in zip(runs, named, strict=True)
        ]
        found, notes = _table(checked, look, table, columns, "")
        return [found], notes
    tables, said = [], []
    for run, label in zip(runs, named, strict=True):
        found, notes = _table(checked, look, table, _rows(checked, table, run), label if len(runs) > 1 else "")
        tables.append(found)
        said += notes
    return tables, list(dict.fromkeys(said))


def _rows(checked: CheckedPackage, table: ClassTable, run: RunFigures) -> list[_Column]:
    (listed,) = asked.listed_of(checked, table)
    rows = run.results.rows[listed.name]
    keys = [tuple(row[name] for name in listed.keys) for row in rows]
    headings = asked.name_keys(listed.keys, table.across, keys)
    where = [tuple((name, str(row[name])) for name in listed.keys) for row in rows]
    return [
        _Column(headings[key], run, measured(checked, row), texts)
        for key, row, texts in zip(keys, rows, where, strict=True)
    ]


def _table(
    checked: CheckedPackage, look: Style, table: ClassTable, columns: Sequence[_Column], label: str
) -> tuple[Table, list[str]]:
    """A row for each class; a cell without a value is a dash, and a note says why."""
    notes: dict[str, None] = {}
    title = f"{table.title}: {label}" if label else table.title
    rows = []
    for item in table.classes:
        node = table.formula_of(item)
        cells = []
        for column in columns:
            worked = Formulas(checked, column.run.constants, notes)
            value = worked.figure(f"{title}, {column.heading}", node, column.figures)
            cells.append(NO_VALUE if value is None else look.table_row([float(value)], table.width).cells[0])
        rows.append((item.name, *cells))
    header = (table.heading, *(row_label(column.heading, table.unit.symbol) for column in columns))
    leads = tuple(
        CellLink(y, x, FORMULA, tuple(CellSource(name, column.run.id, column.where) for name in table.read_metrics()))
        for y in range(len(rows))
        for x, column in enumerate(columns, start=1)
    )
    means = (of_classes(table),) * len(header)
    return Table(title, header, tuple(rows), of_columns=means, leads=leads), list(notes)
