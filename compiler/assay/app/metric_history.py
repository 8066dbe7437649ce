"""Read the history of a metric from recorded results (`assay history`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.app.session import Session
from assay.app.subject import find_metric
from assay.judgement.verdict import Direction
from assay.registry.history import DEFAULT_MARGIN, MetricHistory, MetricRules, compute_history, find_recorded_metric
from assay.registry.model import RecordedResults
from assay.registry.store import list_runs, read_results
from assay.report.declared_margin import convert_margin
from assay.util.diagnostics import AssayError


def read_histories(
    session: Session, folder: Path, metrics: Sequence[str], system: str = "", tag: str = "", last: int = 0
) -> tuple[MetricHistory, ...]:
    """Return the histories of metrics over the runs of a results folder; no logs are read.

    Where the specs of the workspace define the metric, their definition, margin and direction apply. Raises AssayError.
    """
    recorded, runs = read_results(folder), list_runs(folder)
    return tuple(
        compute_history(recorded, runs, metric, system=system, tag=tag, last=last,
                        rules=_find_rules(session, recorded, metric, system))
        for metric in metrics
    )  # fmt: skip


def _find_rules(session: Session, recorded: Sequence[RecordedResults], metric: str, system: str) -> MetricRules:
    """Return the rules of a metric from the specs; those of no specs if they do not define it."""
    owner, name = find_recorded_metric(recorded, metric, system)
    try:
        subject = find_metric(session, name, owner)
    except AssayError:
        return MetricRules()
    definition, report = subject.metric, subject.report
    declared = definition.margin or (report.judgement.margin if report and report.judgement else None)
    margin = convert_margin(subject.checked, definition, declared) if declared else DEFAULT_MARGIN
    return MetricRules(subject.checked.definitions[name], Direction(definition.better), margin)
