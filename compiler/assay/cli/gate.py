"""Define `assay gate`: fail if a metric got worse by more than its margin."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from assay.app.compare.compare_results import judge_build
from assay.app.compare.gate import (
    describe_data,
    describe_lacking_samples,
    find_definitions,
    gate_segments,
    has_repeats,
    is_open,
    list_all_gated,
    list_cautions,
    list_gated_changes,
    list_missing_data,
    require_decision,
)
from assay.app.compare.gate_texts import (
    describe_required_runs,
    describe_run_mixes,
    describe_uncorrected,
    describe_worse_outside_gate,
    list_undecided,
    summarize_gate,
)
from assay.app.judge.judged_results import RESULTS, ComparedRun, JudgedResults, read_judged_results
from assay.app.session.session import Session
from assay.cli import output
from assay.cli.gate_markdown import format_markdown, format_undecided
from assay.cli.junit import add_junit_option, write_junit
from assay.cli.options import add_results_option, complete_folders, open_command_session, require_results_folder
from assay.cli.sarif import SarifResult, add_sarif_option, write_sarif
from assay.judgement.verdict import Verdict
from assay.provenance.read import get_build_folder
from assay.registry.baseline import parse_median
from assay.remote.pull_requests import find_pull_request
from assay.report.verdicts.figures import format_change, format_p, format_percents, format_values, list_local_names
from assay.report.verdicts.recorded_change import RecordedChange
from assay.report.verdicts.sentences import describe_quantile_verdicts
from assay.util.diagnostics import CLOSED_GATE, AssayError, fail, render
from assay.util.escape import escape_text
from assay.util.paths import resolve_path

MOST_OUTSIDE = 3
UNDECIDED = "gate-undecided"
DECISION = {"classname": "Gate", "name": "Decision"}  # the test case on the gate as a whole


@click.command()
@click.argument("folder", metavar="BUILD_FOLDER", shell_complete=complete_folders)
@click.option("--once", "is_once", is_flag=True, help="Decide even if there are too few repeats.")
@click.option("--allow-missing", "allows_missing", is_flag=True,
              help="Decide even if data of gated metrics are missing, or the numbers of hosts differ.")  # fmt: skip
@click.option("--allow-no-interval", "allows_no_interval", is_flag=True,
              help="Decide even if gated metrics without an interval changed by more than their margin.")  # fmt: skip
@click.option("--undecided", type=click.Choice(["pass", "fail"]), default="pass",
              help="Whether gated metrics pass that cannot tell, and so may be worse.")  # fmt: skip
@click.option("--segments", "has_segments", is_flag=True,
              help="Gate all segments of the report, too, such as those of a section that splits metrics.")  # fmt: skip
@click.option("--group", metavar="NAME", default="", help="Decide on this group of runs, in a report with groups.")
@click.option("--baseline", metavar="median:N[:TAG]",
              help="Compare with the median of the last N recorded runs, not with the first of the build.")  # fmt: skip
@add_results_option
@add_junit_option
@add_sarif_option
@click.option("--comment", "has_comment", is_flag=True, help="Also write the Markdown on the pull request of a CI job.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format."
)
def gate(
    folder: str, is_once: bool, allows_missing: bool, allows_no_interval: bool, undecided: str,
    has_segments: bool, group: str, baseline: str | None, results: Path | None, junit: Path | None, sarif: Path | None,
    has_comment: bool, form: str,
) -> int:  # fmt: skip
    """Tell whether metrics got worse by more than their margins.

    Reads results.json of a comparison whose report has a judgement; BUILD_FOLDER may be this file. Exits with
    status 4 if one of the gated metrics is worse by more than its margin, and with 1 if it does not decide, such as
    for too few repeats or missing data.

    With --baseline, one run is enough: how much the recorded runs differ shows what is noise.
    """

    if group and baseline:
        raise click.UsageError("--group cannot be used with --baseline, which compares one run without groups")
    build = get_build_folder(Path(folder))
    with open_command_session() as session:
        judged = _judge(session, build, baseline, results) if baseline else read_judged_results(build, group)
        if has_segments:
            judged = gate_segments(judged)
        try:
            require_decision(
                judged, is_once=is_once, allows_missing=allows_missing, allows_no_interval=allows_no_interval
            )
            if undecided == "fail":
                _require_no_undecided(judged)
        except AssayError as error:
            if junit:
                write_junit(junit, build_undecided_suites(judged, error))
            if sarif and error.diagnostics[0].code == UNDECIDED:
                _write_sarif(sarif, session, judged, Path(folder), "error")
            _publish(judged, format_undecided(judged, error), form == "markdown", has_comment)
            raise
        if sarif:
            _write_sarif(sarif, session, judged, Path(folder), "note")
    if junit:
        write_junit(junit, build_suites(judged))
    _publish(judged, format_markdown(judged), form == "markdown", has_comment)
    if form == "json":
        output.print_data(_export_gate(judged))
    elif form == "text":
        for line in format_gate(judged):
            output.print_line(line)
    return 0 if is_open(judged) else CLOSED_GATE


def _require_no_undecided(results: JudgedResults) -> None:
    """Raise AssayError if the gate passes, but gated metrics may be worse by more than their margin."""

    gated = list_all_gated(results)
    if list_undecided(gated):
        raise fail(
            UNDECIDED,
            "the gate does not decide: gated metrics cannot tell",
            expected="intervals of gated metrics that do not reach beyond their margin",
            found=summarize_gate(gated).partition(", but ")[2],
            notes=tuple(filter(None, [*list_cautions(results), describe_data(results)])),
            hint=describe_required_runs(results, gated),
        )


def _judge(session: Session, build: Path, baseline: str, results: Path | None) -> JudgedResults:
    """Judge a build against the median of recorded runs."""

    median = parse_median(baseline)
    return judge_build(session, require_results_folder(results), build, median)


def _publish(results: JudgedResults, text: str, is_printed: bool, has_comment: bool) -> None:
    """Print the Markdown of a gate, and write it as a comment; print a warning if the comment cannot be written."""

    if is_printed:
        output.print_text(text)
    if has_comment:
        try:
            pull_request = find_pull_request(os.environ)
            if pull_request:
                pull_request.write_comment(f"assay gate {results.report}", text)
            else:
                output.print_line("no comment: the job is not for a pull request", err=True)
        except AssayError as error:  # what the gate decides does not depend on the code host
            for item in error.diagnostics:
                output.print_problems(render(dataclasses.replace(item, severity="warning")))


def _write_sarif(place: Path, session: Session, results: JudgedResults, folder: Path, level_of_undecided: str) -> None:
    """Write what is worse, missing, suspect or undecided: as errors what closes the gate, as warnings the rest."""

    worse = [(run, item) for run in results.runs for item in run.changes if item.is_worse]
    unjudged = [
        (run, item)
        for run in results.runs
        for item in list_gated_changes(run)
        if item.verdict in (Verdict.NO_INTERVAL, Verdict.DATA_LOST)
    ]
    undecided = [(run, item) for run in results.runs for item in list_undecided(list_gated_changes(run))]
    spans = find_definitions(session, results, {item.metric for _, item in (*worse, *unjudged, *undecided)})
    problems = [
        SarifResult(
            "closed-gate" if change.is_closing else "worse",
            "error" if change.is_closing else "warning",
            f"{change.name} is worse in {run.label} than in {results.base}: {_describe_change(change)}",
            spans.get(change.metric),
        )
        for run, change in worse
    ]
    problems += [
        SarifResult(
            "no-interval",
            "warning",
            f"{change.name} has no verdict in {run.label}: {change.verdict}, {change.reason}",
            spans.get(change.metric),
        )
        for run, change in unjudged
    ]
    problems += [
        SarifResult(
            "undecided",
            level_of_undecided,
            f"{change.name} may be worse in {run.label} than in {results.base} by more than its margin: "
            f"{change.reason or _describe_change(change)}",
            spans.get(change.metric),
        )
        for run, change in undecided
    ]
    problems += [SarifResult("suspect-comparison", "warning", text, None) for text in list_cautions(results)]
    if any(results.findings.values()):
        problems.append(SarifResult("incomplete-data", "warning", describe_data(results), None))
    file = folder if folder.name == RESULTS else folder / RESULTS
    write_sarif(place, problems, session.workspace.root, str(resolve_path(file)))


def _export_gate(results: JudgedResults) -> dict[str, Any]:

    runs = [
        {
            "id": run.id,
            "label": run.label,
            "caution": run.caution,
            "causes": list(run.causes),
            "undecided": [item.metric for item in list_undecided(list_gated_changes(run))],
            "worse_outside_gate": [item.metric for item in run.worse_outside_gate],
            "worse_before_correction": [item.metric for item in list_gated_changes(run) if item.is_worse_uncorrected],
            "changes": [dataclasses.asdict(item) for item in list_gated_changes(run)],
        }
        for run in results.runs
    ]
    return {
        "report": results.report,
        "base": results.base,
        "runs": runs,
        "has_repeats": has_repeats(results),
        "noise": results.noise,
        "findings": {label: None if items is None else len(items) for label, items in results.findings.items()},
        "missing": list_missing_data(results),
        "is_open": is_open(results),
    }


def format_gate(results: JudgedResults) -> Iterator[str]:
    """Yield the lines of a gate: for each run a headline, the gated metrics, what else is worse or not known."""

    for run in results.runs:
        changes = list_gated_changes(run)
        yield f"{escape_text(run.label)} against {escape_text(results.base)}: {escape_text(summarize_gate(changes))}"
        uncorrected = [change for change in changes if change.is_worse_uncorrected]
        yield from _format_changes([change for change in changes if change.has_interval and change not in uncorrected])
        if uncorrected:
            yield f"{describe_uncorrected(results)}:"
            yield from _format_changes(uncorrected)
        required = describe_required_runs(results, changes)
        if required:
            yield escape_text(required)
        if quantiles := describe_quantile_verdicts(changes):
            yield escape_text(quantiles)
        yield from map(escape_text, run.causes)
        if mixes := describe_run_mixes(run, results.base):
            yield escape_text(mixes)
        outside = describe_worse_outside_gate(run, MOST_OUTSIDE)
        if outside:
            yield escape_text(outside)
        for change in changes:
            if change.reason:
                yield f"  {escape_text(change.name)}: {change.verdict}: {change.reason}"
    yield from map(escape_text, filter(None, [
        *list_cautions(results), describe_lacking_samples(results), describe_data(results),
    ]))  # fmt: skip
    yield results.noise


def _format_changes(changes: list[RecordedChange]) -> Iterator[str]:
    """Yield a line for each change, in columns: name, values, change, interval, margin, verdict, p."""
    rows = [_list_cells(item) for item in changes]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _list_cells(change: RecordedChange) -> tuple[str, ...]:
    """Return the cells of a change; it has p if it is worse, with or without the correction."""
    base, value, unit = format_values(change)
    percent, interval = format_percents(change)
    before = [format_p(change.p_margin or 0, "p")] if change.is_worse_uncorrected else []
    ps = [*before, format_p(change.p or 0)] if change.is_worse or change.is_worse_uncorrected else []
    return (
        escape_text(change.name),
        escape_text(f"{base} → {value} {unit}".rstrip()),
        percent if change.is_from_zero else f"{percent} %",
        f"({interval})",
        f"margin {change.margin}",
        change.gate_text,
        "  ".join(ps),
    )


def build_suites(results: JudgedResults) -> ElementTree.Element:
    """Return the verdicts as JUnit XML: a suite for each compared run, a case for each metric.

    What closes the gate fails, so that a gate that passes has no failures. What else is worse passes, and its output
    says so; metrics of other states but `same` count as skipped, and so does the decision if some gated metrics are
    undecided.
    """
    return _create_suites(
        results, {run.id: [*_create_decision(results, run), *_create_cases(run)] for run in results.runs}
    )


def _create_decision(results: JudgedResults, run: ComparedRun) -> list[ElementTree.Element]:
    """Return a test case on the undecided metrics of a gate that passes; empty without any."""

    changes = list_gated_changes(run)
    if not list_undecided(changes):
        return []
    case = ElementTree.Element("testcase", DECISION)
    message = f"{summarize_gate(changes)}. {describe_required_runs(results, changes)}"
    ElementTree.SubElement(case, "skipped", {"message": message})
    return [case]


def build_undecided_suites(results: JudgedResults, error: AssayError) -> ElementTree.Element:
    """Return why a gate does not decide as JUnit XML: each compared run has one case, which is an error.

    It has no verdicts: they are not what the gate decides.
    """

    item = error.diagnostics[0]
    message = f"{item.message}; expected {item.expected}, found {item.found}"
    cases = {}
    for run in results.runs:
        case = ElementTree.Element("testcase", DECISION)
        ElementTree.SubElement(case, "error", {"type": item.code, "message": message})
        cases[run.id] = [case]
    return _create_suites(results, cases)


def _create_suites(
    results: JudgedResults, cases_by_run: Mapping[str, list[ElementTree.Element]]
) -> ElementTree.Element:
    """Return a suite for each compared run, with the noise, its caution and the findings as properties."""

    root = ElementTree.Element("testsuites")
    for run in results.runs:
        cases = cases_by_run[run.id]
        counts = {tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error", "skipped")}
        attributes = {
            "name": f"{results.report}: {run.label} against {results.base}",
            "tests": len(cases),
            "failures": counts["failure"],
            "errors": counts["error"],
            "skipped": counts["skipped"],
        }
        suite = ElementTree.SubElement(root, "testsuite", {key: str(value) for key, value in attributes.items()})
        properties = ElementTree.SubElement(suite, "properties")
        data = " ".join(filter(None, [describe_lacking_samples(results), describe_data(results)]))
        facts = {"noise": results.noise, "caution": run.caution, "data": data}
        for name, value in facts.items():
            if value:
                ElementTree.SubElement(properties, "property", {"name": name, "value": value})
        suite.extend(cases)
    return root


def _create_cases(run: ComparedRun) -> list[ElementTree.Element]:
    """Return a test case for each metric; metrics of one section and name are distinguished by their ids."""

    names = list_local_names(run.changes)
    cases = []
    for change in run.changes:
        case = ElementTree.Element("testcase", {"classname": change.section, "name": names[change.metric]})
        if change.is_closing:
            message = f"{_describe_change(change)}, {format_p(change.p or 0)}"
            ElementTree.SubElement(case, "failure", {"type": change.gate_text, "message": message})
        elif change.verdict == "worse":
            place = "not in the gate" if change.p is None else f"does not fail the gate: {format_p(change.p)}"
            ElementTree.SubElement(case, "system-out").text = f"worse, {place}: {_describe_change(change)}"
        elif change.verdict in (Verdict.CANNOT_TELL, Verdict.DATA_LOST, Verdict.NO_INTERVAL):
            explanation = change.reason or _describe_change(change)
            ElementTree.SubElement(case, "skipped", {"message": f"{change.verdict}: {explanation}"})
        cases.append(case)
    return cases


def _describe_change(change: RecordedChange) -> str:
    return f"{' '.join(format_change(change))}, margin {change.margin}"
