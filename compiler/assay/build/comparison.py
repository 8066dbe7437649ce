"""`assay build`: runs in, report out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.audit.provenance import Inputs, documents, in_forms, printed, provenance
from assay.build import filters
from assay.build.details import behind_report
from assay.build.compute import Computation, Computed, compute, report_metrics
from assay.build.outputs import replacing
from assay.build.rendering import rendered, reports
from assay.build.runs import NamedRun
from assay.build.session import Session
from assay.build.sql_files import write_sql
from assay.compare.style import style, style_names
from assay.report.assemble import assemble
from assay.report.figures import Choices, RunFigures
from assay.report.forms import USUAL
from assay.report.pdf import warm_up
from assay.report.results_json import lines_json, results_json
from assay.spec.diagnostics import USAGE, did_you_mean, fail
from assay.spec.model import Metric
from assay.spec.report_model import Report
from assay.spec.normal_form import Checked


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may say of a build; empty texts leave it to the report (or, the date, to the data)."""

    filters: tuple[str, ...] = ()
    no_filters: bool = False
    summary: str = ""
    style: str = ""
    title: str = ""
    author: str = ""
    date: str = ""
    forms: tuple[str, ...] = USUAL


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build: its folder, the report in each of its forms, and the warnings that it carries."""

    folder: Path
    reports: tuple[Path, ...]
    warnings: tuple[str, ...]


def build(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> Built:
    """Build a report over runs, the first of which is the baseline, into `out`.

    Writes the report in the forms that are asked for, charts/, results.json, document.json, sql/, provenance.json;
    all or nothing.  Raises AssayError.
    """
    checked, report = session.report(name)
    applied = filters.applied(checked.package, report, options.filters, options.no_filters)
    chosen = _checked_options(checked, report, options)
    metrics = report_metrics(checked, report)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    with replacing(out) as fresh:
        found = compute(
            session, checked, runs, metrics, applied, relations, lambda: warm_up(session.workspace.templates)
        )
        choices = Choices(
            chosen.style, chosen.summary, tuple(item.label for item in applied), chosen.date or date_of(found),
            chosen.title, chosen.author,
        )  # fmt: skip
        figures = [figures_of(item) for item in found.runs]
        warnings = _write(session, checked, report, metrics, found, figures, choices, options.forms, fresh)
    return Built(out, reports(out, options.forms), warnings)


def _checked_options(checked: Checked, report: Report, options: Options) -> Options:
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
    return Options(options.filters, options.no_filters, summary, look, options.title, options.author, options.date)


def _valid_date(text: str) -> None:
    try:
        known = datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        known = False
    if not known:
        raise fail("date", "--date takes a day that exists", expected="YYYY-MM-DD", found=text, status=USAGE)


def date_of(found: Computation) -> str:
    """Without a date from the user: the day of the latest log object of all runs, UTC."""
    last = max(item.last_ns for run in found.runs for item in run.prepared.logs if item.last_ns is not None)
    return datetime.datetime.fromtimestamp(last // 1_000_000_000, tz=datetime.UTC).strftime("%Y-%m-%d")


def figures_of(run: Computed) -> RunFigures:
    """What a report knows of a run."""
    logs = run.prepared.logs
    lost = [item for item in logs if item.quarantined]
    notes = [*run.prepared.notes, *run.absent]
    if lost:
        total = sum(item.quarantined for item in lost)
        where = ", ".join(f"{item.host}: {item.quarantined}" for item in lost)
        notes.append(f"{total} broken log {'line' if total == 1 else 'lines'} left out ({where}).")
    return RunFigures(run.prepared.run.id, run.prepared.constants, run.results, run.prepared.hosts, tuple(notes))


def _write(
    session: Session,
    checked: Checked,
    report: Report,
    metrics: Sequence[Metric],
    found: Computation,
    figures: Sequence[RunFigures],
    choices: Choices,
    forms: Sequence[str],
    fresh: Path,
) -> tuple[str, ...]:
    ids = [metric.id for metric in metrics]
    inputs = [inputs_of(checked, item) for item in found.runs]
    made = provenance(checked, report, ids, choices, figures, inputs, session.workspace.templates)
    document = assemble(checked, report, figures, choices, printed(made, checked))
    (fresh / "results.json").write_text(lines_json(results_json(checked, report, ids, figures, choices)), "utf-8")
    (fresh / "provenance.json").write_text(lines_json(in_forms(made, forms)), "utf-8")
    write_sql(fresh / "sql", found)
    named = dict(zip(document.manifest.header[1:], figures, strict=True))
    behind = behind_report(checked, metrics, found.plan.applied, found, named, choices)
    rendered(document, fresh, session, forms, behind)
    return document.warnings


def inputs_of(checked: Checked, run: Computed) -> Inputs:
    """The raw files of a run, as provenance names them."""
    prepared = run.prepared
    quarantined = tuple((item.host, item.quarantined) for item in prepared.logs if item.quarantined)
    files = tuple((item.name, item.size, item.sha256) for item in prepared.hashes)
    place = prepared.run.directory
    read = documents(checked.package, prepared.constants, place)
    return Inputs(prepared.run.id, str(place), files, read, quarantined)
