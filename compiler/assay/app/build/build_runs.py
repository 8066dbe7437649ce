"""`assay build` of a report over runs: from runs to a document of tables and charts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from assay.app.build.metric_details import Courses, add_quantile_data, collect_courses, collect_galleries
from assay.app.build.observations import add_observations, read_observations
from assay.app.build.rendering import AssembledReport, collect_report_details, write_report
from assay.app.build.report_check import check_reports
from assay.app.compute.compute import Computation, list_judged_metrics, list_report_metrics, list_shown_metrics
from assay.app.compute.compute_groups import (
    ComputedReport,
    check_group_claims,
    compute_groups,
    list_group_warnings,
    list_undrawn_series,
)
from assay.app.compute.grouping import group_metrics
from assay.app.compute.point_files import name_point_files
from assay.app.compute.raw_data_notes import iter_shared_file_notes
from assay.app.compute.report_dates import get_report_date
from assay.app.compute.report_request import ReportRequest
from assay.app.compute.row_results import build_row_data, build_run_group_data
from assay.app.compute.run_figures import (
    collect_cut_runs,
    collect_inputs,
    create_run_figures,
    iter_findings,
    list_run_warnings,
)
from assay.app.compute.run_groups import check_run_names, divide_into_groups
from assay.app.compute.splitting import SplitReport, build_split_data, parse_dimensions, split_report, split_sections
from assay.app.judge.judging import build_judgement_data
from assay.app.judge.mixes import Calculate
from assay.app.judge.repeats import (
    build_noise_data,
    check_repeats,
    measure_metrics,
    override_margin,
    split_calibration,
)
from assay.app.judge.report_judging import create_calculation, judge_groups, judge_report
from assay.app.session import filters
from assay.app.session.options import BuildResult, Options, choose_summary, list_report_files
from assay.app.session.outputs import replace_folder
from assay.app.session.phases import check_runs, select_phases
from assay.app.session.prose import get_texts, read_prose
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.judgement.report_judgements import ReportJudgements
from assay.lang.check.reports import is_day
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.filters import FilterSource
from assay.lang.model.package import Metric
from assay.lang.model.parts import get_group_name
from assay.lang.model.report import Report, Section
from assay.number_styles.registry import get_style, list_style_names
from assay.plan.planner import AppliedFilter, can_split_by_phase
from assay.provenance.record import build_provenance, format_provenance
from assay.report.answer import Answer
from assay.report.assemble import assemble
from assay.report.blocks.claims import CheckedClaim, build_claims_data, describe_claims, list_claim_warnings
from assay.report.document import Document, Gallery
from assay.report.group_changes import GroupChanges, build_group_changes_data
from assay.report.group_figures import build_groups_gallery
from assay.report.group_spreads import Spreads, build_groups_data, collect_spreads
from assay.report.noise_tables import replace_sections
from assay.report.output_forms import HTML
from assay.report.parts import ShownParts, list_part_metrics
from assay.report.prose import Prose
from assay.report.render.html import NO_DETAILS
from assay.report.results_json import build_calibration_data, build_caution_data, build_results_data
from assay.report.row_units import ReportUnits, choose_report_units
from assay.report.run_groups import list_main_runs
from assay.report.run_results import Choices, RunFigures, label_runs, list_own_names
from assay.report.statistic_names import EXPECTED, STATISTICS, split_names, suggest_column
from assay.report.versions import list_mixed_versions
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail, suggest_names

NOISE_STYLE = "prefixed"  # of reports on noise, whose numbers differ in magnitude
DEFAULT_LEVEL = "0.95"  # of intervals in details of reports without a judgement


def build_runs(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> BuildResult:
    """Build the report `system/name` over runs (the first is the baseline) into the folder `out`.

    Writes the report in the forms of `options`, charts/, results.json, document.json, sql/, provenance.json and
    specs.json; either all of them or none. Raises AssayError.
    """
    with replace_folder(out, session.get_wait_notice(out), session.on_finished) as new_folder:
        warnings = write_report(session, assemble_runs(session, name, runs, options), new_folder, options.forms)
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def assemble_runs(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> AssembledReport:
    """Compute and judge the report `system/name` over runs, without drawing or writing it. Raises AssayError."""
    checked, report = session.find_report_of_runs(name)
    check_reports(session, checked.package)
    check_run_names(report, runs)
    report_options = _resolve_options(checked, report, options)
    columns = parse_columns(options.columns)
    phase_selection = select_phases(checked.package, report.phases, options.at, options.phases)
    check_repeats(report, runs, options, has_phases=phase_selection is not None)
    if phase_selection:
        check_runs(phase_selection, (run.id for run in runs))
    shown_report, left_out = drop_uncut_metrics(checked, report) if phase_selection else (report, ())
    shown_report = override_margin(shown_report, options.margin)
    details = find_detailed_metrics(list_report_metrics(checked, shown_report), options.details)
    shown_metrics = list_shown_metrics(checked, shown_report)
    _refuse_options_of_tables(report, options)
    dimensions = parse_dimensions(checked.package, shown_metrics, options.by)
    column = "" if dimensions else options.by
    shown_report = split_sections(checked, shown_report, dimensions)
    texts = read_prose(session.workspace, checked, report)
    request = ReportRequest(
        fetch_runs(session, runs, checked.package.sources),
        filters.parse_filters(checked.package, report, options.filters, options.no_filters),
        tuple(sorted({row.relation for row in report.manifest if row.relation})),
        phase_selection,
        details,
        group_metrics(checked, shown_metrics, column, session.workspace),
        options,
    )
    split = split_report(checked, shown_report, partial(request.compute, session, checked, shown_report), column)
    computed = compute_groups(
        session, split.checked, split.report, request, divide_into_groups(split.report, texts, request.runs)
    )
    split = replace(split, report=computed.report)
    changes = judge_groups(session, checked, shown_report, request, report_options.summary, column)
    filter_files = options.filter_files or filters.list_filter_sources(checked.package, options.filters)
    choices = _create_choices(
        report_options, request.applied_filters, computed.computation, columns, details, filter_files
    )
    assembled_report = _assemble(session, report, split, computed, texts, choices, options, changes, request, left_out)
    # Segments are no definitions: they are in the results, not in the stored specs.
    return replace(assembled_report, checked=checked)


def _create_choices(
    options: Options,
    applied_filters: Sequence[AppliedFilter],
    computation: Computation,
    columns: tuple[str, ...],
    details: Sequence[Metric],
    filter_files: tuple[FilterSource, ...],
) -> Choices:
    """Return the choices of a report; `options` have its summary and number style."""
    return Choices(
        options.style,
        options.summary,
        tuple(item.label for item in applied_filters),
        options.date or get_report_date(computation),
        options.title,
        options.author,
        options.at,
        options.phases,
        options.margin,
        options.measures_noise,
        columns,
        tuple(metric.id for metric in details),
        options.by,
        filter_files,
    )


def drop_uncut_metrics(checked: CheckedPackage, report: Report) -> tuple[Report, tuple[str, ...]]:
    """Return the report without the metrics that phases cannot cut, and the names of those metrics."""
    package = checked.package
    splittable_ids = {metric.id for metric in package.metrics if can_split_by_phase(package, metric.grain)}
    left_out = tuple(metric.name for metric in list_report_metrics(checked, report) if metric.id not in splittable_ids)

    def keep_listed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in splittable_ids)

    def keep_section(_name: str, section: Section) -> Iterator[Section]:
        if metrics := keep_listed(section.metrics):
            yield replace(section, metrics=metrics)

    groups = (replace(item, metrics=keep_listed(item.metrics)) for item in report.dictionary)
    shown_report = replace(
        report.replace_sections(keep_section),
        charts=tuple(item for item in report.charts if item.metric in splittable_ids),
        dictionary=tuple(item for item in groups if item.metrics),
        also=keep_listed(report.also),
    )
    return shown_report, left_out


def _resolve_options(checked: CheckedPackage, report: Report, options: Options) -> Options:
    """Return the options with the report's summary and number style as defaults.

    Raises AssayError (usage) for an unknown summary or style, and for an invalid date.
    """
    summary = choose_summary(checked.package, report, options.summary)
    style_name = options.style or (NOISE_STYLE if options.measures_noise else report.style)
    if style_name not in list_style_names():
        raise fail(
            "unknown-style",
            f"unknown number style `{style_name}`",
            hint=suggest_names(style_name, list_style_names()),
            status=USAGE,
        )
    get_style(style_name)
    if options.date:
        _check_date(options.date)
    return replace(options, summary=summary, style=style_name)


def _refuse_options_of_tables(report: Report, options: Options) -> None:
    """Raise AssayError (usage) for options of tables of metrics if a report has none."""
    chosen = {"--columns": options.columns, "--by": options.by}
    option = next((name for name, value in chosen.items() if value), "")
    if option and not report.metric_sections:
        raise fail("no-sections", f"{option} is for tables of metrics, but the report `{report.name}` has none",
                   expected="a report with sections", status=USAGE)  # fmt: skip


def parse_columns(text: str) -> tuple[str, ...]:
    """Return the columns of `--columns`. Raises AssayError (usage) for an unknown one."""
    columns = split_names(text)
    for name in columns:
        if name not in STATISTICS:
            raise fail(
                "unknown-column",
                f"unknown column `{name}` in --columns",
                expected=EXPECTED,
                hint=suggest_column(name),
                status=USAGE,
            )
    return columns


def find_detailed_metrics(metrics: Sequence[Metric], names: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of `--details`. Raises AssayError (usage) for unknown ones and for formulas."""
    metrics_by_id = {metric.id: metric for metric in metrics}
    for name in names:
        if name not in metrics_by_id:
            message, hint = f"unknown metric `{name}` in --details", suggest_names(name, metrics_by_id)
            raise fail("unknown-metric", message, expected="a metric of the report", hint=hint, status=USAGE)
        if is_formula(metrics_by_id[name]):
            message = f"the metric `{name}` of --details is a formula, which has no distribution"
            raise fail("details-of-formula", message, hint="name the metrics that it is computed from", status=USAGE)
    return tuple(metrics_by_id[name] for name in dict.fromkeys(names))


def _check_date(text: str) -> None:
    if not is_day(text):
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=text, status=USAGE)


def _assemble(
    session: Session, report: Report, split: SplitReport, computed: ComputedReport, texts: Mapping[str, Prose],
    choices: Choices, options: Options, group_changes: GroupChanges, request: ReportRequest, left_out: Sequence[str],
) -> AssembledReport:  # fmt: skip
    """Assemble a report for writing; `split` has the chosen margin, segments, and no metrics that phases cannot cut."""
    checked, shown_report = split.checked, split.report
    metrics = list_report_metrics(checked, shown_report)
    computation, calibration = split_calibration(computed.computation)
    figures = [create_run_figures(item) for item in computation.columns]
    run_figures, calibration_figures = (list(map(create_run_figures, item)) for item in (computation.runs, calibration))
    prose = {**texts, **(observations := read_observations(options.observations))}
    claims = check_group_claims(checked, computed.groups)
    provenance_record = _record_provenance(session, checked, report, computed, texts, prose, choices, claims)
    main_runs = list_main_runs(report, figures)
    judgements_by_group = _judge_groups(session, checked, computed, main_runs, choices, request)
    judgements = judgements_by_group.get("")
    whole_runs = run_figures if computation.views else []
    groups = [group.create_shown_group() for group in computed.groups if report.parts]
    files = name_point_files(computation)
    parts = ShownParts(groups, texts, computed.notes, describe_claims(claims), judgements_by_group, files)
    document = assemble(
        checked, shown_report, figures, choices, format_provenance(provenance_record, checked), whole_runs, judgements,
        parts,
    )  # fmt: skip
    calibration_labels = [f"calibration run {label}" for label in label_runs(report, calibration_figures)]
    notes = _list_notes(checked, report, computed, run_figures, calibration_labels, left_out)
    courses = _collect_courses(checked, report, metrics, document.manifest.header[1:], figures)
    run_columns = dict(zip(document.manifest.header[1:], figures, strict=True))
    spreads = _collect_spreads(checked, shown_report, run_columns, split.column)
    units = choose_report_units(checked, shown_report, figures, choices.summary)
    galleries = _collect_galleries(checked, choices, courses, split.column, spreads, group_changes, document, units)
    undrawn = list_undrawn_series(checked, computed.groups)
    warnings = (*notes, *document.warnings, *undrawn, *list_claim_warnings(claims))
    document = replace(document, galleries=(*document.galleries, *galleries), warnings=warnings)
    details = NO_DETAILS
    if HTML in options.forms:
        runs_by_label = dict(zip(label_runs(report, run_figures), run_figures, strict=True))
        details = collect_report_details(
            checked, shown_report, metrics, computation.compiled_plan.plan.applied, computation, run_columns, choices,
            judgements, courses, units, computed.rows, runs_by_label,
        )  # fmt: skip
    results = build_results_data(checked, shown_report, [metric.id for metric in metrics], figures, choices)
    results |= _build_value_data(split, spreads, group_changes)
    if judgements:
        results["judgement"] = _build_judgements(judgements, shown_report, document.answers, main_runs, computation)
        add_quantile_data(results, {name: courses[name] for name in choices.details if name in courses}, figures)
    if choices.measures_noise:
        noise = measure_metrics(checked, shown_report, computation, choices.summary)
        document = replace_sections(document, checked, shown_report, figures, noise, choices)
        results["noise"] = build_noise_data(noise)
    document = add_observations(checked, shown_report, document, observations, results)
    results |= build_calibration_data(metrics, calibration_figures, choices)
    groups_data = _build_group_data(report, computed, judgements_by_group, document.answers, figures)
    results |= build_row_data(checked, computation, run_figures) | groups_data
    results |= {"claims": build_claims_data(claims)} if claims else {}
    labels = (*label_runs(report, figures), *calibration_labels, *label_runs(report, whole_runs))
    stored = prose or None
    data = (document, provenance_record, results, computed.computation, details, stored)
    return AssembledReport(checked, *data, tuple(iter_findings(labels, [*figures, *calibration_figures, *whole_runs])))


def _record_provenance(
    session: Session, checked: CheckedPackage, report: Report, computed: ComputedReport, texts: Mapping[str, Prose],
    prose: Mapping[str, Prose], choices: Choices, claims: Sequence[CheckedClaim],
) -> dict[str, object]:  # fmt: skip
    """Return the provenance of a report; `prose` is all of its text, `texts` that of its parts."""
    computation, calibration = split_calibration(computed.computation)
    runs, calibration_runs = (list(map(create_run_figures, item)) for item in (computation.runs, calibration))
    return build_provenance(
        checked, report, _list_defined_metrics(checked, report, texts), choices, runs,
        [collect_inputs(checked, item) for item in computed.computation.runs], session.get_templates(),
        get_texts(prose), collect_cut_runs(computation), build_claims_data(claims), calibration_runs,
    )  # fmt: skip


def _judge_groups(
    session: Session,
    checked: CheckedPackage,
    computed: ComputedReport,
    main_runs: Sequence[RunFigures],
    choices: Choices,
    request: ReportRequest,
) -> dict[str, ReportJudgements]:
    """Judge the main runs of each group against its first one; groups of which nothing is judged are left out."""
    compared = {run.id for run in main_runs}
    judgements = {}
    for group in computed.groups:
        calculate = create_calculation(session, group.request_runs(request))
        judged = _judge(checked, group.report, group.computation, compared, choices, calculate)
        if judged:
            judgements[group.inputs.name] = judged
    return judgements


def _list_defined_metrics(checked: CheckedPackage, report: Report, texts: Mapping[str, Prose]) -> list[str]:
    """Return the metrics whose definitions a report depends on."""
    names = [
        *(metric.id for metric in list_report_metrics(checked, report)),
        *list_part_metrics(report, texts.values()),
    ]
    return list(dict.fromkeys(names))


def _build_value_data(split: SplitReport, spreads: Spreads, changes: GroupChanges) -> dict[str, object]:
    """Return the metrics by the values of a column, and the splits by dimensions, as members of the results."""
    judged = {"judgement": build_group_changes_data(changes)} if changes.versions else {}
    groups = {"by": build_groups_data(split.column, spreads) | judged} if split.column else {}
    return {**groups, **({"splits": build_split_data(split.splits)} if split.splits else {})}


def _collect_spreads(checked: CheckedPackage, report: Report, runs: Mapping[str, RunFigures], column: str) -> Spreads:
    """Return the metrics of a report by the values of a column, in runs or phases by their labels."""
    metrics = group_metrics(checked, list_shown_metrics(checked, report), column)
    columns = [(run.id, label, run.results) for label, run in runs.items()]
    return collect_spreads(checked, metrics, columns, report.judgement)


def _collect_galleries(
    checked: CheckedPackage, choices: Choices, courses: Courses, column: str, spreads: Spreads, changes: GroupChanges,
    document: Document, units: ReportUnits,
) -> tuple[Gallery, ...]:  # fmt: skip
    """Return the parts with details of metrics, and that with the metrics by a column; figures are numbered on."""
    first_figure = len(document.figures) + 1
    galleries = collect_galleries(map(checked.get_metric, choices.details), courses, first_figure, units)
    if not column:
        return galleries
    first_figure += sum(len(item.plots) for item in galleries)
    return (*galleries, build_groups_gallery(checked, column, spreads, first_figure, units, changes))


def _list_notes(
    checked: CheckedPackage,
    report: Report,
    computed: ComputedReport,
    runs: Sequence[RunFigures],
    calibration_labels: Sequence[str],
    left_out: Sequence[str],
) -> tuple[str, ...]:
    """Return the warnings on runs as a whole, and on metrics that are `left_out`."""
    mixed = list_mixed_versions(list_own_names(report.label, runs), runs)
    notes = [f"Left out, because their data cannot be split into phases: {', '.join(left_out)}."] if left_out else []
    return (
        *list_group_warnings(report, computed.groups),
        *filter(None, computed.notes.get("", ())),
        *mixed,
        *_list_warnings_of_groups(checked, report, computed, calibration_labels),
        *notes,
    )


def _list_warnings_of_groups(
    checked: CheckedPackage, report: Report, computed: ComputedReport, calibration_labels: Sequence[str]
) -> Iterator[str]:
    """Yield the warnings on the runs of each group; a run may be of several groups."""
    for group in computed.groups:
        compared, _ = split_calibration(group.computation)
        labels = label_runs(report, list(map(create_run_figures, compared.runs)))
        yield from list_run_warnings(checked.package, group.computation, (*labels, *calibration_labels))


def _collect_courses(
    checked: CheckedPackage,
    report: Report,
    metrics: Sequence[Metric],
    run_labels: Sequence[str],
    figures: Sequence[RunFigures],
) -> Courses:
    """Return the courses of the metrics whose quantiles were computed; intervals have the level of the report."""
    level = report.judgement.level if report.judgement else DEFAULT_LEVEL
    return collect_courses(checked, metrics, dict(zip(run_labels, figures, strict=True)), float(level))


def _judge(
    checked: CheckedPackage,
    report: Report,
    computation: Computation,
    compared: Collection[str],
    choices: Choices,
    calculate: Calculate,
) -> ReportJudgements | None:
    """Judge the versions of a report, of the runs or phases `compared`, unless it is on the noise between runs."""
    if choices.measures_noise:
        return None
    computation = replace(
        computation,
        runs=tuple(
            run
            for run in computation.runs
            if computation.views or run.id in compared or run.ingested_run.run.is_calibration
        ),
        views=tuple(view for view in computation.views if view.id in compared),
    )
    metrics = list_judged_metrics(checked, report)
    return judge_report(checked, report, computation, choices.summary, metrics, calculate)


def _build_group_data(
    report: Report,
    computed: ComputedReport,
    judgements_by_group: Mapping[str, ReportJudgements],
    answers: Sequence[Answer],
    figures: Sequence[RunFigures],
) -> dict[str, object]:
    """Return the groups of a report with their judgements, in the form of those of a report without groups."""
    if not report.groups:
        return {}
    main_runs = list_main_runs(report, figures)
    judged = {}
    for group in computed.groups:
        if judgements := judgements_by_group.get(group.inputs.name):
            runs = [run for run in main_runs if get_group_name(run.id) == group.inputs.name]
            group_answers = [answer for answer in answers if get_group_name(answer.run_id) == group.inputs.name]
            judged[group.inputs.name] = _build_judgements(
                judgements, group.report, group_answers, runs, group.computation
            )
    compared, _ = split_calibration(computed.computation)
    return {"groups": build_run_group_data(report, [run.id for run in compared.runs], judged)}


def _build_judgements(
    judgements: ReportJudgements,
    report: Report,
    answers: Sequence[Answer],
    figures: Sequence[RunFigures],
    computation: Computation,
) -> dict[str, object]:
    """Return the member `judgement` of the results, with the sections of the report and their metrics."""
    sections = [{"title": title, "metrics": list(names)} for title, names in report.metric_tables]
    data = build_judgement_data(judgements) | build_caution_data(answers, figures)
    run_labels = label_runs(report, list(map(create_run_figures, computation.runs)))
    notes = iter_shared_file_notes([run.ingested_run for run in computation.runs], run_labels)
    return {**data, "shared_files": list(notes), "sections": sections}
