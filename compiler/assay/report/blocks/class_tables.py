"""Tables of an article that set metrics against declared classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.engine.results import Formulas, averages, measured
from assay.lang import formula
from assay.lang.formula import Figures
from assay.lang.model.article import Article, ClassTable
from assay.lang.model.package import Metric
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import RowRequest, request_rows
from assay.report.blocks.line_names import names
from assay.report.cell_links import FORMULA, CellLink, CellSource
from assay.report.document import Table
from assay.report.glossary import of_classes
from assay.report.run_results import RunFigures, row_label
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of figures: its heading, its run, the figures in it, the columns that tell its row, if it is one."""

    heading: str
    run: RunFigures
    figures: Figures
    where: tuple[tuple[str, str], ...] = ()


def rows_of_classes(checked: CheckedPackage, table: ClassTable) -> RowRequest | None:
    """The rows that are the columns of a table against classes; None where these are the runs."""
    if not table.across:
        return None
    metrics = metrics_of_classes(checked, table)
    name = formula.find_grain(formula.index_metrics(checked.package), metrics[0])
    grain = next(item for item in checked.package.grains if item.name == name)
    return request_rows(checked.package, grain, tuple(dict.fromkeys((table.across, *grain.key))), metrics)


def metrics_of_classes(checked: CheckedPackage, table: ClassTable) -> tuple[Metric, ...]:
    """The metrics that a table against classes is over."""
    return tuple(checked.metric(name) for name in formula.list_inputs(table.value))


def averaged(checked: CheckedPackage, article: Article) -> tuple[Metric, ...]:
    """The metrics of which an article needs the averages over runs."""
    found = {
        metric.id: metric
        for part in article.parts
        for table in part.class_tables
        if not table.across
        for metric in metrics_of_classes(checked, table)
    }
    return tuple(found.values())


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
    listed = rows_of_classes(checked, table)
    assert listed is not None
    rows = run.results.rows[listed.name]
    keys = [tuple(row[name] for name in listed.keys) for row in rows]
    headings = names(listed.keys, table.across, keys)
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
        node = formula.insert_class_amount(table.value, item)
        cells = []
        for column in columns:
            worked = Formulas(checked, column.run.constants, notes)
            value = worked.figure(f"{title}, {column.heading}", node, column.figures)
            cells.append(NO_VALUE if value is None else look.table_row([float(value)], table.width).cells[0])
        rows.append((item.name, *cells))
    header = (table.heading, *(row_label(column.heading, table.unit.symbol) for column in columns))
    names_ = [metric.id for metric in metrics_of_classes(checked, table)]
    leads = tuple(
        CellLink(y, x, FORMULA, tuple(CellSource(name, column.run.id, column.where) for name in names_))
        for y in range(len(rows))
        for x, column in enumerate(columns, start=1)
    )
    means = (of_classes(table),) * len(header)
    return Table(title, header, tuple(rows), of_columns=means, leads=leads), list(notes)
