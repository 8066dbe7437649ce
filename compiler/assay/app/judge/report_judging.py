"""Judge the versions of a report, as a whole and by the values of a column (`--by host`)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.report_metrics import list_judged_metrics
from assay.app.compute.report_request import ReportRequest
from assay.app.compute.splitting import split_groups
from assay.app.judge.judging import JudgedVersions, judge_versions
from assay.app.judge.mixes import Calculate, standardize_metrics
from assay.app.judge.repeats import list_versions, split_calibration
from assay.app.session.session import Session
from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.plan.request import Request
from assay.report.group_changes import NO_CHANGES, GroupChanges


def judge_report(
    checked: CheckedPackage,
    report: Report,
    computation: Computation,
    summary: str,
    metrics: Sequence[Metric],
    calculate: Calculate | None = None,
) -> ReportJudgements | None:
    """Judge the versions or phases after the first; None if there is no other, or if the report judges nothing.

    `calculate` computes metrics over the same runs: with it, samples of other things are not compared.
    """
    compared, calibration = split_calibration(computation)
    versions = list_versions(compared.columns)
    if report.judgement is None or len(versions) < 2 or not metrics:
        return None
    standardized = standardize_metrics(checked, metrics, summary, calculate) if calculate else {}
    calibration_results = [item.results for item in calibration]
    judged = JudgedVersions(versions, summary, calibration_results, standardized)
    return judge_versions(checked, report.judgement, metrics, judged)


def create_calculation(session: Session, request: ReportRequest, *, is_assessed: bool = True) -> Calculate:
    """Return the function that computes other metrics over the runs of a report, and assesses their data."""

    def calculate(checked: CheckedPackage, requested: Request) -> Computation:
        return compute(session, checked, request.runs, requested, request.applied_filters, request.phase_selection,
                       is_assessed=is_assessed)  # fmt: skip

    return calculate


def judge_groups(
    session: Session, checked: CheckedPackage, report: Report, request: ReportRequest, column: str
) -> GroupChanges:
    """Judge the metrics of a report for each value of a column, as if the runs had no others. Raises AssayError."""
    grouped = {metric.id for metric in request.grouped_metrics}
    metrics = [metric for metric in list_judged_metrics(checked, report) if metric.id in grouped]
    runs = [run for run in request.runs if not run.is_calibration]
    has_versions = request.phase_selection or len({run.version or run.id for run in runs}) > 1
    if not column or not metrics or report.judgement is None or not has_versions:
        return NO_CHANGES
    calculate = create_calculation(session, request)
    package, split = split_groups(
        checked, metrics, column, lambda items: calculate(checked, Request(tuple(metrics), values=tuple(items)))
    )
    segments = {metric.id: split.list_segments(metric.id) for metric in metrics}
    parts = tuple(package.get_metric(name) for names in segments.values() for name in names)
    computation = calculate(package, Request(parts, judged=parts))
    judgements = judge_report(package, report, computation, request.options.summary, parts)
    if judgements is None:
        return NO_CHANGES
    versions = list(dict.fromkeys(version for _, version in judgements.changes))
    return GroupChanges(
        judgements.level,
        tuple(versions),
        {
            (name, version): {
                str(value): judgements.changes[segment, version]
                for (value,), segment in zip(split.values, segments[name], strict=False)  # others are pooled
                if value is not None
            }
            for name in segments
            for version in versions
        },
        split.pooled,
    )
