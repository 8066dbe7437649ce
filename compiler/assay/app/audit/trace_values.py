"""Trace each value behind a cell, in its run or phase, to samples and raw records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.app.audit.trace_runs import ConstantInputs, Group, RunSamples, Sample, Spread, TracedQuery, open_run_samples
from assay.app.compute.computation import RunResult
from assay.app.compute.compute import compute
from assay.app.compute.subject import ColumnSubject, MetricSubject, SampleRequest, SeriesSubject, Subject
from assay.app.session import phases
from assay.app.session.session import Session
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.number_styles.exact_decimal import MOST_DECIMALS
from assay.number_styles.registry import Style, get_style
from assay.number_styles.unit_prefix import list_prefixed_units
from assay.plan.planner import AppliedFilter
from assay.plan.request import name_rows_statement
from assay.provenance.read import RecordedBuild
from assay.report.blocks.averages import list_mean_texts
from assay.report.blocks.rows import Row, compute_value, format_metric_value
from assay.report.cell_links import (
    AVERAGE,
    DIFFERENCE,
    INTERVAL,
    JUDGED,
    MEAN,
    PERCENT,
    REPEATS,
    ROW,
    SIZE,
    STATISTIC,
    VERDICT,
    CellSource,
)
from assay.report.percentiles import find_percentile, read_statistic
from assay.report.results_json import build_distribution_data
from assay.report.run_results import format_metric_row
from assay.report.series_statistic import (
    compute_mean_over_time,
    format_statistic,
    parse_statistic,
    select_lines,
    select_rows_within,
)
from assay.runs.model import NamedRun
from assay.util.diagnostics import fail

SHOWN = 3  # greatest and least samples
#: kinds of cells that print figures of results.json
PRINTED = (AVERAGE, DIFFERENCE, PERCENT, SIZE, JUDGED, INTERVAL, VERDICT, STATISTIC)
HINT = "run `assay verify` to see what changed"


@dataclass(frozen=True, slots=True)
class BuiltReport:
    """A built report: its folder, provenance, results, specs and definition."""

    folder: Path
    provenance: RecordedBuild
    results: Mapping[str, Any]
    checked: CheckedPackage
    report: Report

    @property
    def summary(self) -> str:
        """The summary of the report's averages."""
        return self.provenance.content.options.summary or self.checked.package.summaries[0].name


@dataclass(frozen=True, slots=True)
class TracedRun:
    """The trace of one value in one run or phase.

    `figures` describe all samples; `greatest`, `least` and `constant_inputs` are the samples at both ends and the
    constants behind them. For the value of a single row, `is_row` is set and `greatest` holds that row. `statistic` is
    the traced statistic (empty: the average), `equal` are the first samples that equal it.
    """

    item: Subject
    definition: str
    id: str
    label: str
    place: str
    is_row: bool
    figures: dict[str, object]
    groups: tuple[Group, ...]
    spread: Spread | None
    greatest: tuple[Sample, ...]
    least: tuple[Sample, ...]
    constant_inputs: ConstantInputs
    statistic: str = ""
    equal: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """A value to trace: its subject, source, filters and run, with the label of the run in the report.

    `cell` is the name of the cell, `prints` what it prints; `text` is its text if it prints this value alone,
    in `unit`.
    """

    item: Subject
    source: CellSource
    applied_filters: Sequence[AppliedFilter]
    run: NamedRun
    label: str
    cell: str
    prints: str
    text: str = ""
    unit: str = ""


def trace_value(session: Session, built_report: BuiltReport, request: TraceRequest) -> TracedRun:
    """Trace a value in its run.

    Raises AssayError if the value is not the one that the report was built from.
    """
    if _is_row(request):
        return _trace_row(session, built_report, request)
    with _open_run_samples(session, built_report, request, ()) as (run_samples, run_result):
        figures = _compute_figures(built_report, request, run_result) | {"size": run_samples.count_samples()}
        ends = [run_samples.list_ranked(greatest, SHOWN) if figures["size"] else () for greatest in (True, False)]
        traced_run = replace(
            _create_traced_run(request, figures, ends, run_samples.constant_inputs),
            groups=run_samples.list_groups(request.item.groups_by),
            spread=run_samples.compute_spread(),
        )
        return (
            replace(traced_run, equal=_list_equal(run_samples, run_result, request)) if figures["size"] else traced_run
        )


def _list_equal(run_samples: RunSamples, run_result: RunResult, request: TraceRequest) -> tuple[Sample, ...]:
    """Return the first samples that equal a percentile; none for other statistics."""
    metric = run_result.results.metrics.get(request.item.id)  # None for series, which have no percentiles
    value = find_percentile(metric, request.source.statistic) if metric else None
    return () if value is None else run_samples.list_ranked(False, SHOWN, equal_to=value)


def _is_row(request: TraceRequest) -> bool:
    """Return whether a value belongs to a single row."""
    if isinstance(request.item, MetricSubject):
        return bool(request.source.where) or request.prints == ROW
    return isinstance(request.item, ColumnSubject)


def _trace_row(session: Session, built_report: BuiltReport, request: TraceRequest) -> TracedRun:
    """Trace a value that is measured on, or stored in, a single row."""
    item = request.item
    is_printed = _create_value_predicate(built_report, item, request.text) if request.text else None
    with _open_run_samples(session, built_report, request, tuple(name for name, _ in request.source.where)) as (
        run_samples,
        _,
    ):
        limit = SHOWN if request.prints == REPEATS else 1
        samples = run_samples.find_matching(dict(request.source.where), is_printed, limit)
        if samples and is_printed and not is_printed(samples[0].measured_value):
            message = f"run {request.run.id} yields another value of `{item.id}` than `{request.cell}` prints"
            printed_text = _format_value(built_report, item, samples[0].measured_value)
            raise fail("value-changed", message, expected=request.text, found=printed_text, hint=HINT)
        return _create_traced_run(
            request, {"size": run_samples.count_samples()}, [samples, ()], run_samples.constant_inputs
        )


def _create_traced_run(
    request: TraceRequest,
    figures: dict[str, object],
    ends: Sequence[tuple[Sample, ...]],
    inputs: ConstantInputs,
) -> TracedRun:
    """Return a traced run with its figures and its greatest and least samples, without groups and spread."""
    item, source = request.item, request.source
    greatest, least = ends
    return TracedRun(
        item,
        item.definition,
        source.run,
        request.label,
        request.run.place,
        _is_row(request),
        figures,
        (),
        None,
        greatest,
        least,
        inputs,
        source.statistic,
    )


def _format_value(built_report: BuiltReport, item: Subject, value: Any) -> str:
    """Format a value of a row as tables print it."""
    if isinstance(item, ColumnSubject):
        return item.format_value(value, built_report.provenance.content.options.style)
    assert isinstance(item, MetricSubject)
    return format_metric_value(
        built_report.checked, get_style(built_report.provenance.content.options.style), item.metric, value
    )


def _create_value_predicate(built_report: BuiltReport, item: Subject, printed_text: str) -> Callable[[Any], bool]:
    """Return a predicate that tests whether a cell prints a value of a row, as formatted by tables or in texts."""
    symbol = item.unit.symbol
    number_text = (
        printed_text.removesuffix(f" {symbol}") if symbol and isinstance(item, MetricSubject) else printed_text
    )
    decimals = len(number_text.partition(".")[2])
    number_style = get_style(built_report.provenance.content.options.style)

    def is_printed(value: Any) -> bool:
        if number_text == _format_value(built_report, item, value):
            return True
        return isinstance(item, MetricSubject) and number_text in (
            format_metric_value(built_report.checked, number_style, item.metric, value, decimals),
            *_format_in_prefixed_units(built_report.checked, number_style, item.metric, value),
        )

    return is_printed


def _format_in_prefixed_units(
    checked: CheckedPackage, number_style: Style, metric: Metric, value: Any
) -> Iterator[str]:
    """Yield a value in each unit in which a column of the number style may be."""
    number = compute_value(checked, metric, value)
    if number is not None and number_style.has_unit_prefixes:
        for factor, _ in list_prefixed_units(metric.unit.symbol):
            scaled_number = number * factor.numerator / factor.denominator
            yield number_style.format_table_row([scaled_number], metric.width).cells[0]
        yield format_metric_row(number_style, metric, [number]).cells[0]


def _compute_figures(built_report: BuiltReport, request: TraceRequest, run_result: RunResult) -> dict[str, object]:
    """Return the figures of a metric or series.

    Raises AssayError unless they are those that the report was built from.
    """
    item, source = request.item, request.source
    if isinstance(item, MetricSubject):
        figures = build_distribution_data(run_result.results.metrics[item.id], built_report.summary)
        check_value(
            built_report,
            item.metric,
            source.run,
            figures["average"],
            is_cell_metric=item.id == source.entry and request.prints in PRINTED,
        )
        return figures | _read_current_statistic(built_report, request, figures)
    times = None if source.since is None or source.until is None else (source.since, source.until)
    rows = select_lines(select_rows_within(run_result.results.rows[name_rows_statement(item.id)], times), source.where)
    mean = compute_mean_over_time(rows)
    if source.statistic:
        return {"average": mean, source.statistic: _compute_series_statistic(built_report, request, rows)}
    if request.prints == MEAN and request.text and mean is not None:
        number_style = get_style(built_report.provenance.content.options.style)
        printed_texts = list_mean_texts(number_style, item.unit.symbol, mean)
        if request.text not in printed_texts:
            message = f"run {request.run.id} yields another average of `{item.id}` than `{request.cell}` prints"
            raise fail("value-changed", message, expected=request.text, found=printed_texts[0], hint=HINT)
    return {"average": mean}


def _compute_series_statistic(built_report: BuiltReport, request: TraceRequest, rows: Sequence[Row]) -> float:
    """Return a statistic of rows of a series. Raises AssayError unless it is the one that the cell prints."""
    assert isinstance(request.item, SeriesSubject)
    statistic = parse_statistic(request.source.statistic)
    value = statistic.compute(rows) if statistic else None
    number_style = get_style(built_report.provenance.content.options.style)
    printed_texts = [
        format_statistic(
            built_report.checked, number_style, request.item.item, statistic, value, decimals, request.unit
        )
        for decimals in (None, *range(MOST_DECIMALS + 1))
        if statistic and value is not None
    ]
    if value is None or request.text not in printed_texts:
        subject = f"{request.source.statistic} of `{request.item.id}`"
        message = f"run {request.run.id} yields another {subject} than the report has"
        raise fail("value-changed", message, expected=request.text,
                   found=printed_texts[0] if printed_texts else "no value", hint=HINT)  # fmt: skip
    return float(value)


def _read_current_statistic(
    built_report: BuiltReport, request: TraceRequest, figures: Mapping[str, object]
) -> dict[str, object]:
    """Return the traced statistic by its name; empty for averages.

    Raises AssayError unless it is the one that results.json records.
    """
    item, name, run = request.item, request.source.statistic, request.source.run
    if not name:
        return {}
    value = read_statistic(figures, name)
    try:
        recorded = read_statistic(built_report.results["metrics"][item.id]["runs"][run], name)
    except (KeyError, TypeError, IndexError, StopIteration):
        message = f"results.json has no {name} of `{item.id}`: {built_report.folder}"
        raise fail("no-build", message, hint="build the report again") from None
    if recorded != value:
        message = f"run {run} yields another {name} of `{item.id}` than the report has"
        raise fail("value-changed", message, expected=repr(recorded), found=repr(value), hint=HINT)
    return {name: value}


def check_value(
    built_report: BuiltReport, metric: Metric, run: str, current_average: object, *, is_cell_metric: bool = False
) -> None:
    """Raise AssayError unless a run or phase has the average that results.json records.

    The average may be missing from results.json unless the metric is that of the cell (`is_cell_metric`).
    """
    recorded_average = read_recorded_average(built_report.results, metric.id, run)
    if recorded_average is None and not is_cell_metric:
        return
    if recorded_average is None:
        raise fail("no-build", f"results.json has no value of `{metric.id}`: {built_report.folder}",
                   hint="build the report again") from None  # fmt: skip
    if recorded_average != [current_average]:
        raise fail(
            "value-changed",
            f"run {run} yields another value of `{metric.id}` than the report has",
            expected=repr(recorded_average[0]),
            found=repr(current_average),
            hint=HINT,
        )


def read_recorded_average(results: Mapping[str, Any], metric: str, run: str) -> list[object] | None:
    """Return the average of a metric in a run or phase from results.json as a one-element list, or None."""
    try:
        if metric not in results.get("metrics", {}):
            return None
        result = results["metrics"][metric]["runs"][run]
        return [result["average"] if result.get("size", 1) else None]  # reports of Assay 0.2 have 0
    except (KeyError, TypeError, AttributeError):
        return None


def select_run_phases(built_report: BuiltReport, run: str) -> phases.PhaseSelection | None:
    """Return the phases that a report compares, with the times set for one run; None if it compares no phases."""
    options = built_report.provenance.content.options
    phase_selection = phases.select_phases(
        built_report.checked.package, built_report.report.phases, options.at, options.phases
    )
    if phase_selection is None:
        return None
    ns_by_instant = {key: time for key, time in phase_selection.times.ns_by_instant.items() if key[0] in ("", run)}
    # The report was built with these phases, so they may be empty.
    return replace(
        phase_selection, times=replace(phase_selection.times, ns_by_instant=ns_by_instant), may_be_empty=True
    )


@contextmanager
def _open_run_samples(
    session: Session, built_report: BuiltReport, request: TraceRequest, extra_columns: Sequence[str]
) -> Iterator[tuple[RunSamples, RunResult]]:
    """Yield the samples of a metric, or the rows of a series, in a run or phase, and the run's results.

    `extra_columns` are further columns to select.
    """
    checked, item, source = built_report.checked, request.item, request.source
    phase_selection = select_run_phases(built_report, request.run.id) if source.run != request.run.id else None
    compiled_plan = item.compile(request.applied_filters, is_phase=phase_selection is not None)
    computation = compute(
        session,
        checked,
        [request.run],
        item.request,
        request.applied_filters,
        phase_selection,
    )
    run_result = next(result for result in computation.columns if result.id == source.run)
    ingested_run = run_result.ingested_run
    if run_result.phase:
        ingested_run = replace(ingested_run, constants={**ingested_run.constants, **run_result.phase.parameters})
    query = item.build_sample_query(
        SampleRequest(compiled_plan, tuple(extra_columns), source.since, source.until, source.where)
    )
    with open_run_samples(
        session, checked.package, ingested_run, TracedQuery(compiled_plan.statements, query, item.factor)
    ) as run_samples:
        yield run_samples, run_result
