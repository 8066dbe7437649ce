"""List all recorded metrics with their latest level shift or drift, the most certain first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.app.compare.metric_history import describe_history, find_history
from assay.app.session.session import Session
from assay.judgement.verdict import VERDICT_ORDER, Verdict
from assay.number_styles.prefixed import format_value
from assay.registry.history import Drift, HistoryScope, MetricHistory, Shift
from assay.registry.model import RecordedResults, RegisteredRun
from assay.util.numbers import split_numbers

STANDS_OUT, STEADY, TOO_FEW = "stands out", "no level shift", "too few runs"
_ORDER = (*VERDICT_ORDER, Verdict.ENVIRONMENT, STANDS_OUT, STEADY, TOO_FEW)


@dataclass(frozen=True, slots=True)
class MetricState:
    """A recorded metric: what its latest runs say of it.

    `state` is the verdict of the latest level shift or drift, else `stands out` if the latest run does so alone,
    `no level shift`, or `too few runs`. `latest` is the average of the latest run, with its unit.
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
        return describe_history(self.history).shifts[-1] if self.change else ""

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


def list_states(
    session: Session, recorded: Sequence[RecordedResults], runs: Sequence[RegisteredRun], tag: str = ""
) -> tuple[MetricState, ...]:
    """Return the states of all recorded metrics, over runs with a tag or all: the worst and most certain first.

    A metric that no run with the tag has is left out. Raises AssayError.
    """
    tagged = {run.name for run in runs if tag in run.tags}
    records: dict[tuple[str, str], list[RecordedResults]] = {}
    for item in recorded:
        for name, figures in item.content.metrics.items():
            if not tag or item.name in tagged:
                content = replace(item.content, metrics={name: figures})
                records.setdefault((item.system, name), []).append(replace(item, content=content))
    states = (
        _describe_state(find_history(session, of_metric, runs, name, HistoryScope(system, tag)))
        for (system, name), of_metric in sorted(records.items())
    )
    return tuple(sorted(states, key=lambda item: item.sort_key))


def _describe_state(history: MetricHistory) -> MetricState:
    texts = describe_history(history)
    last = history.points[-1]
    value = None if last.value is None else last.value * texts.factor
    latest = f"{format_value(value)} {texts.unit}".rstrip()
    change = history.drift or (history.shifts[-1] if history.shifts else None)
    if change:
        return MetricState(history, change.verdict, latest, change)
    if last in history.strays:
        return MetricState(history, STANDS_OUT, latest, None)
    return MetricState(history, TOO_FEW if history.hidden_shift else STEADY, latest, None)
