"""Trace each value behind a cell, in its run or phase, to samples and raw records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.app import phases
from assay.app.compute import RunResult, compute
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.app.subject import ColumnSubject, MetricSubject, SampleRequest, Subject
from assay.app.trace_runs import ConstantInputs, Group, Sample, Spread, Tracing, tracing
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter, rows_of
from assay.provenance.read import Recorded
from assay.report.blocks.averages import DIGITS, average, within
from assay.report.blocks.rows import text
from assay.report.cell_links import AVERAGE, DIFFERENCE, JUDGED, MEAN, PERCENT, ROW, SIZE, CellSource
from assay.report.results_json import distribution
from assay.styles.registry import style
from assay.util.diagnostics import fail

SHOWN = 3  # greatest and least samples
PRINTED = (AVERAGE, DIFFERENCE, PERCENT, SIZE, JUDGED)  # cells that print figures of results.json
HINT = "`assay verify` says what changed"


@dataclass(frozen=True, slots=True)
class Built:
    """A built report read back: its folder, provenance, results, specs and definition."""

    folder: Path
    found: Recorded
    results: Mapping[str, Any]
    checked: CheckedPackage
    report: Report | Article

    @property
    def summary(self) -> str:
        """The summary of the report's averages."""
        return self.found.content.options.summary or self.checked.package.summaries[0].name


@dataclass(frozen=True, slots=True)
class TracedRun:
    """The trace of one value in one run or phase.

    `figures` describe all samples; `greatest`, `least` and `made` are the samples at both ends and the constants behind
    them. For the value of a single row, `row` is set and `greatest` holds that row.
    """

    item: Subject
    definition: str
    id: str
    label: str
    place: str
    row: bool
    figures: dict[str, object]
    groups: tuple[Group, ...]
    spread: Spread | None
    greatest: tuple[Sample, ...]
    least: tuple[Sample, ...]
    made: ConstantInputs


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """A value to trace: its subject, source, filters and run, with the label of the run in the report.

    `cell` is the name of the cell, `prints` what it prints; `text` is its text if it prints this value alone.
    """

    item: Subject
    of: CellSource
    applied: Sequence[AppliedFilter]
    run: NamedRun
    label: str
    cell: str
    prints: str
    text: str = ""


def traced_value(session: Session, built: Built, request: TraceRequest) -> TracedRun:
    """Trace a value in its run.

    Raises AssayError if the value is not the one that the report was built from.
    """
    if _is_row(request):
        return _row(session, built, request)
    with _opened(session, built, request, ()) as (traced, computed):
        figures = _figures(built, request, computed) | {"size": traced.size()}
        ends = [traced.ranked(greatest, SHOWN) if figures["size"] else () for greatest in (True, False)]
        return _traced(request, figures, traced.groups(request.item.groups_by), traced.spread(), ends, traced.made)


def _is_row(request: TraceRequest) -> bool:
    """Return whether a value belongs to a single row."""
    if isinstance(request.item, MetricSubject):
        return bool(request.of.where) or request.prints == ROW
    return isinstance(request.item, ColumnSubject)


def _row(session: Session, built: Built, request: TraceRequest) -> TracedRun:
    """Trace a value that is measured on, or stored in, a single row."""
    item = request.item
    fits = _fitting(built, item, request.text) if request.text else None
    with _opened(session, built, request, tuple(name for name, _ in request.of.where)) as (traced, _):
        samples = traced.matching(dict(request.of.where), fits)
        if samples and fits and not fits(samples[0].measured):
            message = f"run {request.run.id} does not give the value of `{item.id}` that `{request.cell}` prints"
            printed = _printed(built, item, samples[0].measured)
            raise fail("value-changed", message, expected=request.text, found=printed, hint=HINT)
        return _traced(request, {"size": traced.size()}, (), None, [samples, ()], traced.made)


def _traced(
    request: TraceRequest,
    figures: dict[str, object],
    groups: tuple[Group, ...],
    spread: Spread | None,
    ends: Sequence[tuple[Sample, ...]],
    inputs: ConstantInputs,
) -> TracedRun:
    item, source = request.item, request.of
    greatest, least = ends
    return TracedRun(
        item,
        item.definition,
        source.run,
        request.label,
        request.run.place,
        _is_row(request),
        figures,
        groups,
        spread,
        greatest,
        least,
        inputs,
    )


def _printed(built: Built, item: Subject, value: Any) -> str:
    """Format a value of a row as tables print it."""
    if isinstance(item, ColumnSubject):
        return item.format_value(value)
    assert isinstance(item, MetricSubject)
    return text(built.checked, style(built.found.content.options.style), item.metric, value)


def _fitting(built: Built, item: Subject, printed: str) -> Callable[[Any], bool]:
    """Return a predicate: whether a value of a row is what a cell prints, as tables format it or as texts quote it."""
    symbol = item.unit.symbol
    bare = printed.removesuffix(f" {symbol}") if symbol and isinstance(item, MetricSubject) else printed
    decimals = len(bare.partition(".")[2])
    number_style = style(built.found.content.options.style)

    def fits(value: Any) -> bool:
        if bare == _printed(built, item, value):
            return True
        return isinstance(item, MetricSubject) and bare == text(
            built.checked, number_style, item.metric, value, decimals
        )

    return fits


def _figures(built: Built, request: TraceRequest, computed: RunResult) -> dict[str, object]:
    """Return the figures of a metric or series.

    Raises AssayError unless they are those that the report was built from.
    """
    item, source = request.item, request.of
    if isinstance(item, MetricSubject):
        figures = distribution(computed.results.metrics[item.id], built.summary)
        same_value(
            built,
            item.metric,
            source.run,
            figures["average"],
            own=item.id == source.entry and request.prints in PRINTED,
        )
        return figures
    times = None if source.since is None or source.until is None else (source.since, source.until)
    mean = average(within(computed.results.rows[rows_of(item.id)], times))
    if request.prints == MEAN and request.text and mean is not None:
        printed = style(built.found.content.options.style).table_row([mean], DIGITS).cells[0]
        if printed != request.text:
            message = f"run {request.run.id} does not give the average of `{item.id}` that `{request.cell}` prints"
            raise fail("value-changed", message, expected=request.text, found=printed, hint=HINT)
    return {"average": mean}


def same_value(built: Built, metric: Metric, run: str, now: object, *, own: bool = False) -> None:
    """Raise AssayError unless a run or phase has the average that results.json records.

    The average may be missing from results.json, except for the cell's `own` metric.
    """
    recorded_average = read_recorded_average(built.results, metric.id, run)
    if recorded_average is None and not own:
        return
    if recorded_average is None:
        raise fail("no-build", f"results.json has no value of `{metric.id}`: {built.folder}",
                   hint="build the report again") from None  # fmt: skip
    if recorded_average != [now]:
        raise fail(
            "value-changed",
            f"run {run} does not give the value of `{metric.id}` that the report was made of",
            expected=repr(recorded_average[0]),
            found=repr(now),
            hint=HINT,
        )


def read_recorded_average(results: Mapping[str, Any], metric: str, run: str) -> list[object] | None:
    """Return the average of a metric in a run or phase from results.json as a one-element list, or None."""
    try:
        if metric in results.get("metrics", {}):
            metric_results = results["metrics"][metric]
            return [metric_results["runs" if "runs" in metric_results else "columns"][run]["average"]]
        averages = results.get("averages", {}).get(run, {})
        return [averages[metric]] if metric in averages else None
    except (KeyError, TypeError, AttributeError):
        return None


def cut_of(built: Built, run: str) -> phases.PhaseSelection | None:
    """Return the phases that a report compares, with the times set for one run; None if it compares no phases."""
    options = built.found.content.options
    selection = phases.select_phases(built.checked.package, built.report.phases, options.at, options.phases)
    if selection is None:
        return None
    at = {key: time for key, time in selection.times.at.items() if key[0] in ("", run)}
    # The report was built with these phases, so they may be empty.
    return replace(selection, times=replace(selection.times, at=at), may_be_empty=True)


@contextmanager
def _opened(
    session: Session, built: Built, request: TraceRequest, more: Sequence[str]
) -> Iterator[tuple[Tracing, RunResult]]:
    """Yield the samples of a metric, or the rows of a series, in a run or phase, and the run's results.

    `more` are further columns to select.
    """
    checked, item, source = built.checked, request.item, request.of
    selection = cut_of(built, request.run.id) if source.run != request.run.id else None
    compiled = item.compile(request.applied, cut=selection is not None)
    computation = compute(
        session,
        checked,
        [request.run],
        item.metrics,
        request.applied,
        item.relations,
        listed=item.listed,
        series=item.series,
        asked=selection,
    )
    computed = next(result for result in computation.columns if result.id == source.run)
    prepared = computed.prepared
    if computed.phase:
        prepared = replace(prepared, constants={**prepared.constants, **computed.phase.parameters})
    query = item.sample_query(SampleRequest(compiled, tuple(more), source.since, source.until))
    with tracing(session, checked.package, prepared, compiled.statements, query, item.factor) as traced:
        yield traced, computed
