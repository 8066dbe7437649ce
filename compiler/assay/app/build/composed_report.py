"""Compose the document of a computed and judged report, with its results and the details of its pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.app.build.build_data import build_data, build_further_data, build_judged_data, build_value_data
from assay.app.build.build_notes import list_build_notes, list_findings, list_part_notes
from assay.app.build.computed_build import ComputedBuild
from assay.app.build.judged_build import NO_JUDGEMENTS, JudgedBuild, create_parts
from assay.app.build.metric_details import Courses, add_quantile_data, collect_courses, collect_detail_parts
from assay.app.build.observations import add_observations, check_cell_quotes, choose_observations, quotes_cells
from assay.app.build.prepared_report import PreparedReport
from assay.app.build.recorded_build import create_choices, record_build
from assay.app.build.rendering import AssembledReport
from assay.app.build.report_details import ComputedReport, collect_report_details
from assay.app.compute.grouping import group_metrics
from assay.app.compute.report_metrics import list_shown_metrics
from assay.app.judge.repeats import build_noise_data, measure_metrics
from assay.app.session.session import Session
from assay.provenance.record import format_provenance
from assay.report.assemble import assemble
from assay.report.document import Document, Part
from assay.report.group_figures import build_groups_part
from assay.report.group_spreads import Spreads, collect_spreads
from assay.report.noise_tables import build_noise_part, replace_parts
from assay.report.output_forms import HTML
from assay.report.render.html import NO_DETAILS, ReportDetails
from assay.report.row_units import ReportUnits, choose_report_units
from assay.report.run_results import Choices, RunFigures, label_runs
from assay.report.step_figures import build_steps_part

DEFAULT_LEVEL = "0.95"  # of intervals in details of reports without a judgement


@dataclass(frozen=True, slots=True)
class _DetailBasis:
    """What details of metrics are made from: choices, courses of their quantiles, and units."""

    choices: Choices
    courses: Courses
    units: ReportUnits


def compose_report(
    session: Session, prepared: PreparedReport, computed: ComputedBuild, judged: JudgedBuild
) -> AssembledReport:
    """Compose a report for writing. Raises AssayError.

    An edition prints no verdicts, as it was published without; its results have them.
    """
    checked, report, columns = computed.checked, computed.report, computed.columns
    choices = create_choices(prepared, computed)
    observations = choose_observations(prepared.options.observations, prepared.texts)
    prose = {**prepared.texts, **observations}
    provenance = record_build(session, prepared, computed, choices, prose)
    lines = prepared.describe_edition() | format_provenance(provenance, checked)
    parts = create_parts(prepared, computed, judged)
    document = assemble(checked, report, columns, choices, lines, parts, computed.whole_runs)
    if quotes_cells(report, parts.prose):
        # Texts quote cells of the tables, which are known only now.
        parts = replace(parts, changes=check_cell_quotes(checked, report, document, parts.prose))
        document = assemble(checked, report, columns, choices, lines, parts, computed.whole_runs)
    answers, printed = document.answers, judged
    if prepared.edition:
        printed = NO_JUDGEMENTS
        parts = replace(parts, judgements={})
        document = assemble(checked, report, columns, choices, lines, parts, computed.whole_runs)
    labelled_columns = dict(zip(document.manifest.header[1:], columns, strict=True))
    courses = _collect_courses(prepared, computed, labelled_columns)
    basis = _DetailBasis(choices, courses, choose_report_units(checked, report, columns, choices.summary))
    results = build_data(computed, choices)
    document, value_data = _add_further_parts(document, computed, (judged, printed), basis)
    results |= value_data
    warnings = (*list_build_notes(prepared, computed), *document.warnings, *list_part_notes(computed))
    document = replace(document, warnings=warnings)
    if judgements := judged.of_all_runs:
        results["judgement"] = build_judged_data(judgements, report, answers, computed.main_runs, computed.computation)
        add_quantile_data(results, {name: courses[name] for name in choices.details if name in courses}, columns)
    if choices.measures_noise:
        noise = measure_metrics(checked, report, computed.computation, choices.summary)
        part = build_noise_part(checked, report, columns, noise)
        document = replace_parts(document, part, report, columns, choices.title)
        results["noise"] = build_noise_data(noise)
    if observations or not prepared.edition:
        document = add_observations(checked, report, document, observations, results)
    return AssembledReport(
        # Segments and labels of editions are no definitions: they are in the results, not in the stored specs.
        session.load_package(checked.package.system),
        document,
        provenance,
        results | build_further_data(prepared, computed, judged, answers, choices),
        computed.computed.computation,
        _collect_details(prepared, computed, printed, basis, labelled_columns),
        prose or None,
        list_findings(prepared, computed),
    )


def _collect_courses(prepared: PreparedReport, computed: ComputedBuild, columns: Mapping[str, RunFigures]) -> Courses:
    """Return the courses of the metrics whose quantiles were computed; intervals have the level of the report."""
    judgement = prepared.report.judgement
    level = judgement.level if judgement else DEFAULT_LEVEL
    return collect_courses(computed.checked, computed.metrics, columns, float(level))


def _add_further_parts(
    document: Document, computed: ComputedBuild, judgements: tuple[JudgedBuild, JudgedBuild], basis: _DetailBasis
) -> tuple[Document, dict[str, object]]:
    """Return the document with details of metrics and metrics by a column, and the latter for the results.

    `judgements` are those of the results, and those that are printed.
    """
    judged, printed = judgements
    checked, column = computed.checked, computed.split.column
    spreads = _collect_spreads(computed, dict(zip(document.manifest.header[1:], computed.columns, strict=True)))
    first_figure = len(document.figures) + 1
    parts = _draw_steps(computed, printed, document, first_figure)
    detailed = map(checked.get_metric, basis.choices.details)
    first_figure += sum(len(item.plots) for item in parts)
    parts = (*parts, *collect_detail_parts(detailed, basis.courses, first_figure, basis.units))
    if column:
        first_figure = len(document.figures) + 1 + sum(len(item.plots) for item in parts)
        by_column = build_groups_part(checked, column, spreads, first_figure, basis.units, printed.by_value)
        parts = (*parts, by_column)
    data = build_value_data(computed, spreads, judged)
    used_ids = {part.id for part in document.parts}
    parts = tuple(replace(part, id=f"{part.id}-2") if part.id in used_ids else part for part in parts)
    return replace(document, parts=(*document.parts, *parts)), data


def _draw_steps(
    computed: ComputedBuild, judged: JudgedBuild, document: Document, first_figure: int
) -> tuple[Part, ...]:
    """Return the part with the steps of changes, if there are any."""
    if judged.of_all_runs is None:
        return ()
    labels = {run.version or run.id: run.version or label
              for run, label in zip(computed.columns, document.manifest.header[1:], strict=True)}  # fmt: skip
    part = build_steps_part(computed.checked, judged.of_all_runs, labels, first_figure)
    return (part,) if part else ()


def _collect_spreads(computed: ComputedBuild, columns: Mapping[str, RunFigures]) -> Spreads:
    """Return the metrics of a report by the values of a column, in runs or phases by their labels."""
    checked, report = computed.checked, computed.report
    metrics = group_metrics(checked, list_shown_metrics(checked, report), computed.split.column)
    results = [(run.id, label, run.results) for label, run in columns.items()]
    return collect_spreads(checked, metrics, results, report.judgement)


def _collect_details(
    prepared: PreparedReport,
    computed: ComputedBuild,
    judged: JudgedBuild,
    basis: _DetailBasis,
    columns: Mapping[str, RunFigures],
) -> ReportDetails:
    """Return the details of a web page; none without one."""
    if HTML not in prepared.options.forms:
        return NO_DETAILS
    runs = dict(zip(label_runs(prepared.report, computed.runs), computed.runs, strict=True))
    computation = computed.computation
    return collect_report_details(
        ComputedReport(
            computed.checked, computed.report, tuple(computed.metrics), computation, columns, basis.choices.summary,
            judged.of_all_runs, basis.courses, basis.units, computed.computed.rows, runs,
        )
    )  # fmt: skip
