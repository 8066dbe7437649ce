"""Render sections in parts: metrics of runs, or of phases of runs, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.blocks.section import Section
from assay.number_styles.row import NO_VALUE
from assay.report.blocks.context import RenderContext, RenderedBlocks, register_renderer
from assay.report.cell_links import link_rows
from assay.report.document import Table
from assay.report.percentiles import list_split_notes
from assay.report.row_units import choose_report_units
from assay.report.run_results import get_average
from assay.report.section_notes import list_verdict_notes
from assay.report.sections import SectionContext, build_section
from assay.report.versions import Version, list_mean_notes


@register_renderer(Section)
def render(context: RenderContext, items: Sequence[Section]) -> RenderedBlocks:
    """Render each section that has values: a table of all runs, or of the phases of each run, and its further columns.

    The notes below tables of a report are above those of a part: what split sections show, then what is not judged.
    """
    groups = [(_create_section_context(context, versions), label) for versions, label in list_groups(context)]
    printed = [item for item in items if _has_values(context, item)]
    tables = (
        title_table(table, label) for item in printed for section_context, label in groups
        for table in _build_tables(section_context, item)
    )  # fmt: skip
    texts = [(item.title, item.doc) for item in printed if item.doc]
    texts += [
        (item.title, note) for item in printed for section_context, _ in groups
        for note in list_split_notes(context.checked, item, section_context.versions, context.choices)
    ]  # fmt: skip
    compared = [context.checked.get_metric(name) for item in printed for name in item.metrics]
    mean_notes = [note for section_context, _ in groups for note in list_mean_notes(section_context.versions, compared)]
    verdict_notes = [
        note
        for section_context, _ in groups
        for note in list_verdict_notes(
            compared,
            section_context.runs,
            [version.label for version in section_context.versions],
            section_context.judgements,
        )
    ]
    empty_titles = [item.title for item in items if item not in printed]
    return RenderedBlocks(
        tables=tuple(tables),
        notes=(*mean_notes, *dict.fromkeys(f"{title}: {text}" for title, text in texts), *verdict_notes),
        gaps=(f"There are no values for: {', '.join(empty_titles)}.",) if empty_titles else (),
    )


def _has_values(context: RenderContext, item: Section) -> bool:
    metrics = map(context.checked.get_metric, item.metrics)
    columns, summary = [version.figures for version in context.versions], context.choices.summary
    return any(get_average(run, metric, summary) is not None for metric in metrics for run in columns)


def _create_section_context(context: RenderContext, versions: Sequence[Version]) -> SectionContext:
    """Return the context of the sections of some versions, the first of which is the baseline."""
    checked, report, choices = context.checked, context.report, context.choices
    units = choose_report_units(checked, report, [version.figures for version in versions], choices.summary)
    return SectionContext(checked, report, versions, choices, find_judgements(context, versions), units)


def find_judgements(context: RenderContext, versions: Sequence[Version]) -> ReportJudgements | None:
    """Return the judgements of versions, the first of which is the base; None if the report judges against another."""
    judgements = context.judgements
    return judgements if judgements and judgements.base == versions[0].id else None


def _build_tables(context: SectionContext, item: Section) -> Iterator[Table]:
    """Yield the table of a section, and that of its further columns; cells without a value are dashes."""
    section = build_section(context, item)
    rows = (tuple(cell or NO_VALUE for cell in row) for row in section.rows)
    links = tuple(link_rows(item.metrics, section.printed))
    yield Table(section.title, section.header, tuple(rows), of_rows=item.metrics, leads=links)
    if section.percentiles:
        yield section.percentiles


def list_groups(context: RenderContext) -> Iterator[tuple[Sequence[Version], str]]:
    """Yield the columns of one table (all versions, or the phases of a run), and the run's label if there are several.

    Phases are labelled with their names.
    """
    if not any(version.figures.phase for version in context.versions):
        yield context.versions, ""
        return
    for shown_run in context.runs:
        phases = ((version, version.figures.phase) for version in context.versions)
        versions = [
            replace(version, label=phase.name) for version, phase in phases if phase and phase.run == shown_run.run.id
        ]
        yield versions, shown_run.title_label


def title_table(table: Table, run: str) -> Table:
    """Return a table with the label of its run added to its title, if there is one."""
    return replace(table, title=f"{table.title}: {run}") if run else table
