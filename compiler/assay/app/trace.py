"""`assay trace`: from a cell of a report back to its samples and raw records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.app import filters
from assay.app.compute import compute
from assay.app.lineage import trace_subject
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.app.subject import FormulaSubject, MetricSubject, Subject, list_cell_subjects
from assay.app.trace_values import Built, TracedRun, TraceRequest, cut_of, same_value, traced_value
from assay.app.verify import moved_runs, runs_now
from assay.explain.facts import judged as judged_by
from assay.lang.model.report import History
from assay.lineage import cells
from assay.lineage.cells import Cell
from assay.plan.planner import AppliedFilter
from assay.provenance.read import NAME, RecordedPublished, RecordedRun, recorded
from assay.provenance.record import file_of
from assay.report.cell_links import (
    AVERAGE,
    COLUMN,
    DIFFERENCE,
    FACT,
    FILTER,
    FORMULA,
    JUDGED,
    MEAN,
    OUTCOME,
    PERCENT,
    ROW,
    WORDS,
    CellSource,
)
from assay.report.document import Document, from_json
from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, fail, raise_all

LIST = "--list lists the cells"


def nowhere(built: Built, document: Document, cell: Cell) -> AssayError:
    """Why a cell cannot be traced to records, and what to ask for instead."""
    name, entry = f"`{cell.name}`", cell.of[0].entry if cell.of else ""
    notes = tuple(" ".join(item.description.split("\n")) for item in document.entries if entry and item.id == entry)
    if cell.prints == OUTCOME:
        tables = " and ".join(f"`{title}`" for title in cell.decided_by)
        if not tables:
            return _fail(f"{name} judges nothing: {cell.text}", cell, LIST)
        return _fail(f"{name} comes of the cells of {tables}", cell, "trace these: their results and values")
    if cell.prints == WORDS:
        known = [item.name for item in built.checked.package.series if item.name == entry]
        hint = f"`assay explain {known[0]}` tells what it is read of" if known else "trace the values beside it"
        return _fail(f"{name} is words of the specs, not a value of a run", cell, hint)
    if cell.prints == FILTER:
        message = f"{name} is a number of rows that a filter was asked about, not a metric"
        return _fail(message, cell, "`assay explain METRIC` tells what each filter demands of its rows", notes)
    if not cell.of:
        return _fail(f"{name} prints no value: the run has no such row", cell, LIST)
    content = built.found.content
    run = next((item for item in content.runs if item.id == cell.of[0].run), content.runs[0])
    files = ", ".join(item.file for item in run.documents) or "its logs"
    message, found = f"{name} is a fact of run {run.id}, not a metric", f"{cell.text}, from {files}"
    return fail("not-a-metric", message, found=found, hint=LIST, notes=notes, status=USAGE)


def _fail(message: str, cell: Cell, hint: str, notes: tuple[str, ...] = ()) -> AssayError:
    return fail("not-traceable", message, found=cell.text, hint=hint, notes=notes, status=USAGE)


DIGITS = 12
ALONE = (AVERAGE, ROW, COLUMN, MEAN)  # what a cell prints of one value as it is


@dataclass(frozen=True, slots=True)
class Traced:
    """A cell that was traced: to its metric or series (`item`; the first of several), and what runs hold of all that
    it is made of; `means` is what is worked out of these."""

    cell: Cell
    report: str
    item: Subject
    definition: str
    summary: str
    style: str
    filters: tuple[str, ...]
    filtered: bool
    runs: tuple[TracedRun, ...]
    means: str = ""


def cells_of(session: Session, folder: Path) -> tuple[Cell, ...]:
    """The cells of a built report.  Raises AssayError when the folder holds none."""
    built, document = _built(session, folder)
    return tuple(cells.of_document(document, built.checked.package))


def trace(session: Session, folder: Path, name: str, moved: Sequence[str] = ()) -> Traced:
    """Trace a cell, `SECTION/ROW/COLUMN` as printed, of a built report back to raw records.

    `moved` says where runs are now (`NAME=DIR`).  Raises AssayError: usage for an unknown cell and for one that leads
    to no records, and when the report's runs, definitions or inputs are not what they were, with names and hashes.
    """
    built, document = _built(session, folder)
    checked, content = built.checked, built.found.content
    cell = cells.find(tuple(cells.of_document(document, checked.package)), name)
    known = list_cell_subjects(checked, built.report)
    if not cell.of or cell.prints in (FACT, FILTER, WORDS) or any(of.entry not in known for of in cell.of):
        raise nowhere(built, document, cell)
    of_cell = known[cell.of[0].entry]
    values = [(item, of) for of in cell.of for item in known[of.entry].inputs]
    for item in dict.fromkeys((of_cell, *(item for item, _ in values))):
        _same_definition(built, item, own=item == of_cell)
    now = runs_now(session, checked, built.found, moved_runs(built.found, moved))
    runs = {said.id: (run, said) for run, said in zip(now, content.runs, strict=True)}
    own = {_run_of(runs, of): runs[_run_of(runs, of)] for of in cell.of}
    _same_inputs(list(own.values()))
    applied = filters.applied(checked.package, None, content.options.filters, not content.options.filters)
    if cell.prints in (AVERAGE, DIFFERENCE, PERCENT, JUDGED):
        _same_formulas(session, built, known, cell, applied, own)
    alone = cell.prints in ALONE and of_cell == values[0][0]
    found = []
    for item, of in dict.fromkeys(values):
        run, said = own[_run_of(runs, of)]
        label = said.label if of.run == run.id else f"{said.label} ({of.run.removeprefix(f'{run.id}:')})"
        asked = TraceRequest(item, of, applied, run, label, cell.name, cell.prints, cell.text if alone else "")
        found.append(traced_value(session, built, asked))
    return Traced(
        cell,
        content.report,
        of_cell,
        of_cell.definition,
        built.summary,
        content.options.style,
        tuple(item.label for item in applied),
        _filtered(of_cell, applied),
        tuple(found),
        _means(document, cell, of_cell),
    )


def _means(document: Document, cell: Cell, item: Subject) -> str:
    """The formula of a cell in words, where it prints what one comes to."""
    if item.formula_text:
        return item.formula_text
    told = (entry.description for entry in document.entries if entry.id == cell.entry and cell.prints == FORMULA)
    return " ".join(next(told, "").split("\n"))


def _filtered(item: Subject, applied: Sequence[AppliedFilter]) -> bool:
    """Whether filters decide on a value."""
    if not isinstance(item, MetricSubject):
        return False
    return item.metric.accepted or bool(judged_by(trace_subject(item, applied, item.compile(applied)).found))


def distrusted(folder: Path) -> tuple[str, ...]:
    """What those must know who believe the files of a built report; `assay verify` tells all that differs."""
    if recorded(folder).intact:
        return ()
    return (f"{folder / NAME}: its hash is not that of its content, so that it was changed: `assay verify` it",)


def _run_of(runs: Mapping[str, Any], of: CellSource) -> str:
    """The run of a value, which may be of a phase of it."""
    if of.run in runs:
        return of.run
    return max((name for name in runs if of.run.startswith(f"{name}:")), key=len)


def _built(session: Session, folder: Path) -> tuple[Built, Document]:
    found = recorded(folder)
    if isinstance(found, RecordedPublished):
        message = f"the report is made of published values, which no logs are behind: {folder}"
        raise fail("not-traceable", message, hint="trace a report that was built over runs")
    try:
        checked, report = session.find_report(found.content.report)
    except AssayError as error:
        raise AssayError(error.diagnostics, SPECS_OR_DATA) from None
    document, results = _text(folder / "document.json"), _text(folder / "results.json")
    try:
        plain = json.loads(results)
        made = from_json(document)
    except (AssayError, ValueError, RecursionError):
        plain, made = None, None
    if isinstance(report, History) or made is None or not isinstance(plain, dict) or _leads_nowhere(made):
        message = f"the document is not what a build writes: {folder / 'document.json'}"
        raise fail("no-build", message, hint="build the report again")
    return Built(folder, found, plain, checked, report), made


def _leads_nowhere(document: Document) -> bool:
    """Whether a document has tables, and none of them says where its cells lead."""
    return any(section.rows and not section.printed for section in document.sections) or (
        bool(document.manifest.rows) and not document.manifest.leads
    )


def _text(place: Path) -> str:
    """A file of a build.  AssayError when it cannot be read."""
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise fail("no-build", f"a file of the build cannot be read: {place}", found=str(error),
                   hint="name the folder that a report was built into (-o)") from None  # fmt: skip


def _same_definition(built: Built, item: Subject, *, own: bool) -> None:
    """AssayError unless a metric is defined as it was when the report was built; series have no hash of their own, and
    what a formula is over is in the hash of the cell's `own` metric."""
    definitions = built.found.content.definitions
    if not item.definition or (item.id not in definitions and not own):
        return
    said, now = definitions.get(item.id, ""), item.definition
    if said != now:
        raise fail(
            "definition-changed",
            f"`{item.id}` was defined in another way when the report was built",
            expected=f"definition {said[:DIGITS] or 'none'}, as {NAME} has it",
            found=f"definition {now[:DIGITS]}",
            hint="trace it with the specs that it was built with, or build the report again",
        )


def _same_formulas(
    session: Session,
    built: Built,
    known: Mapping[str, Subject],
    cell: Cell,
    applied: Sequence[AppliedFilter],
    runs: Mapping[str, tuple[NamedRun, RecordedRun]],
) -> None:
    """AssayError unless the formulas of a cell come to what the report was made of."""
    for of in cell.of:
        item = known[of.entry]
        if of.where or not isinstance(item, FormulaSubject):
            continue
        name = _run_of(runs, of)
        cut = cut_of(built, name) if of.run != name else None
        found = compute(session, built.checked, [runs[name][0]], item.metrics, applied, asked=cut)
        computed = next(one for one in found.columns if one.id == of.run)
        same_value(built, item.metric, of.run, computed.results.formulas[item.id].averages[built.summary], own=True)


def _same_inputs(pairs: Sequence[tuple[NamedRun, RecordedRun]]) -> None:
    """AssayError with every file of the runs that is gone or is not what it was."""
    raise_all(problem for run, said in pairs for problem in _changed(run, said))


def _changed(run: NamedRun, said: RecordedRun) -> Iterator[Diagnostic]:
    hint = f"--run {run.id}=DIR says where the run is now, if it moved"
    for item in said.inputs:
        try:
            _, _, digest = file_of(run.directory, item.file)
        except OSError as error:
            cause = f"run {run.id}: {item.file} cannot be read: {run.directory / item.file}"
            yield Diagnostic("input-gone", cause, expected=f"sha256 {item.sha256[:DIGITS]}",
                             found=error.strerror or str(error), hint=hint)  # fmt: skip
            continue
        if digest != item.sha256:
            cause = f"run {run.id}: {item.file} is not what the report was built of: {run.directory / item.file}"
            yield Diagnostic("input-changed", cause, expected=f"sha256 {item.sha256[:DIGITS]}",
                             found=f"sha256 {digest[:DIGITS]}", hint=hint)  # fmt: skip
