"""Analyze publications over time: breaks, largest moves, levels and shifts of the metrics of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.lang.blocks.largest_moves import LargestMoves
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Publications, Report
from assay.publication.edition import Word, collect_metric_words
from assay.publication.history import Change, Issue, Move, describe_inputs, find_largest_moves, list_changes
from assay.publication.history_builds import compare_builds
from assay.publication.history_shifts import DriftOfMetric, Levels, Shift, find_levels, list_drifts, list_shifts


@dataclass(frozen=True, slots=True)
class PublishedRuns:
    """The content of a report over publications: these in order, breaks, largest moves, levels and shifts, names.

    `source` is the report whose publications they are.
    """

    checked: CheckedPackage
    report: Report
    source: Report
    issues: tuple[Issue, ...]
    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    levels: Levels
    shifts: tuple[Shift, ...]
    drifts: tuple[DriftOfMetric, ...]
    names: Mapping[str, Word]

    @property
    def publications(self) -> tuple[Issue, ...]:
        """The issues that are publications."""
        return tuple(issue for issue in self.issues if not issue.build)

    @property
    def builds(self) -> tuple[Issue, ...]:
        """The issues that are builds."""
        return tuple(issue for issue in self.issues if issue.build)

    @property
    def inputs(self) -> str:
        """What the issues are: `publications`, `builds`, or both."""
        return describe_inputs(self.issues)

    @property
    def over(self) -> Publications:
        """What the report is over."""
        assert self.report.over
        return self.report.over

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the report shows."""
        return self.report.shown_metrics

    @property
    def figure_numbers(self) -> Mapping[str, int]:
        """The number of the figure of each metric that an issue has."""
        published = (name for name in self.metrics if any(name in issue.rows for issue in self.issues))
        return {name: number for number, name in enumerate(published, start=1)}


def analyze_publications(
    checked: CheckedPackage, report: Report, source: Report, issues: Sequence[Issue]
) -> PublishedRuns:
    """Return the content of a report over issues of `source`, in order (at least one), with the newest names."""
    assert report.over
    metrics = report.shown_metrics
    breaks = list_changes(report.over.breaks, metrics, checked, issues, compare_builds(issues))
    most = max((block.limit for part in report.parts for block in part.select(LargestMoves)), default=0)
    largest = find_largest_moves(metrics, issues, breaks, most)
    levels = find_levels(metrics, issues, breaks)
    shifts = list_shifts(checked, source, levels, issues)
    drifts = list_drifts(checked, source, levels)
    names = collect_metric_words(checked, issues[-1].edition)
    return PublishedRuns(checked, report, source, tuple(issues), breaks, largest, levels, shifts, drifts, names)
