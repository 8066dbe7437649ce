"""Render tables of metrics against declared classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.engine.results import Formulas, build_average_lookup, build_row_lookup
from assay.lang import formula
from assay.lang.blocks.class_table import ClassTable
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import Figures
from assay.number_styles.registry import Style
from assay.number_styles.row import NO_VALUE
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, Term, register_renderer
from assay.report.cell_links import FORMULA, CellLink, CellSource
from assay.report.document import Entry, Table
from assay.report.glossary import OVER_METRICS
from assay.report.run_results import RunFigures, add_unit


def explain(_checked: CheckedPackage, table: ClassTable) -> Iterable[Term]:
    """Yield the entry of the table: its formula and its classes."""
    amounts = (f"{item.amount} {item.unit.symbol}".rstrip() for item in table.classes)
    listed_classes = "; ".join(f"{item.name} ({text})" for item, text in zip(table.classes, amounts, strict=True))
    value_source = f"the rows of its metrics by {table.across}" if table.across else "the averages of metrics over runs"
    formula_text = (
        f"Formula: {formula.format_formula(table.value)}, in {table.unit.name}, over the class and {value_source}."
    )
    description = f"{formula_text}\n{table.heading}: {listed_classes}."
    yield OVER_METRICS, Entry(get_class_table_id(table), table.title, table.unit.symbol, description, "")


def get_class_table_id(table: ClassTable) -> str:
    """Return the id of the values in a table against classes."""
    return f"classes.{'-'.join(table.title.lower().split())}"


@register_renderer(ClassTable, explain=explain)
def render(context: RenderContext, items: Sequence[ClassTable]) -> RenderedBlocks:
    """Render the tables against classes, and say why cells of them are empty."""
    tables, gaps = [], []
    runs, run_labels = [shown_run.run for shown_run in context.runs], [shown_run.label for shown_run in context.runs]
    for table in items:
        columns = (runs, run_labels) if table.across else (context.comparison.columns, context.headings)
        built_tables, notes = build_class_tables(context.checked, context.number_style, table, *columns)
        tables += built_tables
        gaps += notes
    return RenderedBlocks(tables=tuple(tables), gaps=tuple(gaps))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of figures: its heading, run and figures, and the key columns of its row if it is one."""

    heading: str
    run: RunFigures
    figures: Figures
    where: tuple[tuple[str, str], ...] = ()


def build_class_tables(
    checked: CheckedPackage,
    number_style: Style,
    table: ClassTable,
    runs: Sequence[RunFigures],
    run_labels: Sequence[str],
) -> tuple[list[Table], list[str]]:
    """Build a table against classes, one for each run if its columns are rows; also return notes on empty cells."""
    if not table.across:
        summary = checked.package.summaries[0].name
        columns = [
            _Column(label, run, build_average_lookup(run.results.metrics, summary))
            for run, label in zip(runs, run_labels, strict=True)
        ]
        built_table, notes = _build_table(checked, number_style, table, columns, "")
        return [built_table], notes
    tables, all_notes = [], []
    for run, label in zip(runs, run_labels, strict=True):
        built_table, notes = _build_table(
            checked, number_style, table, _list_columns(checked, table, run), label if len(runs) > 1 else ""
        )
        tables.append(built_table)
        all_notes += notes
    return tables, list(dict.fromkeys(all_notes))


def _list_columns(checked: CheckedPackage, table: ClassTable, run: RunFigures) -> list[_Column]:
    (request,) = block_rows.request_block_rows(checked, table)
    rows = run.results.rows[request.name]
    keys = [tuple(row[name] for name in request.keys) for row in rows]
    headings = block_rows.name_keys(request.keys, table.across, keys)
    key_texts = [tuple((name, str(row[name])) for name in request.keys) for row in rows]
    return [
        _Column(headings[key], run, build_row_lookup(checked, row), texts)
        for key, row, texts in zip(keys, rows, key_texts, strict=True)
    ]


def _build_table(
    checked: CheckedPackage, number_style: Style, table: ClassTable, columns: Sequence[_Column], label: str
) -> tuple[Table, list[str]]:
    """Build a table with a row for each class; a cell without a value is a dash, and a note has the reason."""
    notes: dict[str, None] = {}
    title = f"{table.title}: {label}" if label else table.title
    rows = []
    for item in table.classes:
        node = table.build_class_formula(item)
        cells = []
        for column in columns:
            formulas = Formulas(checked, column.run.constants, notes)
            value = formulas.evaluate_figure(f"{title}, {column.heading}", node, column.figures)
            cells.append(
                NO_VALUE if value is None else number_style.format_table_row([float(value)], table.width).cells[0]
            )
        rows.append((item.name, *cells))
    header = (table.heading, *(add_unit(column.heading, table.unit.symbol) for column in columns))
    links = tuple(
        CellLink(y, x, FORMULA, tuple(CellSource(name, column.run.id, column.where) for name in table.read_metrics()))
        for y in range(len(rows))
        for x, column in enumerate(columns, start=1)
    )
    entry_ids = (get_class_table_id(table),) * len(header)
    return Table(title, header, tuple(rows), of_columns=entry_ids, leads=links), list(notes)
