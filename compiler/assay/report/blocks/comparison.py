"""Render comparisons: metrics of runs, or phases of them, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.lang.blocks.comparison import Comparison
from assay.lang.model.package import Metric
from assay.lang.normal_form import CheckedPackage
from assay.report.assemble import DELTA
from assay.report.blocks.context import RenderContext, Rendered, renders
from assay.report.cell_links import compared
from assay.report.document import Table
from assay.report.run_results import RunFigures, row_label
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE


@renders(Comparison, position=50)
def render(context: RenderContext, items: Sequence[Comparison]) -> Rendered:
    """Render a table of all runs, or of the phases of each run, for each comparison."""
    groups = list(list_groups(context))
    tables = (
        title_table(comparison(context.checked, context.look, item, columns, named), label)
        for item in items
        for columns, named, label in groups
    )
    return Rendered(tables=tuple(tables))


def comparison(
    checked: CheckedPackage, look: Style, item: Comparison, columns: Sequence[RunFigures], named: Sequence[str]
) -> Table:
    """A row a metric: its average in each column, with the differences from the first."""
    header = ["", named[0]]
    for name in named[1:]:
        header += [name, *DELTA]
    rows = [
        compare_averages(look, checked.metric(name), [average(checked, run, name) for run in columns])
        for name in item.metrics
    ]
    ids = [run.id for run in columns]
    leads = tuple(lead for place, name in enumerate(item.metrics) for lead in compared(place, name, ids))
    return Table(item.title, tuple(header), tuple(rows), of_rows=item.metrics, leads=leads)


def compare_averages(look: Style, metric: Metric, values: Sequence[float | None]) -> tuple[str, ...]:
    found = look.table_row(values, metric.width)
    cells = [row_label(metric.name, metric.unit.symbol), found.cells[0]]
    for cell, delta, percent in zip(found.cells[1:], found.deltas, found.percents, strict=True):
        cells += [cell, delta, percent]
    return tuple(cell or NO_VALUE for cell in cells)


def average(checked: CheckedPackage, run: RunFigures, metric: str) -> float | None:
    """The average of a metric in a run or phase, or what a formula comes to; None without samples."""
    summary = checked.package.summaries[0].name
    if metric in run.results.formulas:
        return run.results.formulas[metric].averages[summary]
    found = run.results.metrics[metric]
    return found.averages[summary] if found.size else None


def list_groups(context: RenderContext) -> Iterator[tuple[Sequence[RunFigures], Sequence[str], str]]:
    """Yield what one table compares (all runs, or the phases of one): columns, their names, the run if it is named."""
    columns, runs = context.compared.columns, context.runs
    if not any(column.phase for column in columns):
        yield columns, [shown.label for shown in runs], ""
        return
    for shown in runs:
        phases = [
            (column, column.phase.name) for column in columns if column.phase and column.phase.run == shown.run.id
        ]
        yield (
            [column for column, _ in phases],
            [name for _, name in phases],
            shown.label if len(runs) > 1 else "",
        )


def title_table(table: Table, run: str) -> Table:
    """Return a table with the label of its run in its title, if there is one."""
    return replace(table, title=f"{table.title}: {run}") if run else table
