"""Render comparisons: metrics of runs, or phases of them, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.lang.blocks.comparison import Comparison
from assay.lang.checked_package import CheckedPackage
from assay.report.assemble import compare_values, name_columns
from assay.report.blocks.context import RenderContext, Rendered, renders
from assay.report.cell_links import compared
from assay.report.document import Table
from assay.report.run_results import RunFigures, average
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
    rows = [compare_averages(checked, look, name, columns)[1] for name in item.metrics]
    ids = [run.id for run in columns]
    leads = tuple(lead for place, name in enumerate(item.metrics) for lead in compared(place, name, ids))
    return Table(item.title, name_columns(named), tuple(rows), of_rows=item.metrics, leads=leads)


def compare_averages(
    checked: CheckedPackage, look: Style, name: str, columns: Sequence[RunFigures]
) -> tuple[list[float | None], tuple[str, ...]]:
    """Return the averages of a metric in runs or phases, and its row; cells without a value are dashes."""
    metric, summary = checked.metric(name), checked.package.summaries[0].name
    values = [average(run, metric, summary) for run in columns]
    return values, tuple(cell or NO_VALUE for cell in compare_values(look, metric, values))


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
