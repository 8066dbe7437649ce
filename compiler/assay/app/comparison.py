"""`assay build`: runs in, report out."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from assay.app import filters
from assay.app.compute import Computation, RunResult, compute, report_metrics
from assay.app.options import Built, Options, reports
from assay.app.outputs import replacing
from assay.app.phases import overruled, select_phases
from assay.app.prepare import IngestedRun
from assay.app.raw_data_notes import raw_notes
from assay.app.rendering import Assembled, behind_report, write_report
from assay.app.report_check import refuse
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.ingest.hashing import FileHash
from assay.lang.check.reports import is_day
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package
from assay.lang.model.report import Report
from assay.plan.planner import FilterStep, can_split_by_phase
from assay.provenance.record import CutRuns, Inputs, documents, printed, provenance
from assay.report.assemble import assemble
from assay.report.output_forms import HTML
from assay.report.render.html import NOTHING
from assay.report.render.pdf import warm_up
from assay.report.results_json import results_json
from assay.report.run_results import Choices, PhaseOf, RunFigures, labels
from assay.styles.registry import style, style_names
from assay.util.diagnostics import USAGE, did_you_mean, fail

LEAST = 1024  # bytes: single files that are shorter may well be alike


def build(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> Built:
    """Build a report over runs, the first of which is the baseline, into `out`.

    Writes the report in the forms that are asked for, charts/, results.json, document.json, sql/, provenance.json,
    specs.json; all or nothing.  Raises AssayError.
    """
    checked, report = session.report(name)
    refuse(session, checked.package)
    applied = filters.applied(checked.package, report, options.filters, options.no_filters)
    chosen = _checked_options(checked, report, options)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    cut = select_phases(checked.package, report.phases, options.at, options.phases)
    shown, left_out = can_be_cut(checked, report) if cut else (report, ())
    metrics = report_metrics(checked, shown)
    with replacing(out, session.waits_for(out), session.finished) as fresh:
        found = compute(
            session, checked, runs, metrics, applied, relations, lambda: warm_up(session.templates()),
            asked=cut,
        )  # fmt: skip
        choices = Choices(
            chosen.style, chosen.summary, tuple(item.label for item in applied), chosen.date or date_of(found),
            chosen.title, chosen.author, options.at, options.phases,
        )  # fmt: skip
        figures = [figures_of(item) for item in found.columns]
        made = _assemble(session, checked, report, shown, found, figures, choices, options.forms, left_out)
        warnings = write_report(session, made, fresh, options.forms)
    return Built(out, reports(out, options.forms), warnings)


def findings(named: Sequence[str], columns: Sequence[RunFigures]) -> Iterator[str]:
    """Yield what the data of runs lack, behind the names of these."""
    for label, run in zip(named, columns, strict=True):
        yield from (f"{label}: {message}" for message in run.quality.messages)


def can_be_cut(checked: CheckedPackage, report: Report) -> tuple[Report, tuple[str, ...]]:
    """The report without the metrics that phases cannot cut, and their names."""
    package = checked.package
    fine = {metric.id for metric in package.metrics if can_split_by_phase(package, metric.grain)}
    left_out = tuple(metric.name for metric in report_metrics(checked, report) if metric.id not in fine)

    def keep_listed(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in fine)

    sections = (replace(item, metrics=keep_listed(item.metrics)) for item in report.sections)
    groups = (replace(item, metrics=keep_listed(item.metrics)) for item in report.dictionary)
    shown = replace(
        report,
        sections=tuple(item for item in sections if item.metrics),
        charts=tuple(item for item in report.charts if item.metric in fine),
        dictionary=tuple(item for item in groups if item.metrics),
        also=keep_listed(report.also),
    )
    return shown, left_out


def _checked_options(checked: CheckedPackage, report: Report, options: Options) -> Options:
    """The options with the report's own where the user says nothing; AssayError (usage) for unknown ones."""
    summary = options.summary or report.summary
    known = [item.name for item in checked.package.summaries]
    if summary not in known:
        raise fail(
            "unknown-summary",
            f"there is no summary `{summary}`",
            hint=did_you_mean(summary, known),
            status=USAGE,
        )
    look = options.style or report.style
    if look not in style_names():
        raise fail(
            "unknown-style",
            f"there is no number style `{look}`",
            hint=did_you_mean(look, style_names()),
            status=USAGE,
        )
    style(look)
    if options.date:
        _valid_date(options.date)
    return replace(options, summary=summary, style=look)


def _valid_date(text: str) -> None:
    if not is_day(text):
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=text, status=USAGE)


def date_of(found: Computation) -> str:
    """Without a date from the user: the day of the latest log object of all runs, UTC.

    Raises AssayError when no record of any run has an instant.
    """
    last = max(_day(run) for run in found.runs)
    if not last:
        raise fail(
            "no-date",
            "no record of the runs has an instant, by which the report would be dated",
            hint="--date YYYY-MM-DD dates it",
            status=USAGE,
        )
    return last


def _day(run: RunResult) -> str:
    """The day of a run's last record, UTC; empty where no record has a time."""
    last = max((item.last_ns for item in run.prepared.logs if item.last_ns is not None), default=None)
    if last is None:
        return ""
    return datetime.datetime.fromtimestamp(last // 1_000_000_000, tz=datetime.UTC).strftime("%Y-%m-%d")


def figures_of(run: RunResult) -> RunFigures:
    """What a report knows of a run, or of a phase of one; what is to be known of the raw data is told of the run."""
    notes = [*(() if run.phase else raw_notes(run.prepared)), *run.absent]
    bounds = run.phase
    phase = PhaseOf(run.prepared.run.id, bounds.name, bounds.since, bounds.until) if bounds else None
    prepared = run.prepared
    return RunFigures(
        run.id, prepared.constants, run.results, prepared.hosts, tuple(notes), _day(run), phase, run.quality
    )  # fmt: skip


def _assemble(
    session: Session,
    checked: CheckedPackage,
    report: Report,
    shown: Report,
    found: Computation,
    figures: Sequence[RunFigures],
    choices: Choices,
    forms: Sequence[str],
    left_out: Sequence[str] = (),
) -> Assembled:
    """Put a report together, of which `shown` can be shown."""
    ids = [metric.id for metric in report_metrics(checked, shown)]
    inputs = [inputs_of(checked, item) for item in found.runs]
    whole = [figures_of(item) for item in found.runs]
    made = provenance(
        checked,
        report,
        [metric.id for metric in report_metrics(checked, report)],
        choices,
        whole,
        inputs,
        session.templates(),
        cut=phases_of(found),
    )
    views = whole if found.views else []
    document = assemble(checked, shown, figures, choices, printed(made, checked), views)
    if left_out:
        note = f"Left out, as phases cannot cut all that it is made of: {', '.join(left_out)}."
        document = replace(document, warnings=(note, *document.warnings))
    told = run_warnings(checked.package, found, labels(report, whole))
    document = replace(document, warnings=(*told, *document.warnings))
    behind = NOTHING
    if HTML in forms:
        metrics = report_metrics(checked, shown)
        named = dict(zip(document.manifest.header[1:], figures, strict=True))
        behind = behind_report(checked, shown, metrics, found.compiled.plan.applied, found, named, choices)
    results = results_json(checked, shown, ids, figures, choices)
    lacks = tuple(findings(labels(report, figures), figures))
    return Assembled(checked, document, made, results, found, behind, findings=lacks)


def phases_of(found: Computation) -> CutRuns | None:
    """How runs were cut, as provenance tells it; None when they were not."""
    if not found.views:
        return None
    grains = {step.grain.name: step.grain.at for node in found.cut for step in [node.statement.step]
              if isinstance(step, FilterStep) and step.grain.at}  # fmt: skip
    views = iter(figures_of(view) for view in found.views)
    runs = {
        run.prepared.run.id: (
            tuple((item.name, item.t_ns, item.told_by) for item in phases.instants),
            tuple(next(views) for _ in phases.phases),
        )
        for run, phases in zip(found.runs, found.phases, strict=True)
    }
    return CutRuns(grains, runs)


def inputs_of(checked: CheckedPackage, run: RunResult) -> Inputs:
    """The raw files of a run, as provenance names them."""
    prepared = run.prepared
    quarantined = tuple((item.host, item.quarantined) for item in prepared.logs if item.quarantined)
    files = tuple((item.name, item.size, item.sha256) for item in prepared.hashes)
    place = prepared.run.directory
    read = documents(checked.package, prepared.constants, place)
    return Inputs(prepared.run.id, prepared.run.place, files, read, quarantined, _resources(run))


def _resources(run: RunResult) -> dict[str, int]:
    """What reading a run comes to, whatever of it a cache had: every line is an event, of no event, or broken."""
    logs = run.prepared.logs
    lines, quarantined = sum(log.lines for log in logs), sum(log.quarantined for log in logs)
    recognised = sum(log.recognised for log in logs)
    return {
        "files": len(run.prepared.hashes),
        "bytes": sum(item.size for item in run.prepared.hashes),
        "lines": lines,
        "recognised": recognised,
        "other": lines - recognised - quarantined,
        "quarantined": quarantined,
    }


def shared_files(runs: Sequence[IngestedRun], named: Sequence[str]) -> Iterator[str]:
    """A sentence for each run that has files of one before it, byte for byte; `named` is what the report calls them."""
    for later, run in enumerate(runs):
        found = [_common(run, other) for other in runs[:later]]
        most = max(found, key=len, default=[])
        if most:
            yield describe_shared_files(named[later], named[found.index(most)], run, most)


def _common(run: IngestedRun, other: IngestedRun) -> list[FileHash]:
    """The files of a run that another has, but for short ones, unless it has all of them."""
    theirs = {item.sha256 for item in other.hashes}
    common = [item for item in run.hashes if item.size and item.sha256 in theirs]
    return common if len(common) == len(run.hashes) else [item for item in common if item.size >= LEAST]


def describe_shared_files(run: str, other: str, prepared: IngestedRun, common: Sequence[FileHash]) -> str:
    whole = len(prepared.hashes)
    if len(common) == whole:
        return f"{run} has the raw files of {other}, byte for byte: a run is compared with itself."
    more = f" and {len(common) - 1} more" if len(common) > 1 else ""
    return (
        f"{run} has {len(common)} of its {whole} raw files from {other}, byte for byte ({common[0].name}{more}): files "
        "of one run may lie in the folder of another."
    )


def run_warnings(package: Package, found: Computation, named: Sequence[str]) -> tuple[str, ...]:
    """Sentences about runs; `named` is what the report calls them, in order."""
    runs = [item.prepared for item in found.runs]
    cuts = zip(named, runs, found.phases, strict=False)  # without phases there are none
    return (*shared_files(runs, named), *overruled(package, cuts))
