"""Render sections: metrics of runs or phases side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.blocks.section import Section
from assay.lang.model.package import Metric
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.row_units import RowUnit, choose_report_units, choose_row_unit
from assay.report.run_results import get_average
from assay.report.sections import SectionContext, build_section, list_section_notes
from assay.report.tables import MetricTable, Table
from assay.report.versions import Version

T = TypeVar("T", Table, MetricTable)


@register_renderer(Section)
def render(context: RenderContext, items: Sequence[Section]) -> RenderedBlocks:
    """Render each section that has values, and its further columns: a table of all runs, or of the phases of a run."""
    printed = [item for item in items if _has_values(context, item)]
    empty_titles = [item.title for item in items if item not in printed]
    groups = [(create_section_context(context, versions), label) for versions, label in list_groups(context)]
    return RenderedBlocks(
        tables=tuple(_build_table(group, item, label) for item in printed for group, label in groups),
        gaps=(f"There are no values for: {', '.join(empty_titles)}.",) if empty_titles else (),
    )


def list_groups(context: RenderContext) -> Iterator[tuple[Sequence[Version], str]]:
    """Yield the columns of one table, and the label of its run if there are several tables.

    These are all versions, or all phases that the user names. Of phases of the report, each run has its own.
    """
    if not context.report.phases or not any(version.figures.phase for version in context.versions):
        yield context.versions, ""
        return
    for shown_run in context.runs:
        phases = ((version, version.figures.phase) for version in context.versions)
        versions = [
            replace(version, label=phase.name) for version, phase in phases if phase and phase.run == shown_run.run.id
        ]
        yield versions, shown_run.title_label


def title_table(table: T, run: str) -> T:
    """Return a table with the label of its run added to its title, if there is one."""
    return replace(table, title=f"{table.title}: {run}") if run else table


def create_section_context(context: RenderContext, versions: Sequence[Version]) -> SectionContext:
    """Return the context of sections and charts of versions or phases, the first of which is the baseline."""
    contexts = context.groups.values() or [context]  # a metric has one unit in all of a report
    columns = [version.figures for version in (*versions, *(item for other in contexts for item in other.versions))]
    units = choose_report_units(context.checked, context.report, columns, context.choices.summary)
    judgements = find_judgements(context, versions)
    return SectionContext(context.checked, context.report, versions, context.choices, judgements, units)


def find_report_unit(context: RenderContext, metric: Metric) -> RowUnit | None:
    """Return the unit of a metric in tables of averages; None if the report has no average of it."""
    units = create_section_context(context, context.versions).units
    return choose_row_unit(metric, (), units, context.choices) if metric.id in units else None


def find_judgements(context: RenderContext, versions: Sequence[Version]) -> ReportJudgements | None:
    """Return the judgements of versions, the first of which is the base; None if the report judges against another."""
    judgements = context.judgements
    return judgements if judgements and judgements.base == versions[0].id else None


def _has_values(context: RenderContext, item: Section) -> bool:
    metrics = map(context.checked.get_metric, item.metrics)
    columns, summary = [version.figures for version in context.versions], context.choices.summary
    return any(get_average(run, metric, summary) is not None for metric in metrics for run in columns)


def _build_table(context: SectionContext, item: Section, run: str) -> MetricTable:
    counted = context.find_counted(item)
    notes = tuple(list_section_notes(context, item, counted))
    return title_table(replace(build_section(context, item, counted), notes=notes), run)
