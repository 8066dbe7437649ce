"""The values that a cell leads to, each traced in its run, or in a phase of it, to samples and raw records."""

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
from assay.lang.model.article import Article
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import AppliedFilter, rows_of
from assay.provenance.read import Recorded
from assay.report.blocks.averages import DIGITS, average, within
from assay.report.blocks.rows import text
from assay.report.cell_links import AVERAGE, DIFFERENCE, JUDGED, MEAN, PERCENT, ROW, SIZE, CellSource
from assay.report.results_json import distribution
from assay.styles.registry import style
from assay.util.diagnostics import fail

SHOWN = 3  # samples at either end
PRINTED = (AVERAGE, DIFFERENCE, PERCENT, SIZE, JUDGED)  # by what results.json tells of each metric
HINT = "`assay verify` says what changed"


@dataclass(frozen=True, slots=True)
class Built:
    """A built report read back: its folder, what it was made of, its results, its specs, the report."""

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
    """What a run or phase holds of a value: of which metric or series, its id and label, where it is, figures, the
    samples at both ends, the constants that these are made of; `row` says that the value is that of one row, which
    `greatest` is then."""

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
    """A value to trace: of what, under which filters, in which run, what the report calls this; the name of the cell,
    what it prints, and its text where that is this value alone."""

    item: Subject
    of: CellSource
    applied: Sequence[AppliedFilter]
    run: NamedRun
    label: str
    cell: str
    prints: str
    text: str = ""


def traced_value(session: Session, built: Built, asked: TraceRequest) -> TracedRun:
    """What a run holds of a value.  AssayError when it is not what the report was made of."""
    if _is_row(asked):
        return _row(session, built, asked)
    with _opened(session, built, asked, ()) as (traced, computed):
        figures = _figures(built, asked, computed) | {"size": traced.size()}
        ends = [traced.ranked(greatest, SHOWN) if figures["size"] else () for greatest in (True, False)]
        return _traced(asked, figures, traced.groups(asked.item.groups_by), traced.spread(), ends, traced.made)


def _is_row(asked: TraceRequest) -> bool:
    """Whether a value is that of one row."""
    if isinstance(asked.item, MetricSubject):
        return bool(asked.of.where) or asked.prints == ROW
    return isinstance(asked.item, ColumnSubject)


def _row(session: Session, built: Built, asked: TraceRequest) -> TracedRun:
    """What a run holds of a value that is measured on one row, or stands there."""
    item = asked.item
    fits = _fitting(built, item, asked.text) if asked.text else None
    with _opened(session, built, asked, tuple(name for name, _ in asked.of.where)) as (traced, _):
        found = traced.matching(dict(asked.of.where), fits)
        if found and fits and not fits(found[0].measured):
            message = f"run {asked.run.id} does not give the value of `{item.id}` that `{asked.cell}` prints"
            now = _printed(built, item, found[0].measured)
            raise fail("value-changed", message, expected=asked.text, found=now, hint=HINT)
        return _traced(asked, {"size": traced.size()}, (), None, [found, ()], traced.made)


def _traced(
    asked: TraceRequest,
    figures: dict[str, object],
    groups: tuple[Group, ...],
    spread: Spread | None,
    ends: Sequence[tuple[Sample, ...]],
    made: ConstantInputs,
) -> TracedRun:
    item, of = asked.item, asked.of
    greatest, least = ends
    return TracedRun(
        item,
        item.definition,
        of.run,
        asked.label,
        asked.run.place,
        _is_row(asked),
        figures,
        groups,
        spread,
        greatest,
        least,
        made,
    )


def _printed(built: Built, item: Subject, value: Any) -> str:
    """A value of a row as tables print it."""
    if isinstance(item, ColumnSubject):
        return item.format_value(value)
    assert isinstance(item, MetricSubject)
    return text(built.checked, style(built.found.content.options.style), item.metric, value)


def _fitting(built: Built, item: Subject, printed: str) -> Callable[[Any], bool]:
    """Whether what stands on a row is what a cell prints: as tables have it, or as texts quote it."""
    symbol = item.unit.symbol
    bare = printed.removesuffix(f" {symbol}") if symbol and isinstance(item, MetricSubject) else printed
    decimals = len(bare.partition(".")[2])
    look = style(built.found.content.options.style)

    def fits(value: Any) -> bool:
        if bare == _printed(built, item, value):
            return True
        return isinstance(item, MetricSubject) and bare == text(built.checked, look, item.metric, value, decimals)

    return fits


def _figures(built: Built, asked: TraceRequest, computed: RunResult) -> dict[str, object]:
    """The figures of a metric or series.  AssayError unless they are those that the report was made of."""
    item, of = asked.item, asked.of
    if isinstance(item, MetricSubject):
        own = distribution(computed.results.metrics[item.id], built.summary)
        same_value(built, item.metric, of.run, own["average"], own=item.id == of.entry and asked.prints in PRINTED)
        return own
    times = None if of.since is None or of.until is None else (of.since, of.until)
    mean = average(within(computed.results.rows[rows_of(item.id)], times))
    if asked.prints == MEAN and asked.text and mean is not None:
        now = style(built.found.content.options.style).table_row([mean], DIGITS).cells[0]
        if now != asked.text:
            message = f"run {asked.run.id} does not give the average of `{item.id}` that `{asked.cell}` prints"
            raise fail("value-changed", message, expected=asked.text, found=now, hint=HINT)
    return {"average": mean}


def same_value(built: Built, metric: Metric, run: str, now: object, *, own: bool = False) -> None:
    """AssayError unless a run or phase gives the average that the report was made of, where results.json tells it; it
    has to of the cell's `own` metric."""
    said = read_recorded_average(built.results, metric.id, run)
    if said is None and not own:
        return
    if said is None:
        raise fail("no-build", f"results.json has no value of `{metric.id}`: {built.folder}",
                   hint="build the report again") from None  # fmt: skip
    if said != [now]:
        raise fail(
            "value-changed",
            f"run {run} does not give the value of `{metric.id}` that the report was made of",
            expected=repr(said[0]),
            found=repr(now),
            hint=HINT,
        )


def read_recorded_average(results: Mapping[str, Any], metric: str, run: str) -> list[object] | None:
    """The average of a metric in a run or phase, as results.json tells it, as the only member of a list."""
    try:
        if metric in results.get("metrics", {}):
            told = results["metrics"][metric]
            return [told["runs" if "runs" in told else "columns"][run]["average"]]
        averages = results.get("averages", {}).get(run, {})
        return [averages[metric]] if metric in averages else None
    except (KeyError, TypeError, AttributeError):
        return None


def cut_of(built: Built, run: str) -> phases.PhaseSelection | None:
    """The phases that a report compares, with what the user said of one run's instants; None when it compares none."""
    options = built.found.content.options
    found = phases.select_phases(built.checked.package, built.report.phases, options.at, options.phases)
    if found is None:
        return None
    at = {key: time for key, time in found.times.at.items() if key[0] in ("", run)}
    return replace(found, times=replace(found.times, at=at), may_be_empty=True)  # the report was built with them


@contextmanager
def _opened(
    session: Session, built: Built, asked: TraceRequest, more: Sequence[str]
) -> Iterator[tuple[Tracing, RunResult]]:
    """The samples of a metric (with columns `more`) or the rows of a series, in a run or phase, and its results."""
    checked, item, of = built.checked, asked.item, asked.of
    cut = cut_of(built, asked.run.id) if of.run != asked.run.id else None
    compiled = item.compile(asked.applied, cut=cut is not None)
    found = compute(
        session,
        checked,
        [asked.run],
        item.metrics,
        asked.applied,
        item.relations,
        listed=item.listed,
        series=item.series,
        asked=cut,
    )
    computed = next(one for one in found.columns if one.id == of.run)
    prepared = computed.prepared
    if computed.phase:
        prepared = replace(prepared, constants={**prepared.constants, **computed.phase.parameters})
    query = item.sample_query(SampleRequest(compiled, tuple(more), of.since, of.until))
    with tracing(session, checked.package, prepared, compiled.statements, query, item.factor) as traced:
        yield traced, computed
