"""List all recorded metrics with their latest level shift or drift, the most certain first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.app.compare.metric_history import ACCEPTED, describe_history, find_history
from assay.app.compare.shift_details import get_begin, list_changes
from assay.app.session.session import Session
from assay.judgement.verdict import VERDICT_ORDER, Verdict
from assay.number_styles.prefixed import format_value
from assay.registry.history import Drift, HistoryScope, MetricHistory, Shift
from assay.registry.model import RecordedResults
from assay.registry.store import Registry
from assay.util.numbers import split_numbers

STANDS_OUT, STEADY, TOO_FEW = "stands out", "no level shift", "too few runs"
OPEN = "open"
_ORDER = (*VERDICT_ORDER, Verdict.ENVIRONMENT, STANDS_OUT, ACCEPTED, STEADY, TOO_FEW)


@dataclass(frozen=True, slots=True)
class MetricState:
    """A recorded metric: what its latest runs say of it.

    `state` is the verdict of the latest level shift or drift, `accepted` if a person accepted it, else `stands out` if
    the latest run does so alone, `no level shift`, or `too few runs`. An earlier shift that is worse and open precedes
    accepted ones. `latest` is the average of the latest run, with its unit.
    """

    history: MetricHistory
    state: str
    latest: str
    change: Shift | Drift | None

    @property
    def id(self) -> tuple[str, str]:
        """The system and the id of the metric."""
        return self.history.system, self.history.metric

    @property
    def sentence(self) -> str:
        """The sentence on the latest change, as `assay history` prints it; empty without one."""
        if self.change is None:
            return ""
        return describe_history(self.history).shifts[list_changes(self.history).index(self.change)]

    @property
    def sort_key(self) -> tuple[object, ...]:
        """What the metrics are ordered by: state, p, size of the change, names."""
        percent = self.change.percent if self.change else None
        size = abs(percent) if percent is not None else math.inf if self.change else 0.0
        return (
            _ORDER.index(self.state),
            self.change.p if self.change else 1.0,
            -size,
            self.history.system,
            split_numbers(self.history.name),
        )


def list_states(session: Session, registry: Registry, tag: str = "") -> tuple[MetricState, ...]:
    """Return the states of all recorded metrics, over runs with a tag or all: the worst and most certain first.

    A metric that no run with the tag has is left out. Raises AssayError.
    """
    tagged = {run.name for run in registry.runs if tag in run.tags}
    records: dict[tuple[str, str], list[RecordedResults]] = {}
    for item in registry.recorded:
        for name, figures in item.content.metrics.items():
            if not tag or item.name in tagged:
                content = replace(item.content, metrics={name: figures})
                records.setdefault((item.system, name), []).append(replace(item, content=content))
    states = (
        _describe_state(find_history(session, replace(registry, recorded=of_metric), name, HistoryScope(system, tag)))
        for (system, name), of_metric in sorted(records.items())
    )
    return tuple(sorted(states, key=lambda item: item.sort_key))


def _describe_state(history: MetricHistory) -> MetricState:
    texts = describe_history(history)
    last = history.points[-1]
    value = None if last.value is None else last.value * texts.factor
    latest = f"{format_value(value)} {texts.unit}".rstrip()
    if change := history.drift or _choose_shift(history.shifts):
        return MetricState(history, ACCEPTED if change.acceptance else change.verdict, latest, change)
    if last in history.strays:
        return MetricState(history, STANDS_OUT, latest, None)
    return MetricState(history, TOO_FEW if history.hidden_shift else STEADY, latest, None)


def _choose_shift(shifts: Sequence[Shift]) -> Shift | None:
    """Return the latest level shift, or instead of accepted ones the one before them if that is open and worse."""
    latest_open = next((shift for shift in reversed(shifts) if not shift.acceptance), None)
    if latest_open and latest_open.verdict is Verdict.WORSE:
        return latest_open
    return shifts[-1] if shifts else None


def list_shift_members(states: Sequence[MetricState]) -> dict[tuple[str, str], dict[str, object]]:
    """Return what exported rows say of level shifts and states, by the id of results and metric.

    A row has the level shift or drift that begins with its run; that of the last run has the state of the metric.
    """
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for state in states:
        for change in list_changes(state.history):
            low, high = change.percent_interval or (None, None)
            kind = "" if isinstance(change, Shift) else "drift: "
            rows[get_begin(change).results.id, state.history.metric] = {
                "shift": f"{kind}{change.verdict}", "shift_percent": change.percent, "shift_low": low,
                "shift_high": high, "shift_state": ACCEPTED if change.acceptance else OPEN,
            }  # fmt: skip
        last = rows.setdefault((state.history.points[-1].results.id, state.history.metric), {})
        last["state"] = state.state
    return rows
