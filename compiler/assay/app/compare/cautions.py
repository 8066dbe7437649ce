"""Say why a comparison of recorded results is suspect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.judgement.report_judgements import ReportJudgements
from assay.judgement.verdict import Direction
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.segments import get_whole, is_segment
from assay.quality.finding import list_names
from assay.registry.history import MetricRules, compute_history, get_meaning
from assay.registry.model import RecordedResults, ShiftNote
from assay.report.comparison_caution import describe_caution, describe_unequal_hosts


def list_hosts(results: Sequence[RecordedResults]) -> tuple[int, ...]:
    """Return the numbers of hosts of runs; results that an older Assay recorded have none."""
    return tuple(item.content.hosts for item in results if item.content.hosts)


@dataclass(frozen=True, slots=True)
class MedianComparison:
    """A version whose results are compared with the median of those of the base; several results are repeats.

    `earlier` are all recorded runs before the version: the base alone is too short for a level shift to be found.
    `notes` are those on level shifts.
    """

    version: Sequence[RecordedResults]
    base: Sequence[RecordedResults]
    earlier: Sequence[RecordedResults] = ()
    notes: Sequence[ShiftNote] = ()


def describe_cautions(
    checked: CheckedPackage, judgements: ReportJudgements, metrics: Sequence[Metric], compared: MedianComparison
) -> str:
    """Return why a comparison with a median is suspect: other hosts, open level shifts within the runs of the base."""
    version, base = compared.version, compared.base
    hosts = describe_unequal_hosts(list_hosts(base), list_hosts(version))
    base_data = {item.content.data for item in base}
    names: dict[str, list[str]] = {}
    stray_names: dict[str, list[str]] = {}
    drifting: list[str] = []
    for metric in metrics:
        if is_segment(metric.id) and metric.id not in judgements.gated:
            continue
        if not all(metric.id in item.content.metrics for item in version):
            continue
        definition = get_meaning(version[0], metric.id).definition
        margin = judgements.changes[metric.id, version[0].name].margin
        breaks = tuple(item.since for item in checked.get_metric(get_whole(metric.id)).breaks)
        rules = MetricRules(definition, Direction(metric.better), margin, breaks, compared.notes)
        history = compute_history((*compared.earlier, *version), (), metric.id, rules=rules)
        for shift in history.shifts:
            if shift.point.results.content.data in base_data and not shift.acceptance:
                names.setdefault(shift.point.run, []).append(metric.name)
        if history.drift and not history.drift.acceptance:
            drifting.append(metric.name)
        for point in history.strays:
            if point.results.content.data in base_data:
                stray_names.setdefault(point.run, []).append(metric.name)
    strays = [f"{run} stands out within the base: {list_names(listed)}." for run, listed in stray_names.items()]
    shifts = [f"Level shift at {run} within the base: {list_names(listed)}." for run, listed in names.items()]
    drifts = [f"Drift over the runs up to this version: {list_names(drifting)}."] if drifting else []
    return " ".join(filter(None, [describe_caution([hosts] if hosts else []), *shifts, *drifts, *strays]))
