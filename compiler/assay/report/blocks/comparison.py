"""Render comparisons: metrics of runs, or of phases of runs, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.blocks.comparison import Comparison
from assay.lang.checked_package import CheckedPackage
from assay.number_styles.registry import Style
from assay.number_styles.row import NO_VALUE
from assay.report.assemble import compare_values, name_columns
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.cell_links import link_comparison
from assay.report.document import Table
from assay.report.judged_cells import format_judged_cells, name_judged_columns
from assay.report.row_units import choose_units
from assay.report.run_results import RunFigures, get_average
from assay.report.section_notes import list_verdict_notes


@register_renderer(Comparison)
def render(context: RenderContext, items: Sequence[Comparison]) -> RenderedBlocks:
    """Render a table of all runs, or of the phases of each run, for each comparison that has values."""
    groups = list(list_groups(context))
    summary = context.checked.package.summaries[0].name
    metrics = {item.title: [context.checked.get_metric(name) for name in item.metrics] for item in items}
    empty_titles = [
        title
        for title, compared in metrics.items()
        if all(get_average(run, metric, summary) is None for run in context.comparison.columns for metric in compared)
    ]
    printed = [item for item in items if item.title not in empty_titles]
    tables = (
        title_table(build_comparison_table(context, item, columns, column_labels), label)
        for item in printed
        for columns, column_labels, label in groups
    )
    compared = [metric for item in printed for metric in metrics[item.title]]
    notes = [
        note
        for columns, column_labels, _ in groups
        if find_judgements(context, columns)
        for note in list_verdict_notes(compared, columns, column_labels, context.judgements)
    ]
    gaps = (f"There are no values for: {', '.join(empty_titles)}.",) if empty_titles else ()
    return RenderedBlocks(tables=tuple(tables), notes=tuple(notes), gaps=gaps)


def find_judgements(context: RenderContext, columns: Sequence[RunFigures]) -> ReportJudgements | None:
    """Return the judgements of columns, the first of which is the base; None if the report judges against another."""
    judgements = context.judgements
    return judgements if judgements and judgements.base == columns[0].id else None


def build_comparison_table(
    context: RenderContext, item: Comparison, columns: Sequence[RunFigures], column_labels: Sequence[str]
) -> Table:
    """Build a table with a row for each metric: its average in each column, with the differences from the first.

    If the differences are judged, intervals and verdicts follow.
    """
    checked, judgements = context.checked, find_judgements(context, columns)
    rows = [
        compare_averages(checked, context.number_style, name, columns, item.metrics, judgements)[1]
        for name in item.metrics
    ]
    column_ids = [run.id for run in columns]
    links = tuple(
        link
        for row, name in enumerate(item.metrics)
        for link in link_comparison(row, name, column_ids, is_judged=judgements is not None)
    )
    header = name_columns(column_labels, name_judged_columns(judgements.level) if judgements else ())
    return Table(item.title, header, tuple(rows), of_rows=item.metrics, leads=links)


def compare_averages(
    checked: CheckedPackage,
    number_style: Style,
    name: str,
    columns: Sequence[RunFigures],
    neighbours: Sequence[str] = (),
    judgements: ReportJudgements | None = None,
) -> tuple[list[float | None], tuple[str, ...]]:
    """Return the averages of a metric in runs or phases, and its row; cells without a value are dashes.

    With `judgements`, each difference is followed by its interval and verdict.

    Segments of one metric among the metrics of the table, `neighbours`, have one unit.
    """
    metric, summary = checked.get_metric(name), checked.package.summaries[0].name
    values = [get_average(run, metric, summary) for run in columns]
    unit = choose_units(map(checked.get_metric, dict.fromkeys((name, *neighbours))), columns, summary).get(name)
    changes = [judgements.changes[name, run.id] for run in columns[1:]] if judgements else []
    judged_cells = [format_judged_cells(change, metric.unit.symbol) for change in changes]
    row = compare_values(number_style, metric, values, judged_cells, unit)
    return values, tuple(cell or NO_VALUE for cell in row)


def list_groups(context: RenderContext) -> Iterator[tuple[Sequence[RunFigures], Sequence[str], str]]:
    """Yield the columns of one table (all runs, or the phases of one), their labels, and the run's label if needed."""
    columns, runs = context.comparison.columns, context.runs
    if not any(column.phase for column in columns):
        yield columns, [shown_run.label for shown_run in runs], ""
        return
    for shown_run in runs:
        phases = [
            (column, column.phase.name) for column in columns if column.phase and column.phase.run == shown_run.run.id
        ]
        yield (
            [column for column, _ in phases],
            [name for _, name in phases],
            shown_run.label if len(runs) > 1 else "",
        )


def title_table(table: Table, run: str) -> Table:
    """Return a table with the label of its run added to its title, if there is one."""
    return replace(table, title=f"{table.title}: {run}") if run else table
