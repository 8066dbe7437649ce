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
from assay.report.document import Entry
from assay.report.glossary import OVER_METRICS
from assay.report.run_results import RunFigures, add_unit
from assay.report.tables import Table


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
    for table in items:
        built_tables, notes = build_class_tables(context, table)
        tables += built_tables
        gaps += notes
    return RenderedBlocks(tables=tuple(tables), gaps=tuple(gaps))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of figures: its heading, run, figures and their sources' runs, and the key columns of a row."""

    heading: str
    run: RunFigures
    figures: Figures
    runs: tuple[str, ...]
    where: tuple[tuple[str, str], ...] = ()


def build_class_tables(context: RenderContext, table: ClassTable) -> tuple[list[Table], list[str]]:
    """Build a table against classes, one for each run if its columns are rows; also return notes on empty cells."""
    checked, number_style = context.checked, context.number_style
    if not table.across:
        columns = [
            _Column(
                version.label,
                version.figures,
                build_average_lookup(version.figures.results.metrics, context.choices.summary),
                version.runs,
            )
            for version in context.versions
        ]
        built_table, notes = _build_table(checked, number_style, table, columns, "")
        return [built_table], notes
    tables, all_notes = [], []
    for shown_run in context.runs:
        columns = _list_columns(checked, table, shown_run.run)
        built_table, notes = _build_table(checked, number_style, table, columns, shown_run.title_label)
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
        _Column(headings[key], run, build_row_lookup(checked, row), (run.id,), texts)
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
    names = tuple(table.read_metrics())
    sources = [tuple(CellSource(name, run, item.where) for name in names for run in item.runs) for item in columns]
    links = tuple(CellLink(y, x, FORMULA, item) for y in range(len(rows)) for x, item in enumerate(sources, start=1))
    entry_ids = (get_class_table_id(table),) * len(header)
    return Table(
        title, header, tuple(rows), of_columns=entry_ids, leads=links, row_units=(table.unit.symbol,) * len(rows)
    ), list(notes)
