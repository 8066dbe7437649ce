"""Read the history of a metric from recorded results (`assay history`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.compute.subject import find_metric
from assay.app.session.session import Session
from assay.judgement.level_shifts import LEAST_SERIES
from assay.judgement.verdict import Direction
from assay.number_styles.prefixed import format_percent, format_value
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.registry.history import (
    Drift,
    HistoryScope,
    MetricHistory,
    MetricRules,
    Point,
    Shift,
    compute_history,
    find_recorded_metric,
)
from assay.registry.model import RecordedResults, RegisteredRun
from assay.registry.store import list_runs, read_results
from assay.report.declared_margin import choose_margin
from assay.util.diagnostics import AssayError

LEAST_P = 0.0001
STANDS_OUT = "stands out"


def read_histories(
    session: Session, folder: Path, metrics: Sequence[str], scope: HistoryScope
) -> tuple[MetricHistory, ...]:
    """Return the histories of metrics over the runs of a results folder; no logs are read.

    Where the specs of the workspace define the metric, their definition, margin and direction apply. Raises AssayError.
    """
    recorded, runs = read_results(folder), list_runs(folder)
    return tuple(find_history(session, recorded, runs, metric, scope) for metric in metrics)


def find_history(
    session: Session,
    recorded: Sequence[RecordedResults],
    runs: Sequence[RegisteredRun],
    metric: str,
    scope: HistoryScope,
) -> MetricHistory:
    """Return the history of a metric by the rules of the specs, if they define it. Raises AssayError."""
    rules = _find_rules(session, recorded, metric, scope.system)
    return compute_history(recorded, runs, metric, scope=scope, rules=rules)


def _find_rules(session: Session, recorded: Sequence[RecordedResults], metric: str, system: str) -> MetricRules:
    """Return the rules of a metric from the specs; those of no specs if they do not define it."""
    owner, name = find_recorded_metric(recorded, metric, system)
    try:
        subject = find_metric(session, name, owner)
    except AssayError:
        return MetricRules()
    definition, report = subject.metric, subject.report
    margin = choose_margin(subject.checked, definition, report.judgement if report else None)
    breaks = tuple(item.since for item in definition.breaks)
    return MetricRules(subject.checked.definitions[name], Direction(definition.better), margin, breaks)


@dataclass(frozen=True, slots=True)
class HistoryTexts:
    """A history as texts: a row for each run under `header`, a sentence for each shift or drift, or `no_shift`.

    `unit` is that of the printed numbers, and `factor` converts to it from the unit of the metric.
    """

    title: str
    conditions: str
    unit: str
    factor: float
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shifts: tuple[str, ...]
    no_shift: str


def describe_history(item: MetricHistory) -> HistoryTexts:
    """Return a history as texts, its numbers in the prefixed unit that fits them."""
    factor, unit = choose_prefix([point.value for point in item.points], item.meaning.unit)
    return HistoryTexts(
        f"{item.name} ({item.metric})" + (f" in {unit}" if unit else ""),
        f"average: {item.meaning.summary}; filters: {', '.join(item.meaning.filters) or 'none'}",
        unit,
        float(factor),
        ("run", "day", "average", "Δ%", "n", "", "tags"),
        tuple(_describe_points(item, float(factor))),
        (*(_describe_shift(shift, float(factor), unit) for shift in item.shifts),
         *([_describe_drift(item.drift, float(factor), unit)] if item.drift else [])),
        _describe_hidden_shift(item, float(factor), unit),
    )  # fmt: skip


def _describe_points(item: MetricHistory, factor: float) -> Iterator[tuple[str, ...]]:
    shifts = {shift.point.results.id: shift for shift in item.shifts}
    former: float | None = None
    for point in item.points:
        is_comparable = not point.differences and point.value is not None
        change = format_percent(former, point.value) if is_comparable and former is not None else ""
        value = None if point.value is None else point.value * factor
        size = "" if point.figures.size is None else str(point.figures.size)
        mark = _describe_mark(point, shifts.get(point.results.id), is_stray=point in item.strays)
        yield point.run, point.day or NO_VALUE, format_value(value), change, size, mark, ", ".join(point.tags)
        former = point.value if is_comparable else former


def _describe_mark(point: Point, shift: Shift | None, *, is_stray: bool) -> str:
    if point.differences:
        return f"other {' and '.join(point.differences)}"
    if is_stray:
        return STANDS_OUT
    return f"{'▲' if shift.after > shift.before else '▼'} {shift.verdict.value}" if shift else ""


def _describe_hidden_shift(item: MetricHistory, factor: float, unit: str) -> str:
    """Return that there is no level shift, or that runs are too few to tell, with how large one may be."""
    if not item.hidden_shift:
        return "No level shift."
    if math.isinf(item.hidden_shift):
        return f"Too few runs to tell: a level shift needs at least {LEAST_SERIES} runs."
    size = f"{format_value(item.hidden_shift * factor)} {unit}".rstrip()
    return f"Too few runs to tell: they show a level shift only if it is larger than {size}."


def _describe_shift(shift: Shift, factor: float, unit: str) -> str:
    numbers = f"{shift.runs_before} runs before, {shift.runs_since} since"
    return (
        f"Level shift at {shift.point.run}: {_describe_change(shift, factor, unit)}; {numbers}; {_describe_p(shift.p)}"
    )


def _describe_drift(drift: Drift, factor: float, unit: str) -> str:
    runs = f"from {drift.first.run} to {drift.last.run}"
    return f"Drift {runs}: from {_describe_change(drift, factor, unit)}; {_describe_p(drift.p)}"


def _describe_change(change: Shift | Drift, factor: float, unit: str) -> str:
    percent = "" if change.percent is None else f" ({format_percent(change.before, change.after)} %)"
    before, after = (format_value(value * factor) for value in (change.before, change.after))
    return f"{before} to {after} {unit}{percent}, {change.verdict.value}"


def _describe_p(p: float) -> str:
    return f"p < {LEAST_P}" if p < LEAST_P else f"p {p:.4f}"
