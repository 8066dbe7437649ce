"""Leave out of a base of recorded runs what an accepted level shift has replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.app.compare.cautions import MedianComparison
from assay.judgement.verdict import Direction
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.quality.finding import list_names
from assay.registry.history import MetricRules, compute_history, get_identity, get_meaning
from assay.registry.model import RecordedResults
from assay.report.declared_margin import choose_margin


def leave_out_replaced(
    checked: CheckedPackage, report: Report, metrics: Sequence[Metric], compared: MedianComparison
) -> tuple[tuple[RecordedResults, ...], str]:
    """Return the runs of a base, each without the metrics that have an accepted level shift between it and the version.

    They have another level than the one that was accepted. The second is a sentence on them; empty for none.
    """
    noted = {note.content.metric for note in compared.notes if note.content.system == checked.package.system}
    replaced = {
        metric.id: _list_replaced(checked, report, metric, compared)
        for metric in metrics
        if metric.id in noted and all(metric.id in item.content.metrics for item in compared.version)
    }
    base = tuple(
        replace(item, content=replace(item.content, metrics={
            name: figures for name, figures in item.content.metrics.items()
            if get_identity(item) not in replaced.get(name, ())
        }))
        for item in compared.base
    )  # fmt: skip
    names = [
        metric.name
        for metric in metrics
        if any(get_identity(item) in replaced.get(metric.id, ()) for item in compared.base)
    ]
    return base, f"Runs before an accepted level shift do not count for {list_names(names)}." if names else ""


def _list_replaced(
    checked: CheckedPackage, report: Report, metric: Metric, compared: MedianComparison
) -> frozenset[tuple[str, str]]:
    """Return the identities of the runs before the last accepted level shift of a metric, up to the version."""
    definition = get_meaning(compared.version[0], metric.id).definition
    breaks = tuple(item.since for item in metric.breaks)
    rules = MetricRules(
        definition, Direction(metric.better), choose_margin(checked, metric, report.judgement), breaks, compared.notes
    )
    history = compute_history((*compared.earlier, *compared.version), (), metric.id, rules=rules)
    starts = [history.points.index(shift.point) for shift in history.shifts if shift.acceptance]
    return frozenset(get_identity(point.results) for point in history.points[: max(starts, default=0)])
