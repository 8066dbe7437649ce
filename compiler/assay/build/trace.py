"""`assay trace`: from a cell of a built report back to its metric, the samples behind it, and their raw records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from assay.audit import cells, sample_query
from assay.audit.cells import Cell
from assay.audit.facts import judged as judged_by
from assay.audit.provenance import file_of
from assay.audit.recorded import NAME, Content, Recorded, RecordedPublished, RecordedRun, recorded
from assay.build import filters
from assay.build.compute import compiled, compute
from assay.build.explain_names import Item
from assay.build.lineage import of_item, planned
from assay.build.runs import NamedRun
from assay.build.session import Session
from assay.build.trace_rows import json_of, judged, main
from assay.build.trace_run import Group, Sample, Spread, Tracing, tracing
from assay.build.verify import moved_runs, runs_now
from assay.compare.style import style
from assay.plan.steps import Applied
from assay.report.article_rows import text
from assay.report.results_json import distribution
from assay.spec import formula
from assay.spec.article_model import Article
from assay.spec.diagnostics import SPECS_OR_DATA, USAGE, AssayError, Diagnostic, fail, raise_all
from assay.spec.model import Metric
from assay.spec.normal_form import Checked
from assay.spec.report_model import History, Report
from assay.sql.expressions import places

SHOWN = 3  # samples at either end
DIGITS = 12


@dataclass(frozen=True, slots=True)
class TracedRun:
    """What a run holds of a cell: its id and label, where it is, the figures of the metric, the samples at both ends.

    Of a cell that prints one row's value, `greatest` is that row alone.
    """

    id: str
    label: str
    place: str
    figures: dict[str, object]
    groups: tuple[Group, ...]
    spread: Spread | None
    greatest: tuple[Sample, ...]
    least: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Traced:
    """A cell that was traced: to its metric, by its definition, and to its runs."""

    cell: Cell
    report: str
    metric: Metric
    definition: str
    summary: str
    style: str
    filters: tuple[str, ...]
    filtered: bool
    runs: tuple[TracedRun, ...]


@dataclass(frozen=True, slots=True)
class _Built:
    """A built report read back: its folder, what it was made of, its specs, the report, its cells."""

    folder: Path
    found: Recorded
    checked: Checked
    report: Report | Article | History
    cells: tuple[Cell, ...]


def cells_of(session: Session, folder: Path) -> tuple[Cell, ...]:
    """The cells of a built report.  Raises AssayError when the folder holds none."""
    return _built(session, folder).cells


def trace(session: Session, folder: Path, name: str, moved: Sequence[str] = ()) -> Traced:
    """Trace a cell, `SECTION/ROW/COLUMN` as printed, of a built report back to raw records.

    `moved` says where runs are now (`NAME=DIR`).  Raises AssayError: usage for an unknown cell, and when the report's
    runs, definitions or inputs are not what they were, with names and hashes.
    """
    built = _built(session, folder)
    cell = cells.find(built.cells, name)
    content = built.found.content
    if not cell.metric:
        raise _fact(cell, content)
    metric = built.checked.metric(cell.metric)
    if formula.is_formula(metric):
        over = ", ".join(f"`{item}`" for item in formula.over(metric.measure))
        raise fail("not-traceable", f"`{cell.name}` is a formula, which has no samples of its own",
                   found=f"over {over}",
                   hint="trace the cells of these, or `assay explain` it with --run", status=USAGE)  # fmt: skip
    _same_definition(built, metric)
    places_now = runs_now(session, built.checked, built.found, moved_runs(built.found, moved))
    pairs = [(places_now[place], content.runs[place]) for place in cell.runs]
    _same_inputs(pairs)
    applied = filters.applied(built.checked.package, None, content.options.filters, not content.options.filters)
    runs = tuple(_run(session, built, cell, metric, applied, run, said) for run, said in pairs)
    labels = tuple(item.label for item in applied)
    definition = built.checked.definitions[metric.id]
    chosen = content.options
    filtered = metric.accepted or bool(judged_by(of_item(built.checked, metric, applied).found))
    return Traced(
        cell, content.report, metric, definition, chosen.summary, chosen.style, labels, filtered, runs
    )  # fmt: skip


def distrusted(folder: Path) -> tuple[str, ...]:
    """What those must know who believe the files of a built report; `assay verify` tells all that differs."""
    if recorded(folder).intact:
        return ()
    return (f"{folder / NAME}: its hash is not that of its content, so that it was changed: `assay verify` it",)


def _built(session: Session, folder: Path) -> _Built:
    found = recorded(folder)
    if isinstance(found, RecordedPublished):
        message = f"the report is made of published values, which no logs are behind: {folder}"
        raise fail("not-traceable", message, hint="trace a report that was built over runs")
    if found.content.phases:
        message = f"the report compares phases of runs, and cells of phases are not traced: {folder}"
        raise fail("not-traceable", message, hint="`assay explain` tells the samples of a metric in a whole run")
    try:
        checked, report = session.shown(found.content.report)
    except AssayError as error:
        raise AssayError(error.diagnostics, SPECS_OR_DATA) from None
    document = json_of(folder / "document.json")
    ids = [run.id for run in found.content.runs]
    try:
        own = (
            cells.of_article(document, report, ids, _labels(folder, report, found.content))
            if isinstance(report, Article)
            else cells.of_report(document, checked.package, ids)
        )
        return _Built(folder, found, checked, report, tuple(own))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        message = f"the document is not what a build writes: {folder / 'document.json'}"
        raise fail("no-build", message, hint="build the report again") from None


def _labels(folder: Path, article: Article, content: Content) -> dict[int, str]:
    """What an article calls the runs that its tables are about, by their places."""
    shown = main(article, json_of(folder / "sql" / "constants.json"), [run.id for run in content.runs])
    return {place: run.label for place, run in enumerate(content.runs) if run.id in shown}


def _fact(cell: Cell, content: Content) -> AssayError:
    """A cell of the table of runs is no metric: it comes from the documents of the run."""
    run = content.runs[cell.runs[0]]
    files = ", ".join(item.file for item in run.documents) or "its logs"
    return fail("not-a-metric", f"`{cell.name}` is a fact of run {run.id}, not a metric",
                found=f"{cell.text}, from {files}", hint="--list lists the cells", status=USAGE)  # fmt: skip


def _same_definition(built: _Built, metric: Metric) -> None:
    """AssayError unless the metric is defined as it was when the report was built."""
    said, now = built.found.content.definitions.get(metric.id, ""), built.checked.definitions[metric.id]
    if said != now:
        raise fail(
            "definition-changed",
            f"`{metric.id}` was defined in another way when the report was built",
            expected=f"definition {said[:DIGITS] or 'none'}, as {NAME} has it",
            found=f"definition {now[:DIGITS]}",
            hint="trace it with the specs that it was built with, or build the report again",
        )


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


def _run(
    session: Session,
    built: _Built,
    cell: Cell,
    metric: Metric,
    applied: Sequence[Applied],
    run: NamedRun,
    said: RecordedRun,
) -> TracedRun:
    """What a run holds of a cell."""
    checked = built.checked
    if cell.prints == cells.ROW:
        where = _where(built, cell, run)
        more = (*(where or cell.where), *([cell.first] if cell.first else []))
        with _tracing(session, checked, metric, applied, run, more) as (traced, _):
            found = traced.matching(where, cell.first) if where is not None else ()
            _same_text(built, cell, metric, run, found)
            return TracedRun(run.id, said.label, run.place, {"size": traced.size()}, (), None, found, ())
    with _tracing(session, checked, metric, applied, run, ()) as (traced, figures):
        own = figures(built.found.content.options.summary)
        _same_value(built, metric, run, own)
        return TracedRun(
            run.id, said.label, run.place, own, traced.groups(metric.per), traced.spread(),
            traced.ranked(True, SHOWN), traced.ranked(False, SHOWN),
        )  # fmt: skip


def _where(built: _Built, cell: Cell, run: NamedRun) -> Mapping[str, str] | None:
    """The columns (as texts) of the row that a cell prints of a run; None where it has no such row."""
    if cell.verdict is None:
        return cell.where
    assert isinstance(built.report, Article)
    look = built.found.content.options.style
    return judged(built.checked, built.report, look, built.folder, cell.verdict, cell.where, run.id)


@contextmanager
def _tracing(
    session: Session, checked: Checked, item: Item, applied: Sequence[Applied], run: NamedRun, more: Sequence[str]
) -> Iterator[tuple[Tracing, Any]]:
    """The samples of a metric in a run, with further columns, and what tells its figures by a summary."""
    assert isinstance(item, Metric)
    computed = compute(session, checked, [run], [item], applied).runs[0]
    grain = next(one for one in checked.package.grains if one.name == item.grain)
    names = [one.name for source in checked.package.sources for one in source.constants]
    asked = sample_query.of_metric(item, grain, checked.measured[item.id].integral, places(names), tuple(more))
    statements = compiled(checked, planned(checked, item, applied))
    factor = Fraction(checked.measured[item.id].factor)
    with tracing(session, checked.package, computed.prepared, statements, asked, factor) as traced:
        yield traced, lambda summary: distribution(computed.results.metrics[item.id], summary)


def _same_value(built: _Built, metric: Metric, run: NamedRun, figures: dict[str, object]) -> None:
    """AssayError unless the run gives the average that the report was made of."""
    try:
        said = json_of(built.folder / "results.json")["metrics"][metric.id]["runs"][run.id]["average"]
    except (KeyError, TypeError):
        raise fail("no-build", f"results.json has no value of `{metric.id}`: {built.folder}",
                   hint="build the report again") from None  # fmt: skip
    if said != figures["average"]:
        raise fail(
            "value-changed",
            f"run {run.id} does not give the value of `{metric.id}` that the report was made of",
            expected=repr(said),
            found=repr(figures["average"]),
            hint="`assay verify` says what changed",
        )


def _same_text(built: _Built, cell: Cell, metric: Metric, run: NamedRun, found: Sequence[Sample]) -> None:
    """AssayError unless the row that was found is what the cell prints, where it prints the value of one."""
    if len(cell.runs) > 1 or not found:
        return
    look = style(built.found.content.options.style)
    now = text(built.checked, look, metric, found[0].measured)
    if now != cell.text:
        raise fail(
            "value-changed",
            f"run {run.id} does not give the value of `{metric.id}` that `{cell.name}` prints",
            expected=cell.text,
            found=now,
            hint="`assay verify` says what changed",
        )
