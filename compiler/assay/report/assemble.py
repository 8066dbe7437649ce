"""Assemble the document of a comparison from results: cells, charts, dictionary, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.filters import FilterSource
from assay.lang.model.package import Metric
from assay.lang.model.parts import get_group_name
from assay.lang.model.report import Report, Section
from assay.lang.segments import is_segment
from assay.number_styles.cell_text import print_number
from assay.number_styles.registry import get_style
from assay.number_styles.row import RunResults, has_right_magnitude, is_imprecise_percent
from assay.report import run_results
from assay.report.averages_note import describe_averages
from assay.report.blocks.context import explain_blocks
from assay.report.cell_links import FACT, FILTER, CellLink, CellSource
from assay.report.data_quality import build_quality_parts
from assay.report.document import Document, Group, Part
from assay.report.first_page.answer import Answer
from assay.report.first_page.compose import compose_answers
from assay.report.glossary import build_metric_entry, build_terms, get_filter_id, iter_metric_tables, iter_tables
from assay.report.parts import (
    ShownParts,
    build_part_dictionary,
    build_parts,
    collect_group_values,
    list_shown_sources,
)
from assay.report.placeholders import choose_texts, collect_placeholder_values, compares_runs, fill_placeholders
from assay.report.row_units import choose_report_units
from assay.report.run_groups import list_main_runs
from assay.report.run_parameters import build_constants_table, build_parameters_table
from assay.report.run_results import Choices, RunFigures
from assay.report.sections import SectionContext
from assay.report.short_counts import explain_short_counts
from assay.report.tables import Appendix, Table
from assay.report.versions import Version, combine_columns, combine_runs
from assay.util.escape import shorten


def list_cut_warnings(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices
) -> Iterable[str]:
    """Yield warnings on metrics whose cells lack digits before the decimal point."""
    number_style = get_style(choices.style)
    for metric, values in _list_averages(checked, report, runs, choices):
        cells = number_style.format_table_row(values, metric.width).cells
        misprinted = [
            (cell, value) for cell, value in zip(cells, values, strict=True) if not has_right_magnitude(cell, value)
        ]
        if misprinted:
            cells_and_values = ", ".join(f"{cell} for {value:.0f}" for cell, value in misprinted)
            yield (
                f"The number style {choices.style} has too few digits for values of {metric.name} "
                f"({cells_and_values}): its cells and differences are wrong."
            )


def describe_imprecise_differences(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices
) -> str:
    """Return a sentence on metrics whose printed differences are too coarse to show the change; empty if none are."""
    number_style = get_style(choices.style)
    imprecise_metrics = []
    for metric, (base, *values) in _list_averages(checked, report, runs, choices):
        percents = number_style.format_table_row([base, *values], metric.width).percents
        if any(is_imprecise_percent(percent, base, value) for percent, value in zip(percents, values, strict=True)):
            imprecise_metrics.append(metric.name)
    if not imprecise_metrics:
        return ""
    listed_names = " and ".join(filter(None, (", ".join(imprecise_metrics[:-1]), imprecise_metrics[-1])))
    return (
        f"The number style {choices.style} has too few decimals for differences of {listed_names}: their Δ "
        "and Δ% do not show the change."
    )


def _list_averages(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices
) -> Iterator[tuple[Metric, list[float | None]]]:
    """Yield each metric of the sections with its average in each run."""
    metric_ids = dict.fromkeys(name for _, section in report.metric_sections for name in section.metrics)
    for metric in map(checked.get_metric, metric_ids):
        yield metric, [run_results.get_average(run, metric, choices.summary) for run in runs]


def assemble(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], choices: Choices,
    provenance: Mapping[str, str], parts: ShownParts, whole_runs: Sequence[RunFigures] = (),
) -> Document:  # fmt: skip
    """Return the document of a report over some runs, the first of which is the baseline.

    `whole_runs` are the runs whose phases are compared. Raises AssayError as `build_parts` does.
    """
    run_labels, whole_labels = (run_results.label_runs(report, items) for items in (runs, whole_runs))
    labels_by_run = dict(zip((run.id for run in runs), run_labels, strict=True))
    compared = list_main_runs(report, runs)
    compared_labels = [labels_by_run[run.id] for run in compared]
    versions = combine_runs(compared, run_results.list_version_labels(report, compared), compared_labels)
    columns, labels = [item.figures for item in versions], [item.label for item in versions]
    of_groups = collect_group_values(checked, parts.groups)
    of_columns = of_groups if report.groups else collect_placeholder_values(checked, columns, labels)

    def fill(text: str) -> str:  # a text that compares names columns, which may be phases; another one names runs
        return fill_placeholders(text, of_columns if compares_runs(text) else of_groups)

    title, intro = choose_texts(checked.package.system, report, labels, is_repeated=len(compared) > 1)
    manifest = _build_manifest(checked, report, runs, run_labels, choices)
    filters = build_filters_table(runs, run_labels, choices.filter_files)
    quality = build_quality_parts(
        {label: run.quality for label, run in zip(run_labels, runs, strict=True)},
        {label: run.quality for label, run in zip(whole_labels, whole_runs, strict=True)},
    )
    units = choose_report_units(checked, report, runs, choices.summary)
    shown_parts = build_parts(checked, report, parts, choices)
    judgements = parts.judgements.get("")
    document = Document(
        title=choices.title or fill(title),
        subtitle="",
        author=choices.author,
        date=choices.date,
        intro=tuple(map(fill, intro)),
        style=choices.style,
        manifest=manifest,
        parts=shown_parts,
        dictionary=(*_build_dictionary(checked, report), *build_part_dictionary(checked, report, parts.prose.values())),
        warnings=(
            *_list_all_warnings(checked, report, runs, whole_runs, shown_parts),
            *list_cut_warnings(checked, report, columns, choices),
            *quality.warnings,
        ),
        filters=filters,
        provenance=tuple(provenance.items()),
        terms=_build_terms(checked, report, (manifest, filters, *parts.claims), shown_parts),
        claims=parts.claims,
        averages=describe_averages(checked, report, choices, units, len(versions) < len(runs)),
        differences=describe_imprecise_differences(checked, report, columns, choices),
        noise=judgements.noise if judgements else "",
        appendices=quality.appendices,
        answers=_build_answers(
            SectionContext(checked, report, versions, choices, judgements, units), manifest, list(labels_by_run), parts
        ),
    )
    return explain_short_counts(document)


def _build_terms(
    checked: CheckedPackage, report: Report, tables: Iterable[Table | Appendix], shown_parts: Sequence[Part]
) -> tuple[Group, ...]:
    """Return the glossary entries of numbers that belong to no metric."""
    has_sample_counts = any(None in item.metrics for item in iter_metric_tables(shown_parts))
    quoted_facts = [item.entry for part in shown_parts for item in part.quoted if item.prints == FACT]
    return build_terms(
        checked,
        report,
        (*tables, *iter_tables(shown_parts)),
        quoted=quoted_facts,
        has_sample_counts=has_sample_counts,
        block_terms=explain_blocks(checked, report),
    )


def _list_all_warnings(
    checked: CheckedPackage,
    report: Report,
    runs: Sequence[RunFigures],
    whole_runs: Sequence[RunFigures],
    shown_parts: Sequence[Part],
) -> Iterator[str]:
    """Yield the warnings on runs, and on runs as a whole if their phases are compared."""
    yield from list_run_notes(whole_runs, run_results.label_runs(report, whole_runs))
    yield from _list_warnings(report, runs, run_results.label_runs(report, runs))
    yield from _list_missing_samples(checked, runs, run_results.label_runs(report, runs), report, shown_parts)


def _build_manifest(
    checked: CheckedPackage,
    report: Report,
    runs: Sequence[RunFigures],
    run_labels: Sequence[str],
    choices: Choices,
) -> Table:
    """Return the table of run parameters: the manifest, or in a report without one the constants of runs."""
    if report.manifest:
        return build_parameters_table(report, runs, run_labels, choices)
    return build_constants_table(checked, report, runs, run_labels, list_shown_sources(checked, report))


def _build_answers(
    context: SectionContext, manifest: Table, run_ids: Sequence[str], parts: ShownParts
) -> tuple[Answer, ...]:
    """Return the answers of the first page, those of each group of runs; none without judgements."""

    def compose(judged_report: Report, compared: Sequence[Version], judged: ReportJudgements) -> tuple[Answer, ...]:
        combined = combine_columns(manifest, compared, run_ids)
        return compose_answers(replace(context, report=judged_report, versions=compared), judged, combined)

    return tuple(
        answer
        for group in parts.groups
        if group.name in parts.judgements
        for answer in compose(
            group.report,
            [version for version in context.versions if not group.name or get_group_name(version.id) == group.name],
            parts.judgements[group.name],
        )
    )


def _build_dictionary(checked: CheckedPackage, report: Report) -> tuple[Group, ...]:
    return tuple(
        Group(group.title, tuple(build_metric_entry(checked, name) for name in group.metrics))
        for group in report.dictionary
    )


def _list_warnings(report: Report, runs: Sequence[RunFigures], run_labels: Sequence[str]) -> Iterable[str]:
    for name in report.compare:
        values = [str(run.constants[name]) for run in runs]
        if len(set(values)) > 1:
            labelled_values = ", ".join(
                f"{label}: {shorten(value)}" for label, value in zip(run_labels, values, strict=True)
            )
            yield f"The runs differ in {name} ({labelled_values})."
    labelled_runs = list(zip(run_labels, runs, strict=True))
    for name in dict.fromkeys(get_group_name(run.id) if report.groups else "" for run in runs):
        members = [item for item in labelled_runs if not name or get_group_name(item[1].id) == name]
        if len({run.hosts for _, run in members}) > 1:
            labelled_values = ", ".join(f"{label}: {run.hosts}" for label, run in members)
            yield f"The runs differ in their number of hosts ({labelled_values})."
    yield from list_run_notes(runs, run_labels)


def _list_missing_samples(
    checked: CheckedPackage,
    runs: Sequence[RunFigures],
    run_labels: Sequence[str],
    report: Report,
    shown_parts: Sequence[Part],
) -> Iterator[str]:
    """Yield the metrics of tables without samples in a run, and why.

    A part with other content says itself which tables it lacks.
    """
    printed = {name for table in iter_metric_tables(shown_parts) for name in table.metrics}
    printed |= {
        name
        for part in report.parts
        if all(isinstance(block, Section) for block in part.blocks)
        for block in part.blocks
        for name in block.read_metrics()
    }
    metric_ids = dict.fromkeys(name for _, section in report.metric_sections for name in section.metrics)
    metrics = [checked.get_metric(name) for name in metric_ids if not is_segment(name)]
    for label, run in zip(run_labels, runs, strict=True):
        results = run.results.metrics
        missing = [
            metric
            for metric in metrics
            if metric.id in results and metric.id not in run.explained and not results[metric.id].size
        ]
        rejections = list_rejections(checked, run.results, missing)
        if missing and (rejections or any(metric.id in printed for metric in missing)):
            yield f"{label}: {format_missing_samples([metric.name for metric in missing], rejections)}"


def format_missing_samples(names: Iterable[str], reasons: Iterable[str]) -> str:
    """Return a sentence on metrics or series without samples, with the reasons."""
    return "; ".join((f"there are no samples of {', '.join(names)}", *reasons)) + "."


def list_rejections(checked: CheckedPackage, results: RunResults, metrics: Iterable[Metric]) -> list[str]:
    """Return sentences on rows that filters rejected, of the grains of these metrics or of their subjects."""
    filtered_grains = {metric.grain for metric in metrics if metric.accepted}
    filtered_grains |= {
        grain.subject.grain for grain in checked.package.grains if grain.subject and grain.name in filtered_grains
    }
    return [item.sentence for item in results.filters if item.rejected and item.grain in filtered_grains]


def list_run_notes(runs: Sequence[RunFigures], run_labels: Sequence[str]) -> Iterable[str]:
    """Yield the notes and warnings of each run, behind its label."""
    for label, run in zip(run_labels, runs, strict=True):
        yield from (f"{label}: {warning}" for warning in run.warnings)


def build_filters_table(
    runs: Sequence[RunFigures], run_labels: Sequence[str], filter_files: Sequence[FilterSource]
) -> Table:
    """Return the table of filters, with the files that they were read from if there are any."""

    def list_files(label: str) -> tuple[str, ...]:
        files = (item.file for item in filter_files if label in item.filters)
        return (", ".join(files) or "command line",) if filter_files else ()

    rows = tuple(
        (label, item.filter, print_number(item.argument), item.grain,
         print_number(str(item.rejected)), print_number(str(item.rows)), *list_files(item.label))
        for label, run in zip(run_labels, runs, strict=True)
        for item in run.results.filters
    )  # fmt: skip
    run_and_entry_ids = [(run.id, get_filter_id(item.filter)) for run in runs for item in run.results.filters]
    links = tuple(
        CellLink(y, x, FILTER, (CellSource(name, run),))
        for y, (run, name) in enumerate(run_and_entry_ids)
        for x in (4, 5)
    )
    entry_ids = tuple(name for _, name in run_and_entry_ids)
    header = ("Run", "Filter", "Argument", "Of", "Rejected", "Rows", *(("From",) if filter_files else ()))
    return Table("Filters", header, rows, of_rows=entry_ids, leads=links)
