"""Read the history of a metric from recorded results (`assay history`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.app.compute.subject import find_metric
from assay.app.session.session import Session
from assay.judgement.level_shifts import LEAST_SERIES
from assay.judgement.verdict import Direction
from assay.number_styles.prefixed import format_change_within, format_percent, format_percent_interval, format_value
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.registry.history import (
    Drift,
    HistoryChange,
    HistoryScope,
    MetricHistory,
    MetricRules,
    Point,
    Shift,
    compute_history,
    find_recorded_metric,
)
from assay.registry.model import RecordedResults, ShiftNote
from assay.registry.shift_notes import ACCEPT, ANNOTATE, REOPEN
from assay.registry.store import Registry, read_registry
from assay.report.declared_margin import choose_margin
from assay.util.diagnostics import AssayError

LEAST_P = 0.0001
STANDS_OUT, ACCEPTED = "stands out", "accepted"
_DONE = {ACCEPT: ACCEPTED, ANNOTATE: "annotated", REOPEN: "reopened"}


def read_histories(
    session: Session, folder: Path, metrics: Sequence[str], scope: HistoryScope
) -> tuple[MetricHistory, ...]:
    """Return the histories of metrics over the runs of a results folder; no logs are read.

    Where the specs of the workspace define the metric, their definition, margin and direction apply. Raises AssayError.
    """
    registry = read_registry(folder)
    return tuple(find_history(session, registry, metric, scope) for metric in metrics)


def find_history(session: Session, registry: Registry, metric: str, scope: HistoryScope) -> MetricHistory:
    """Return the history of a metric by the rules of the specs, if they define it. Raises AssayError."""
    rules = replace(_find_rules(session, registry.recorded, metric, scope.system), notes=registry.notes)
    return compute_history(registry.recorded, registry.runs, metric, scope=scope, rules=rules)


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
    word = (ACCEPTED if shift.acceptance else shift.verdict.value) if shift else ""
    return f"{'▲' if shift.after > shift.before else '▼'} {word}" if shift else ""


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
    change = _describe_change(shift, factor, unit)
    return f"Level shift at {shift.point.run}: {change}; {numbers}; {_describe_p(shift.p)}{describe_acceptance(shift)}"


def _describe_drift(drift: Drift, factor: float, unit: str) -> str:
    runs = f"from {drift.first.run} to {drift.last.run}"
    change = _describe_change(drift, factor, unit)
    return f"Drift {runs}: from {change}; {_describe_p(drift.p)}{describe_acceptance(drift)}"


def describe_acceptance(change: HistoryChange) -> str:
    """Return who accepted a change, when and why, as the end of a sentence; empty for an open one."""
    return f"; {describe_note(change.acceptance)}" if change.acceptance else ""


def describe_note(note: ShiftNote) -> str:
    """Return what a person did with a change: `accepted by Ann on 2026-03-12: the new codec`."""
    content = note.content
    return f"{_DONE[content.kind]} by {content.author} on {content.time[:10]}: {content.reason}"


def format_change_interval(change: HistoryChange) -> tuple[str, str]:
    """Return the change in percent and its 95 % interval, `+14` and `+12 … +15`; empty if the level before is 0."""
    if change.percent is None or change.percent_interval is None:
        return "", ""
    ends = change.percent_interval
    return format_change_within(change.percent, *ends), format_percent_interval(*ends)


def _describe_change(change: HistoryChange, factor: float, unit: str) -> str:
    number, interval = format_change_interval(change)
    percent = f" ({number} %, 95 % interval {interval})" if number else ""
    before, after = (format_value(value * factor) for value in (change.before, change.after))
    return f"{before} to {after} {unit}{percent}, {change.verdict.value}"


def _describe_p(p: float) -> str:
    return f"p < {LEAST_P}" if p < LEAST_P else f"p {p:.4f}"
