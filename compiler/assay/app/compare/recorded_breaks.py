"""Find the breaks of recorded metrics, and their accepted level shifts: values from both sides are not comparable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from assay.app.compare.cautions import MedianComparison
from assay.app.session.session import Session
from assay.judgement.verdict import Direction
from assay.lang.breaks import describe_crossed_breaks, list_crossed_breaks
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.segments import get_whole
from assay.quality.finding import list_names
from assay.registry.history import MetricRules, compute_history, find_day, get_identity, get_meaning
from assay.registry.model import RecordedResults, RegisteredRun
from assay.report.declared_margin import choose_margin
from assay.util.diagnostics import AssayError


def find_breaks(
    session: Session, recorded: Iterable[RecordedResults]
) -> tuple[Mapping[str, Mapping[str, Sequence[str]]], tuple[str, ...]]:
    """Return the days of the breaks of metrics, by system and id, and warnings about specs that cannot be read.

    Systems that the workspace does not have are left out: without specs there are no breaks.
    """
    breaks: dict[str, Mapping[str, Sequence[str]]] = {}
    warnings = []
    for system in sorted({item.system for item in recorded} & {*session.workspace.list_systems()}):
        try:
            metrics = session.load_package(system).package.metrics
        except AssayError as error:
            cause = error.diagnostics[0].message
            warnings.append(f"breaks of metrics of `{system}` are not marked, as its specs have errors: {cause}")
        else:
            breaks[system] = {item.id: [each.since for each in item.breaks] for item in metrics if item.breaks}
    return breaks, tuple(warnings)


def set_days(results: Iterable[RecordedResults], runs: Iterable[RegisteredRun]) -> tuple[RecordedResults, ...]:
    """Return results with the days that count: those of registered runs rather than those of last records."""
    runs_by_name = {run.name: run for run in runs}
    return tuple(replace(item, content=replace(item.content, day=find_day(item, runs_by_name))) for item in results)


def are_comparable(checked: CheckedPackage, metric: Metric, results: Sequence[RecordedResults]) -> bool:
    """Return whether no break of a metric, or of the metric that it is a segment of, lies between runs."""
    whole = checked.get_metric(get_whole(metric.id))
    return not list_crossed_breaks(whole, [item.content.day for item in results])


def describe_breaks(
    checked: CheckedPackage,
    metrics: Iterable[Metric],
    version: Sequence[RecordedResults],
    base: Sequence[RecordedResults],
) -> str:
    """Return a sentence on the breaks between a version and runs of its base, which do not count; empty without any.

    Metrics with the same breaks have the same number of runs that count.
    """
    numbers: dict[tuple[int, tuple[object, ...]], list[Metric]] = {}
    days = [item.content.day for item in (*version, *base)]
    for metric in dict.fromkeys(checked.get_metric(get_whole(item.id)) for item in metrics):
        count = sum(are_comparable(checked, metric, [item, *version]) for item in base)
        if count < len(base):
            numbers.setdefault((count, tuple(list_crossed_breaks(metric, days))), []).append(metric)
    return " ".join(
        f"{count or 'None'} of these {len(base)} runs {'counts' if count < 2 else 'count'} for "
        f"{'; '.join(describe_crossed_breaks(affected, days))}"
        for (count, _), affected in numbers.items()
    )


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
