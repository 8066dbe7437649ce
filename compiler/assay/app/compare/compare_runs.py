"""Compare runs without a report: the averages of metrics, how they changed, and the verdicts (`assay compare`)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.compare.compared_metrics import (
    DEFAULT_RULES,
    ComparedVersion,
    Estimate,
    RunComparison,
    choose_metrics,
    choose_report,
    compare_metric,
    map_sections,
    sort_segments,
)
from assay.app.compare.run_messages import describe_runs, list_conditions, list_messages
from assay.app.compute.computation import Computation
from assay.app.compute.compute import compute
from assay.app.compute.splitting import CountValues, add_gated_segments, split_by_columns, split_like_report
from assay.app.judge.judging import JudgedVersion, JudgedVersions, judge_versions, measure_version
from assay.app.judge.mixes import standardize_metrics
from assay.app.judge.repeats import list_versions
from assay.app.session import filters
from assay.app.session.options import choose_summary
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.gate import Key
from assay.judgement.interval import Version, estimate_reach
from assay.judgement.repeats import pool_variances
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.segments import get_whole
from assay.plan.request import Request
from assay.plan.value_request import ValueRequest
from assay.report.judged_cells import list_judgement_notes
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail


def compare_runs(session: Session, runs: Sequence[NamedRun], selection: Selection) -> RunComparison:
    """Compare runs with the first, in the selected metrics or else in those that a report shows or gates.

    The report is the selected one, or else the one that shows the first metric, or else the one of the runs'
    system that has all metrics of the others; its filters, summary and rules apply. Raises AssayError, also (usage) for
    fewer than two runs.
    """
    refuse_single_run(runs)
    checked, report = choose_report(session, runs, selection)
    if report:
        checked, report = add_gated_segments(checked, report)
    rules = report.judgement if report and report.judgement else DEFAULT_RULES
    titles = map_sections(report, choose_metrics(session, checked, report, selection))
    metrics: Sequence[Metric] = [checked.get_metric(name) for name in titles]
    applied_filters = filters.parse_filters(checked.package, report, selection.filters, selection.no_filters)

    def calculate(package: CheckedPackage, requested: Request) -> Computation:
        return compute(session, package, runs, requested, applied_filters)

    def count_values(items: Sequence[ValueRequest]) -> Computation:
        return calculate(checked, Request(tuple(metrics), values=tuple(items)))

    checked, metrics, segments = _split(checked, metrics, selection.by, report, count_values)
    judged = tuple(dict.fromkeys((*metrics, *segments)))
    summary = choose_summary(checked.package, report, selection.summary)
    computation = calculate(checked, Request(judged, judged=judged, detailed=judged))
    versions = list_versions(computation.runs)
    standardized = standardize_metrics(checked, judged, summary, calculate)
    judgements = judge_versions(checked, rules, judged, JudgedVersions(versions, summary, standardized=standardized))
    estimates = _estimate_averages(checked, metrics, versions, summary, judgements.level)
    estimates |= {
        key: _estimate(item.versions, judgements.level) for key, item in standardized.items() if item.versions
    }

    def compare_version(version: str) -> ComparedVersion:
        """Return the comparison of a version with the base."""
        sections = ((metric, titles.get(metric.id) or titles[get_whole(metric.id)]) for metric in metrics)
        compared = [
            compare_metric(judgements, metric, version, title, estimates[metric.id, version])
            for metric, title in sections
        ]
        conditions = list_conditions(item.change for item in compared)
        return ComparedVersion(
            version,
            (sort_segments if selection.by else tuple)(compared),
            tuple(list_judgement_notes(judgements, metrics, version)),
            *describe_runs(report, computation.runs, (versions[0].id, version), conditions),
        )

    return RunComparison(
        f"{checked.package.system}/{report.name}" if report else "",
        versions[0].id,
        tuple(compare_version(version.id) for version in versions[1:]),
        judgements.level,
        judgements.noise,
        tuple(item.label for item in applied_filters),
        summary,
        list_messages(checked, computation, runs, metrics),
    )


def refuse_single_run(runs: Sequence[NamedRun]) -> None:
    """Raise AssayError (usage) for fewer than two runs, or runs of one version."""
    if len({run.version or run.id for run in runs}) < 2:
        run_counts = f"several runs of `{runs[0].version}`" if len(runs) > 1 else f"{len(runs)} run"
        hint = "name a second run; `assay query METRIC --run RUN` prints the numbers of one"
        raise fail("runs", "a comparison needs two or more runs", found=run_counts, hint=hint, status=USAGE)


def _split(
    checked: CheckedPackage, metrics: Sequence[Metric], by: str, report: Report | None, count_values: CountValues
) -> tuple[CheckedPackage, Sequence[Metric], Sequence[Metric]]:
    """Return the package with segments, the metrics to print, and the segments that the report shows of them.

    What segments of few samples show together is said of their metric.
    """
    if by:
        return *split_by_columns(checked, metrics, by, count_values, report), ()
    if report is None:
        return checked, metrics, ()
    split_package, segments = split_like_report(checked, report, {metric.id for metric in metrics}, count_values)
    return split_package, metrics, segments


def _estimate_averages(
    checked: CheckedPackage, metrics: Sequence[Metric], versions: Sequence[JudgedVersion], summary: str, level: float
) -> dict[Key, Sequence[Estimate]]:
    """Return the averages of each metric in the base and in each other version, by metric and version."""
    pairs: dict[Key, Sequence[Estimate]] = {}
    for metric in metrics:
        measured = [measure_version(checked, metric, version.runs, summary) for version in versions]
        base, *others = _estimate(measured, level)
        pairs |= {(metric.id, version.id): (base, other) for version, other in zip(versions[1:], others, strict=True)}
    return pairs


def _estimate(measured: Sequence[Version], level: float) -> list[Estimate]:
    noise = pool_variances([version.estimates for version in measured])
    return [(float(item.mean) if item.estimates else None, estimate_reach(item, noise, level)) for item in measured]
