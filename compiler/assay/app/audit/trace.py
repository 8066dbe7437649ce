"""Trace a cell of a report back to its samples and raw records (`assay trace`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.app.audit.lineage import trace_subject
from assay.app.audit.trace_judgement import Rebuild, TracedJudgement, trace_judgement
from assay.app.audit.trace_values import (
    BuiltReport,
    TracedRun,
    TraceRequest,
    check_value,
    trace_value,
)
from assay.app.audit.verify import locate_runs, parse_moved_runs
from assay.app.compute.splitting import read_splits
from assay.app.compute.subject import FormulaSubject, MetricSubject, SeriesSubject, Subject, list_cell_subjects
from assay.app.session import filters
from assay.app.session.outputs import read_whole_build
from assay.app.session.session import Session
from assay.explain.facts import find_deciding_grains
from assay.lang.blocks.run_timeline import RunTimeline
from assay.lang.blocks.timeline import Timeline
from assay.lang.editions import select_edition
from assay.lang.model.report import Report
from assay.lang.segments import add_segments, get_whole
from assay.plan.planner import AppliedFilter
from assay.provenance.read import NAME, RecordedPublishedBuild, RecordedRun, read_provenance
from assay.provenance.record import hash_input_file
from assay.report import printed_cells
from assay.report.cell_links import (
    AVERAGE,
    COLUMN,
    COUNT,
    DIFFERENCE,
    FACT,
    FILTER,
    FORMULA,
    INTERVAL,
    JUDGED,
    MEAN,
    OUTCOME,
    PERCENT,
    ROW,
    STATISTIC,
    VERDICT,
    WORDS,
    CellSource,
)
from assay.report.document import Document
from assay.report.document_json import parse_document
from assay.report.printed_cells import Cell
from assay.runs.model import NamedRun
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, fail, raise_all

LIST_HINT = "pass --list to list the cells"


def _create_untraceable_error(built_report: BuiltReport, document: Document, cell: Cell) -> AssayError:
    """Return the error of a cell that has no records behind it, with its reason and a hint."""
    name, entry = f"`{cell.name}`", cell.sources[0].entry if cell.sources else ""
    notes = tuple(" ".join(item.description.split("\n")) for item in document.entries if entry and item.id == entry)
    if cell.prints == OUTCOME:
        tables = " and ".join(f"`{title}`" for title in cell.decided_by)
        if not tables:
            return _create_error(f"{name} has no verdict: {cell.text}", cell, LIST_HINT)
        return _create_error(f"{name} is computed from the cells of {tables}", cell, "trace cells of these tables")
    if cell.prints == WORDS:
        series_names = [item.name for item in built_report.checked.package.series if item.name == entry]
        hint = (
            f"run `assay explain {series_names[0]}` for what it is read from"
            if series_names
            else "trace the values in the same row"
        )
        return _create_error(f"{name} is a text of the specs, not a value of a run", cell, hint)
    if cell.prints == FILTER:
        message = f"{name} is a number of rows that a filter was applied to, not a metric"
        return _create_error(message, cell, "run `assay explain METRIC` for the filters of a metric", notes)
    if not cell.sources:
        return _create_error(f"{name} prints no value: the run has no such row", cell, LIST_HINT)
    content = built_report.provenance.content
    run = next((item for item in content.runs if item.id == cell.sources[0].run), content.runs[0])
    files = ", ".join(item.file for item in run.documents) or "its logs"
    message, content_of_cell = f"{name} is a fact of run {run.id}, not a metric", f"{cell.text}, from {files}"
    return fail("not-a-metric", message, found=content_of_cell, hint=LIST_HINT, notes=notes, status=USAGE)


def _create_error(message: str, cell: Cell, hint: str, notes: tuple[str, ...] = ()) -> AssayError:
    return fail("not-traceable", message, found=cell.text, hint=hint, notes=notes, status=USAGE)


def _refuse_timeline(report: Report, name: str) -> None:
    """Raise AssayError (usage) if a name is that of a timeline, perhaps with its part before it or its unit behind."""
    timelines = [(part.title, item) for part in report.parts for item in part.blocks
                 if isinstance(item, Timeline | RunTimeline)]  # fmt: skip
    for part, timeline in timelines:
        title = name.removeprefix(f"{part}/")
        if title in (timeline.title, timeline.series) or title.startswith(f"{timeline.title}, "):
            message = f"`{timeline.title}` is a timeline: its points are values of a series, not cells"
            raise fail("not-traceable", message,
                       hint=f"`assay explain {timeline.series} --run RUN` shows the greatest with their log lines",
                       status=USAGE)  # fmt: skip


DIGITS = 12  # of a hash in a message
SINGLE_VALUES = (AVERAGE, ROW, COLUMN, MEAN)  # kinds of cells that print one value unchanged


@dataclass(frozen=True, slots=True)
class TracedCell:
    """A traced cell: its subject (`item`; the first of several), and the values in each run behind it.

    `formula_text` is the formula over these values in words, `judgement` what an interval or a verdict rests on.
    """

    cell: Cell
    report: str
    item: Subject
    definition: str
    summary: str
    style: str
    filters: tuple[str, ...]
    is_filtered: bool
    runs: tuple[TracedRun, ...]
    formula_text: str = ""
    judgement: TracedJudgement | None = None


@dataclass(frozen=True, slots=True)
class TracedCount:
    """A traced number of metrics: the cells with the verdicts that it counts."""

    cell: Cell
    report: str
    counted: tuple[Cell, ...]


def list_cells(session: Session, folder: Path) -> tuple[Cell, ...]:
    """Return the cells of a built report. Raises AssayError if the folder has none."""
    built_report, document = read_whole_build(folder, lambda: _read_build(session, folder))
    return tuple(printed_cells.list_document_cells(document, built_report.checked.package))


def trace_cell(session: Session, folder: Path, name: str, run_places: Sequence[str] = ()) -> TracedCell | TracedCount:
    """Trace a cell of a built report, `SECTION/ROW/COLUMN` as printed, back to raw records.

    A number of metrics leads to the cells that it counts. `run_places` (`NAME=DIR`) locates runs that have moved.

    Raises AssayError (usage) for an unknown cell and for one without records behind it; AssayError if the report's
    runs, definitions or inputs have changed, with their names and hashes.
    """
    built_report, document = read_whole_build(folder, lambda: _read_build(session, folder))
    checked, content = built_report.checked, built_report.provenance.content
    document_cells = tuple(printed_cells.list_document_cells(document, checked.package))
    _refuse_timeline(built_report.report, name)
    cell = printed_cells.find_cell(document_cells, name)
    if cell.prints == COUNT:
        return TracedCount(cell, content.report, tuple(item for item in document_cells if item.name in cell.decided_by))
    subjects = list_cell_subjects(checked, built_report.report)
    if (
        not cell.sources
        or cell.prints in (FACT, FILTER, WORDS)
        or any(source.entry not in subjects for source in cell.sources)
    ):
        raise _create_untraceable_error(built_report, document, cell)
    cell_subject = subjects[cell.sources[0].entry]
    values = [(item, source) for source in cell.sources for item in subjects[source.entry].inputs]
    for item in dict.fromkeys((cell_subject, *(item for item, _ in values))):
        _check_definition(built_report, item, is_cell_metric=item == cell_subject)
    cell_runs = _locate_cell_runs(session, built_report, cell, run_places)
    applied_filters = filters.parse_filters(checked.package, None, content.options.filters, not content.options.filters)
    rebuild = Rebuild(session, built_report, applied_filters)
    if cell.prints in (AVERAGE, DIFFERENCE, PERCENT, JUDGED, INTERVAL, VERDICT):
        _check_formulas(rebuild, subjects, cell, cell_runs)
    printed_text = cell.text if _prints_single_value(cell, cell_subject) and cell_subject == values[0][0] else ""
    traced_runs = []
    for item, source in dict.fromkeys(values):
        run, recorded_run = cell_runs[_find_run_name(cell_runs, source)]
        label = (
            recorded_run.label
            if source.run == run.id
            else f"{recorded_run.label} ({source.run.removeprefix(f'{run.id}:')})"
        )
        request = TraceRequest(
            item, source, applied_filters, run, label, cell.name, cell.prints, printed_text, cell.unit
        )
        traced_runs.append(trace_value(session, built_report, request))
    return TracedCell(
        cell,
        content.report,
        cell_subject,
        cell_subject.definition,
        built_report.summary,
        content.options.style,
        tuple(item.label for item in applied_filters),
        _is_filtered(cell_subject, applied_filters),
        tuple(traced_runs),
        _describe_formula(document, cell, cell_subject),
        _trace_judgement(rebuild, cell, cell_subject, cell_runs),
    )


def _locate_cell_runs(
    session: Session, built_report: BuiltReport, cell: Cell, run_places: Sequence[str]
) -> dict[str, tuple[NamedRun, RecordedRun]]:
    """Return the runs of a cell by name, as they are now and as recorded. Raises AssayError if inputs have changed."""
    record = built_report.provenance
    current_runs = locate_runs(session, built_report.checked, record, parse_moved_runs(record, run_places))
    pairs = zip(current_runs, record.content.all_runs, strict=True)
    runs = {recorded_run.id: (run, recorded_run) for run, recorded_run in pairs}
    names = [_find_run_name(runs, source) for source in cell.sources]
    cell_runs = {name: runs[name] for name in names}
    _check_inputs(list(cell_runs.values()))
    return cell_runs


def _prints_single_value(cell: Cell, cell_subject: Subject) -> bool:
    """Return whether a cell prints one value unchanged: a statistic is one if it is of a series."""
    return cell.prints in SINGLE_VALUES or (cell.prints == STATISTIC and isinstance(cell_subject, SeriesSubject))


def _trace_judgement(
    rebuild: Rebuild, cell: Cell, item: Subject, runs: Mapping[str, tuple[NamedRun, RecordedRun]]
) -> TracedJudgement | None:
    """Trace the judgement behind an interval or a verdict; None for other cells."""
    if cell.prints not in (INTERVAL, VERDICT) or not isinstance(item, (MetricSubject, FormulaSubject)):
        return None
    runs_by_column = {source.run: runs[_find_run_name(runs, source)][0] for source in cell.sources}
    return trace_judgement(rebuild, cell, item.metric, runs_by_column)


def _describe_formula(document: Document, cell: Cell, item: Subject) -> str:
    """Return the formula of a cell in words; empty if the cell prints no formula."""
    if item.formula_text:
        return item.formula_text
    descriptions = (
        entry.description for entry in document.entries if entry.id == cell.entry and cell.prints == FORMULA
    )
    return " ".join(next(descriptions, "").split("\n"))


def _is_filtered(item: Subject, applied_filters: Sequence[AppliedFilter]) -> bool:
    """Return whether filters decide on the samples of a value."""
    if not isinstance(item, MetricSubject):
        return False
    if item.metric.accepted:
        return True
    return bool(
        find_deciding_grains(trace_subject(item, applied_filters, item.compile(applied_filters)).column_lineage)
    )


def list_provenance_warnings(folder: Path) -> tuple[str, ...]:
    """Return a warning if the provenance of a built report was edited."""
    if read_provenance(folder).is_intact:
        return ()
    return (f"{folder / NAME}: it was edited, as its hash does not match its content; run `assay verify`",)


def _find_run_name(runs: Mapping[str, Any], source: CellSource) -> str:
    """Return the name of the run of a value, which may belong to a phase of that run."""
    if source.run in runs:
        return source.run
    return max((name for name in runs if source.run.startswith(f"{name}:")), key=len)


def _read_build(session: Session, folder: Path) -> tuple[BuiltReport, Document]:
    record = read_provenance(folder)
    if isinstance(record, RecordedPublishedBuild):
        message = f"the report shows published values, which have no logs: {folder}"
        raise fail("not-traceable", message, hint="trace a report over runs")
    try:
        checked, report = session.find_report(record.content.report)
        checked, report = select_edition(checked, report, record.content.options.edition)
    except AssayError as error:
        raise AssayError(error.diagnostics, SPECS_OR_DATA) from None
    document, results = _read_text(folder / "document.json"), _read_text(folder / "results.json")
    try:
        results_data = json.loads(results)
        parsed_document = parse_document(document)
    except (AssayError, ValueError, RecursionError):
        results_data, parsed_document = None, None
    if report.over or parsed_document is None or not isinstance(results_data, dict) or _has_no_links(parsed_document):
        message = f"the document is not what a build writes: {folder / 'document.json'}"
        raise fail("no-build", message, hint="build the report again")
    checked = add_segments(checked, read_splits(results_data))
    return BuiltReport(folder, record, results_data, checked, report), parsed_document


def _has_no_links(document: Document) -> bool:
    """Return whether a document has tables but no links from their cells."""
    return any(table.rows and not table.printed for table in document.metric_tables) or (
        bool(document.manifest.rows) and not document.manifest.leads
    )


def _read_text(path: Path) -> str:
    """Read a file of a build. Raises AssayError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise fail("no-build", f"a file of the build cannot be read: {path}", found=str(error),
                   hint="name the folder that a report was built into (-o)") from None  # fmt: skip


def _check_definition(built_report: BuiltReport, item: Subject, *, is_cell_metric: bool) -> None:
    """Raise AssayError unless a metric is defined as it was when the report was built.

    A segment is defined by its metric, and by values in the results. Series have no hash. With `is_cell_metric`, the
    metric is that of the cell; others are inputs of its formula, which are part of its hash and may lack an entry of
    their own.
    """
    definitions = built_report.provenance.content.definitions
    name = get_whole(item.id)
    if not item.definition or (name not in definitions and not is_cell_metric):
        return
    recorded_hash, current = definitions.get(name, ""), item.checked.definitions[name]
    if recorded_hash != current:
        raise fail(
            "definition-changed",
            f"the definition of `{name}` has changed since the report was built",
            expected=f"definition {recorded_hash[:DIGITS] or 'none'}, as in {NAME}",
            found=f"definition {current[:DIGITS]}",
            hint="use the specs of the build, or build the report again",
        )


def _check_formulas(
    rebuild: Rebuild,
    subjects: Mapping[str, Subject],
    cell: Cell,
    runs: Mapping[str, tuple[NamedRun, RecordedRun]],
) -> None:
    """Raise AssayError unless the formulas of a cell have the values that the report was built from."""
    for source in cell.sources:
        item = subjects[source.entry]
        if source.where or not isinstance(item, FormulaSubject):
            continue
        run, _ = runs[_find_run_name(runs, source)]
        results = rebuild.compute(run, item.request, source.run).results
        check_value(
            rebuild.built_report,
            item.metric,
            source.run,
            results.formulas[item.id].averages[rebuild.built_report.summary],
            is_cell_metric=True,
        )


def _check_inputs(pairs: Sequence[tuple[NamedRun, RecordedRun]]) -> None:
    """Raise AssayError with every file of the runs that is missing or has changed."""
    raise_all(problem for run, recorded_run in pairs for problem in _iter_changed_inputs(run, recorded_run))


def _iter_changed_inputs(run: NamedRun, recorded_run: RecordedRun) -> Iterator[Diagnostic]:
    """Yield the problems of a run's missing or changed files."""
    hint = f"pass --run {run.id}=DIR if the run has moved"
    for item in recorded_run.inputs:
        try:
            _, _, digest = hash_input_file(run.directory, item.file)
        except OSError as error:
            cause = f"run {run.id}: {item.file} cannot be read: {run.directory / item.file}"
            yield Diagnostic("input-gone", cause, expected=f"sha256 {item.sha256[:DIGITS]}",
                             found=error.strerror or str(error), hint=hint)  # fmt: skip
            continue
        if digest != item.sha256:
            cause = f"run {run.id}: {item.file} has changed since the report was built: {run.directory / item.file}"
            yield Diagnostic("input-changed", cause, expected=f"sha256 {item.sha256[:DIGITS]}",
                             found=f"sha256 {digest[:DIGITS]}", hint=hint)  # fmt: skip
