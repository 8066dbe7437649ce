"""Check which blocks reports over runs and over publications have, and what the latter are about."""

from __future__ import annotations

from collections import Counter

from assay.lang.check.checker import Checker
from assay.lang.model.report import Report

#: fields of a report that are about runs
OF_RUNS = ("manifest", "filters", "also", "compare", "editions", "phases", "observations", "choices", "cases",
           "claims", "alternatives", "groups", "revision")  # fmt: skip


def check_publications(checker: Checker) -> None:
    """Check the blocks of every report, and reports over publications."""
    for report in checker.package.reports:
        _check_kinds_of_blocks(checker, report)
        if report.over:
            _check_fields(checker, report)
            _check_metrics(checker, report)
            _check_source(checker, report)
            _check_experiments(checker, report)


def _check_kinds_of_blocks(checker: Checker, report: Report) -> None:
    """Report blocks that show runs in a report over publications, and the reverse."""
    is_over_publications = report.over is not None
    for part in report.parts:
        for block in part.blocks:
            if block.is_of_publications != is_over_publications:
                kind, (shows, others) = (
                    type(block).__name__,
                    ("runs", "publications")[:: 1 if is_over_publications else -1],
                )
                checker.report(
                    "block-of-publications",
                    f"the {kind} in part `{part.title}` shows {shows}, but report `{report.name}` is over {others}",
                    block.title or part.title or report.name,
                    hint="move it to another report"
                    if is_over_publications
                    else "say whose publications the report is `over`, or move the block to another report",
                    within=(report.name,),
                )


def _check_fields(checker: Checker, report: Report) -> None:
    """Report fields that have no effect over publications, whose numbers are final."""
    if fields := [name for name in OF_RUNS if getattr(report, name)]:
        checker.report(
            "over-publications",
            f"report `{report.name}` is over publications, to which these fields do not apply: {', '.join(fields)}",
            report.name,
            hint="remove them",
        )


def _check_metrics(checker: Checker, report: Report) -> None:
    shown_metrics = [name for block in report.blocks for name in block.read_metrics()]
    metric_counts = Counter(metric.id for metric in checker.package.metrics)
    for name, times in Counter(shown_metrics).items():
        if times > 1 and metric_counts[name] <= 1:  # otherwise the duplicate id is reported
            checker.report("duplicate-metric", f"report `{report.name}` shows the metric `{name}` {times} times", name)


def _check_source(checker: Checker, report: Report) -> None:
    """Report a report over publications of none, or of one that is over publications itself."""
    assert report.over
    reports = [item.name for item in checker.package.reports if not item.over]
    if report.over.of not in reports:
        word, within = report.over.of or report.name, (report.name,)
        owner = f"that report `{report.name}` is over"
        checker.report_unknown("report", report.over.of, owner, reports, word=word, within=within)


def _check_experiments(checker: Checker, report: Report) -> None:
    assert report.over
    owner = f"report `{report.name}`"
    series_by_run: dict[str, str] = {}
    for item in report.over.experiments:
        if not item.series.strip() or not item.runs:
            message = f"an experiment of {owner} has no {'runs' if item.series.strip() else 'series'}"
            checker.report("experiment", message, item.series or report.name, expected="a name of the series, and runs")
        for run in item.runs:
            if series_by_run.setdefault(run, item.series) != item.series:
                message = f"the run `{run}` is in two experiments of {owner}"
                checker.report("experiment", message, run, found=f"{series_by_run[run]}, {item.series}")
