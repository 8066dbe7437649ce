"""Find the level shifts of a history: runs from which on a metric has another level than in the runs before.

The *points* of a metric in a workload are its runs, oldest first. A base whose numbers are those of an earlier run is
that run, printed again, and no point. Neither is a base with the label of an earlier run, run again after others: the
series would go back to an older version. Breaks in meaning divide the points into parts without shifts between them.

All parts of a history are one page: what is certain is decided among all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from assay.judgement.level_shifts import Course, Drift, compute_mean, find_least_shift
from assay.judgement.page_discoveries import Series, find_courses
from assay.judgement.verdict import Direction, Margin, Verdict
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.publication.history import MEANING, Change, Issue, find_break_place, list_workloads
from assay.report.declared_margin import choose_margin


@dataclass(frozen=True, slots=True)
class Point:
    """A run with the value of a metric; `resolution` is the unit of its last printed digit, 0 for unrounded ones."""

    issue: Issue
    run: int
    value: float
    resolution: float = 0.0

    @property
    def label(self) -> str:
        """The label of the run."""
        return self.issue.publication.runs[self.run]


@dataclass(frozen=True, slots=True)
class Level:
    """Points of one level, oldest first, and their average; `p` is that of the shift before it, 1 for none.

    That shift may be chance among the many series of the page. A drift of the points is no level shift.
    """

    points: tuple[Point, ...]
    average: float
    p: float
    may_be_chance: bool = False
    drift: Drift | None = None


Levels = Mapping[tuple[str, str], tuple[tuple[Level, ...], ...]]
"""Levels by metric and workload: those of each part between breaks in meaning, oldest first."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A shift of a metric between two levels of a workload."""

    metric: str
    workload: str
    before: Level
    after: Level
    verdict: Verdict

    @property
    def start(self) -> Point:
        """The first point of the new level."""
        return self.after.points[0]

    @property
    def share(self) -> Decimal | None:
        """(after - before) / |before|; None if the level before is 0."""
        return _compute_share(self.before.average, self.after.average)


@dataclass(frozen=True, slots=True)
class DriftOfMetric:
    """A steady drift of a metric over the points of a workload."""

    metric: str
    workload: str
    points: tuple[Point, ...]
    drift: Drift
    verdict: Verdict

    @property
    def share(self) -> Decimal | None:
        """(after - before) / |before|; None if the line begins at 0."""
        return _compute_share(self.drift.before, self.drift.after)


def find_levels(metric_ids: Sequence[str], all_issues: Sequence[Issue], changes: Sequence[Change]) -> Levels:
    """Return the levels of metrics in all workloads but those of experiments.

    The runs of an experiment are of several conditions, and follow each other in no order of versions.
    """
    all_issues = [issue for issue in all_issues if not issue.experiment]
    repeated_bases = find_repeated_bases(all_issues)
    parts = {
        (metric, workload): list_parts(metric, workload, all_issues, changes, repeated_bases)
        for metric in metric_ids
        for workload in list_workloads(all_issues)
    }
    courses = iter(find_courses([_create_series(points) for lists in parts.values() for points in lists]))
    return {key: tuple(_divide_into_levels(points, next(courses)) for points in lists) for key, lists in parts.items()}


def list_shifts(
    checked: CheckedPackage, report: Report, levels: Levels, all_issues: Sequence[Issue]
) -> tuple[Shift, ...]:
    """Return the shifts between levels that are beyond the margins of the report: newest first, those of a run by size.

    Shifts within the margin of a metric are too small to matter.
    """
    shifts = (
        Shift(metric, workload, before, after, _judge_shift(before, after, checked.get_metric(metric)))
        for (metric, workload), parts in levels.items()
        for part in parts
        for before, after in pairwise(part)
        if _is_beyond(_get_margin(checked, report, metric), before.average, after.average)
    )
    order = {issue: index for index, issue in enumerate(all_issues)}
    return tuple(
        sorted(shifts, key=lambda item: (-order[item.start.issue], -item.start.run, -abs(item.share or Decimal(0))))
    )


def list_drifts(checked: CheckedPackage, report: Report, levels: Levels) -> tuple[DriftOfMetric, ...]:
    """Return the drifts that are beyond the margins of the report, in the order of metrics."""
    return tuple(
        DriftOfMetric(metric, workload, level.points, level.drift,
                      _choose_verdict(level.drift.before, level.drift.after, checked.get_metric(metric)))
        for (metric, workload), parts in levels.items()
        for (level, *_) in parts
        if level.drift
        and _is_beyond(_get_margin(checked, report, metric), level.drift.before, level.drift.after)
    )  # fmt: skip


def count_short_series(checked: CheckedPackage, report: Report, levels: Levels) -> tuple[int, int]:
    """Return how many series have too few points to show a shift of the size of their margin, and how many there are.

    A series has the points of a metric in a workload between breaks in meaning; those that changed are not counted.
    """
    series = [(metric, part[0]) for (metric, _), parts in levels.items() for part in parts
              if len(part) == 1 and not part[0].drift]  # fmt: skip
    short = (
        find_least_shift([point.value for point in level.points], max(point.resolution for point in level.points))
        > _get_margin(checked, report, metric).convert_to_amount(level.average)
        for metric, level in series
    )
    return sum(short), len(series)


def find_repeated_bases(all_issues: Sequence[Issue]) -> frozenset[Issue]:
    """Return the issues of several runs whose base is an earlier run of the workload, whatever its label.

    It is if all metrics of both have the same value, within the unit of the last digit of the coarser one.
    """
    return frozenset(
        issue
        for index, issue in enumerate(all_issues)
        if len(issue.publication.runs) > 1
        and any(
            _has_same_values(issue, earlier_issue, run)
            for earlier_issue in all_issues[:index]
            if earlier_issue.publication.workload == issue.publication.workload
            for run in range(len(earlier_issue.publication.runs))
        )
    )


def _has_same_values(issue: Issue, earlier_issue: Issue, run: int) -> bool:
    """Return whether the base of a publication has the values of a run of an earlier one."""
    shared_metrics = issue.rows.keys() & earlier_issue.rows.keys()
    return bool(shared_metrics) and all(
        _is_same_value(
            issue.list_values(metric)[0],
            earlier_issue.list_values(metric)[run],
            max(issue.list_resolutions(metric)[0], earlier_issue.list_resolutions(metric)[run]),
        )
        for metric in shared_metrics
    )


def _is_same_value(value: Decimal | None, other: Decimal | None, resolution: Decimal) -> bool:
    return value is other if value is None or other is None else abs(value - other) <= resolution


def list_parts(
    metric: str,
    workload: str,
    all_issues: Sequence[Issue],
    changes: Sequence[Change],
    repeated_bases: frozenset[Issue],
) -> tuple[tuple[Point, ...], ...]:
    """Return the points of a metric in a workload, divided by breaks in meaning."""
    of_workload = [issue for issue in all_issues if issue.publication.workload == workload]
    starts = {
        (of_workload.index(place[0]), place[1])
        for change in changes
        if change.kind == MEANING and change.affects(metric)
        if (place := find_break_place(change, all_issues, workload))
    }
    parts: list[list[Point]] = [[]]
    labels: list[str] = []
    for index, issue in enumerate(of_workload):
        base_label = issue.publication.runs[0]
        is_older_run = base_label in labels and base_label != labels[-1]
        skips_base = issue.has_base and (is_older_run or issue in repeated_bases)
        labels += issue.publication.runs
        runs = zip(issue.list_values(metric), issue.list_resolutions(metric), strict=True)
        for run, (value, resolution) in enumerate(runs):
            if (index, run) in starts:
                parts.append([])
            if value is not None and not (run == 0 and skips_base):
                parts[-1].append(Point(issue, run, float(value), float(resolution)))
    return tuple(tuple(part) for part in parts if part)


def _create_series(points: Sequence[Point]) -> Series:
    return Series(tuple(point.value for point in points), max(point.resolution for point in points))


def _divide_into_levels(points: Sequence[Point], course: Course) -> tuple[Level, ...]:
    values = [point.value for point in points]
    if course.drift:
        return (Level(tuple(points), compute_mean(values), 1.0, drift=course.drift),)
    bounds = [0, *(item.index for item in course.shifts), len(points)]
    starts = ((1.0, False), *((item.p, item.may_be_chance) for item in course.shifts))
    return tuple(
        Level(tuple(points[begin:end]), compute_mean(values[begin:end]), *start)
        for (begin, end), start in zip(pairwise(bounds), starts, strict=True)
    )


def _get_margin(checked: CheckedPackage, report: Report, metric: str) -> Margin:
    return choose_margin(checked, checked.get_metric(metric), report.judgement)


def _is_beyond(margin: Margin, before: float, after: float) -> bool:
    return abs(after - before) > margin.convert_to_amount(before)


def _judge_shift(before: Level, after: Level, metric: Metric) -> Verdict:
    """Return the verdict on a shift; between two runs of one version, only the environment can have changed.

    A base has the version of the run before it if it has its label. Further runs of other builds may share a label,
    such as `nightly`, without being one version; those of one build are repeats.
    """
    last, first = before.points[-1], after.points[0]
    if last.label == first.label and (first.run == 0 or first.issue == last.issue):
        return Verdict.ENVIRONMENT
    return _choose_verdict(before.average, after.average, metric)


def _choose_verdict(before: float, after: float, metric: Metric) -> Verdict:
    direction = Direction(metric.better)
    if direction is Direction.NEITHER:
        return Verdict.CHANGED
    return Verdict.BETTER if (after < before) == (direction is Direction.LOWER) else Verdict.WORSE


def _compute_share(before: float, after: float) -> Decimal | None:
    return Decimal((after - before) / abs(before)) if before else None
