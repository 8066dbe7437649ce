"""`assay build`: runs in, report out."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from assay.app import filters
from assay.app.compute import Computation, RunResult, compute, list_report_metrics
from assay.app.judging import JudgedRun, judge_runs
from assay.app.options import BuildResult, Options, list_report_files
from assay.app.outputs import replace_folder
from assay.app.phases import iter_overrule_notes, select_phases
from assay.app.prepare import IngestedRun
from assay.app.raw_data_notes import list_raw_notes
from assay.app.rendering import AssembledReport, collect_report_details, write_report
from assay.app.report_check import check_reports
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.ingest.hashing import FileHash
from assay.lang.check.reports import is_day
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package
from assay.lang.model.report import Report
from assay.plan.planner import FilterStep, can_split_by_phase
from assay.provenance.record import CutRuns, Inputs, build_provenance, format_provenance, list_documents
from assay.report.assemble import assemble
from assay.report.output_forms import HTML
from assay.report.render.html import NO_DETAILS
from assay.report.render.pdf import warm_up_converters
from assay.report.results_json import build_results_data
from assay.report.run_results import Choices, RunFigures, RunPhase, label_runs
from assay.styles.registry import get_style, list_style_names
from assay.util.diagnostics import USAGE, fail, suggest_names

LEAST = 1024  # bytes: single files that are shorter may well be alike


def build_comparison(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> BuildResult:
    """Build a report over runs, the first of which is the baseline, into `out`.

    Writes the report in the forms that are asked for, charts/, results.json, document.json, sql/, provenance.json,
    specs.json; all or nothing.  Raises AssayError.
    """
    checked, report = session.find_comparison(name)
    check_reports(session, checked.package)
    applied_filters = filters.parse_filters(checked.package, report, options.filters, options.no_filters)
    report_options = _resolve_options(checked, report, options)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    phase_selection = select_phases(checked.package, report.phases, options.at, options.phases)
    shown_report, left_out = drop_uncut_metrics(checked, report) if phase_selection else (report, ())
    metrics = list_report_metrics(checked, shown_report)
    with replace_folder(out, session.get_wait_notice(out), session.on_finished) as new_folder:
        computation = compute(
            session,
            checked,
            runs,
            metrics,
            applied_filters,
            relations,
            lambda: warm_up_converters(session.get_templates()),
            phase_selection=phase_selection,
            judged=metrics if report.judgement else (),
        )
        choices = Choices(
            report_options.style,
            report_options.summary,
            tuple(item.label for item in applied_filters),
            report_options.date or get_report_date(computation),
            report_options.title,
            report_options.author,
            options.at,
            options.phases,
        )
        figures = [create_run_figures(item) for item in computation.columns]
        assembled_report = _assemble_comparison(
            session, checked, report, shown_report, computation, figures, choices, options.forms, left_out
        )
        warnings = write_report(session, assembled_report, new_folder, options.forms)
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def iter_findings(run_labels: Sequence[str], columns: Sequence[RunFigures]) -> Iterator[str]:
    """Yield what the data of runs lack, behind the names of these."""
    for label, run in zip(run_labels, columns, strict=True):
        yield from (f"{label}: {message}" for message in run.quality.messages)


def drop_uncut_metrics(checked: CheckedPackage, report: Report) -> tuple[Report, tuple[str, ...]]:
    """The report without the metrics that phases cannot cut, and their names."""
    package = checked.package
    splittable_ids = {metric.id for metric in package.metrics if can_split_by_phase(package, metric.grain)}
    left_out = tuple(metric.name for metric in list_report_metrics(checked, report) if metric.id not in splittable_ids)

    def keep_listed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in splittable_ids)

    sections = (replace(item, metrics=keep_listed(item.metrics)) for item in report.sections)
    groups = (replace(item, metrics=keep_listed(item.metrics)) for item in report.dictionary)
    shown_report = replace(
        report,
        sections=tuple(item for item in sections if item.metrics),
        charts=tuple(item for item in report.charts if item.metric in splittable_ids),
        dictionary=tuple(item for item in groups if item.metrics),
        also=keep_listed(report.also),
    )
    return shown_report, left_out


def _resolve_options(checked: CheckedPackage, report: Report, options: Options) -> Options:
    """The options with the report's own where the user says nothing; AssayError (usage) for unknown ones."""
    summary = options.summary or report.summary
    summary_names = [item.name for item in checked.package.summaries]
    if summary not in summary_names:
        raise fail(
            "unknown-summary",
            f"there is no summary `{summary}`",
            hint=suggest_names(summary, summary_names),
            status=USAGE,
        )
    style_name = options.style or report.style
    if style_name not in list_style_names():
        raise fail(
            "unknown-style",
            f"there is no number style `{style_name}`",
            hint=suggest_names(style_name, list_style_names()),
            status=USAGE,
        )
    get_style(style_name)
    if options.date:
        _check_date(options.date)
    return replace(options, summary=summary, style=style_name)


def _check_date(text: str) -> None:
    if not is_day(text):
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=text, status=USAGE)


def get_report_date(computation: Computation) -> str:
    """Without a date from the user: the day of the latest log object of all runs, UTC.

    Raises AssayError when no record of any run has an instant.
    """
    last = max(_get_last_day(run) for run in computation.runs)
    if not last:
        raise fail(
            "no-date",
            "no record of the runs has an instant, by which the report would be dated",
            hint="--date YYYY-MM-DD dates it",
            status=USAGE,
        )
    return last


def _get_last_day(run: RunResult) -> str:
    """The day of a run's last record, UTC; empty where no record has a time."""
    last = max((item.last_ns for item in run.ingested_run.logs if item.last_ns is not None), default=None)
    if last is None:
        return ""
    return datetime.datetime.fromtimestamp(last // 1_000_000_000, tz=datetime.UTC).strftime("%Y-%m-%d")


def create_run_figures(run: RunResult) -> RunFigures:
    """What a report knows of a run, or of a phase of one; what is to be known of the raw data is told of the run."""
    notes = [*(() if run.phase else list_raw_notes(run.ingested_run)), *run.data_warnings]
    bounds = run.phase
    phase = RunPhase(run.ingested_run.run.id, bounds.name, bounds.since, bounds.until) if bounds else None
    ingested_run = run.ingested_run
    return RunFigures(
        run.id,
        ingested_run.constants,
        run.results,
        ingested_run.hosts,
        tuple(notes),
        _get_last_day(run),
        phase,
        run.quality,
    )


def _assemble_comparison(
    session: Session,
    checked: CheckedPackage,
    report: Report,
    shown_report: Report,
    computation: Computation,
    figures: Sequence[RunFigures],
    choices: Choices,
    forms: Sequence[str],
    left_out: Sequence[str] = (),
) -> AssembledReport:
    """Put a report together, of which `shown_report` can be shown."""
    ids = [metric.id for metric in list_report_metrics(checked, shown_report)]
    inputs = [collect_inputs(checked, item) for item in computation.runs]
    run_figures = [create_run_figures(item) for item in computation.runs]
    provenance_record = build_provenance(
        checked,
        report,
        [metric.id for metric in list_report_metrics(checked, report)],
        choices,
        run_figures,
        inputs,
        session.get_templates(),
        cut=collect_cut_runs(computation),
    )
    views = run_figures if computation.views else []
    document = assemble(checked, shown_report, figures, choices, format_provenance(provenance_record, checked), views)
    if left_out:
        note = f"Left out, as phases cannot cut all that it is made of: {', '.join(left_out)}."
        document = replace(document, warnings=(note, *document.warnings))
    run_messages = list_run_warnings(checked.package, computation, label_runs(report, run_figures))
    document = replace(document, warnings=(*run_messages, *document.warnings))
    details = NO_DETAILS
    if HTML in forms:
        metrics = list_report_metrics(checked, shown_report)
        figures_by_label = dict(zip(document.manifest.header[1:], figures, strict=True))
        details = collect_report_details(
            checked,
            shown_report,
            metrics,
            computation.compiled_plan.plan.applied,
            computation,
            figures_by_label,
            choices,
        )
    results = build_results_data(checked, shown_report, ids, figures, choices)
    if shown_report.judgement and len(figures) > 1:
        judged_runs = [JudgedRun(item.id, item.results) for item in computation.columns]
        judged_metrics = list_report_metrics(checked, shown_report)
        results["judgement"] = judge_runs(checked, shown_report.judgement, judged_metrics, judged_runs, choices.summary)
    data_findings = tuple(iter_findings(label_runs(report, figures), figures))
    return AssembledReport(checked, document, provenance_record, results, computation, details, findings=data_findings)


def collect_cut_runs(computation: Computation) -> CutRuns | None:
    """How runs were cut, as provenance tells it; None when they were not."""
    if not computation.views:
        return None
    grains = {step.grain.name: step.grain.at for node in computation.phase_graph for step in [node.statement.step]
              if isinstance(step, FilterStep) and step.grain.at}  # fmt: skip
    views = iter(create_run_figures(view) for view in computation.views)
    runs = {
        run.ingested_run.run.id: (
            tuple((item.name, item.t_ns, item.time_source) for item in phases.instants),
            tuple(next(views) for _ in phases.phases),
        )
        for run, phases in zip(computation.runs, computation.phases, strict=True)
    }
    return CutRuns(grains, runs)


def collect_inputs(checked: CheckedPackage, run: RunResult) -> Inputs:
    """The raw files of a run, as provenance names them."""
    ingested_run = run.ingested_run
    quarantined_by_host = tuple((item.host, item.quarantined) for item in ingested_run.logs if item.quarantined)
    files = tuple((item.name, item.size, item.sha256) for item in ingested_run.hashes)
    place = ingested_run.run.directory
    read_documents = list_documents(checked.package, ingested_run.constants, place)
    return Inputs(
        ingested_run.run.id, ingested_run.run.place, files, read_documents, quarantined_by_host, _count_resources(run)
    )


def _count_resources(run: RunResult) -> dict[str, int]:
    """What reading a run comes to, whatever of it a cache had: every line is an event, of no event, or broken."""
    logs = run.ingested_run.logs
    line_count, quarantined_count = sum(log.lines for log in logs), sum(log.quarantined for log in logs)
    recognised_count = sum(log.recognised for log in logs)
    return {
        "files": len(run.ingested_run.hashes),
        "bytes": sum(item.size for item in run.ingested_run.hashes),
        "lines": line_count,
        "recognised": recognised_count,
        "other": line_count - recognised_count - quarantined_count,
        "quarantined": quarantined_count,
    }


def iter_shared_file_notes(runs: Sequence[IngestedRun], run_labels: Sequence[str]) -> Iterator[str]:
    """A sentence for each run that has files of one before it, byte for byte; `run_labels` is what the report calls
    them."""
    for index, run in enumerate(runs):
        shared_by_run = [_find_common_files(run, other) for other in runs[:index]]
        most_shared = max(shared_by_run, key=len, default=[])
        if most_shared:
            yield describe_shared_files(
                run_labels[index], run_labels[shared_by_run.index(most_shared)], run, most_shared
            )


def _find_common_files(run: IngestedRun, other: IngestedRun) -> list[FileHash]:
    """The files of a run that another has, but for short ones, unless it has all of them."""
    other_hashes = {item.sha256 for item in other.hashes}
    common_files = [item for item in run.hashes if item.size and item.sha256 in other_hashes]
    return (
        common_files if len(common_files) == len(run.hashes) else [item for item in common_files if item.size >= LEAST]
    )


def describe_shared_files(run: str, other: str, ingested_run: IngestedRun, common_files: Sequence[FileHash]) -> str:
    file_count = len(ingested_run.hashes)
    if len(common_files) == file_count:
        return f"{run} has the raw files of {other}, byte for byte: a run is compared with itself."
    more = f" and {len(common_files) - 1} more" if len(common_files) > 1 else ""
    return (
        f"{run} has {len(common_files)} of its {file_count} raw files from {other}, byte for byte "
        f"({common_files[0].name}{more}): files "
        "of one run may lie in the folder of another."
    )


def list_run_warnings(package: Package, computation: Computation, run_labels: Sequence[str]) -> tuple[str, ...]:
    """Sentences about runs; `run_labels` is what the report calls them, in order."""
    runs = [item.ingested_run for item in computation.runs]
    cuts = zip(run_labels, runs, computation.phases, strict=False)  # without phases there are none
    return (*iter_shared_file_notes(runs, run_labels), *iter_overrule_notes(package, cuts))
