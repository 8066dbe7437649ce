"""Compare runs without a report: the averages of metrics, how they changed, and the verdicts (`assay compare`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.app.compute.compute import Computation, RunResult, compute, list_report_metrics
from assay.app.compute.ingest import find_system
from assay.app.compute.query import list_run_messages
from assay.app.compute.raw_data_notes import iter_shared_file_notes
from assay.app.compute.report_dates import list_break_warnings
from assay.app.compute.run_figures import create_run_figures
from assay.app.compute.splitting import CountValues, add_gated_segments, split_by_columns, split_like_report
from assay.app.compute.subject import find_metric
from assay.app.judge.judged_results import NO_SECTION, RecordedChange, build_change
from assay.app.judge.judging import JudgedVersion, build_change_data, judge_versions, measure_version
from assay.app.judge.mixes import standardize_metrics
from assay.app.judge.repeats import list_versions
from assay.app.session import filters
from assay.app.session.options import choose_summary
from assay.app.session.repeat_names import find_repeats
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.judgement.interval import estimate_reach
from assay.judgement.repeats import pool_variances
from assay.judgement.report_judgements import ReportJudgements
from assay.judgement.verdict import Direction
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.model.vocabulary import Judgement, Margin, Unit
from assay.lang.segments import get_whole, is_segment
from assay.plan.request import Request
from assay.plan.value_request import ValueRequest
from assay.quality.finding import describe_findings
from assay.report.comparison_caution import describe_caution, list_unequal_parameters
from assay.report.judged_cells import list_judgement_notes
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail

#: The rules of `S.Judgement::{=}`, for reports that judge nothing.
DEFAULT_RULES = Judgement("0.95", Margin("2", "", Unit("percent", "%")), (), 3)


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """The change of a metric from the base to a run.

    `spreads` are the half-widths of the intervals of both averages, in percent, and `sizes` the numbers of samples;
    None where they are not known.
    """

    change: RecordedChange
    spreads: tuple[float | None, float | None]
    sizes: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ComparedVersion:
    """A version that is compared with the base: its metrics in the order of the report, and notes on verdicts.

    `caution` are sentences why the comparison itself is suspect. `hosts` are the known numbers of hosts of the runs of
    the base and of the version.
    """

    id: str
    metrics: tuple[ComparedMetric, ...]
    notes: tuple[str, ...]
    caution: str = ""
    hosts: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The comparison of versions with the first, `base`; `noise` is the sentence on the noise in intervals.

    `report` is the report whose metrics, filters and rules are used; empty if there is none.
    """

    report: str
    base: str
    versions: tuple[ComparedVersion, ...]
    level: float
    noise: str
    filters: tuple[str, ...]
    summary: str
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """What to compare, as the user selects it; empty values select what `compare_runs` describes.

    `metrics` are ids or names of metrics; `report` is `system/name`; `by` are dimensions with commas between them, or
    another column of text.
    """

    metrics: tuple[str, ...] = ()
    report: str = ""
    system: str | None = None
    filters: Sequence[str] = ()
    no_filters: bool = False
    summary: str = ""
    by: str = ""


def compare_runs(session: Session, runs: Sequence[NamedRun], selection: Selection) -> RunComparison:
    """Compare runs with the first, in the selected metrics or else in those that a report shows or gates.

    The report is the selected one, or else the one that shows the first metric, or else the one of the runs'
    system that has all metrics of the others; its filters, summary and rules apply. Raises AssayError, also (usage) for
    fewer than two runs.
    """
    _refuse_single_run(runs)
    checked, report = _choose_report(session, runs, selection)
    if report:
        checked, report = add_gated_segments(checked, report)
    rules = report.judgement if report and report.judgement else DEFAULT_RULES
    titles = map_sections(report, choose_metrics(session, checked, report, selection))
    metrics: Sequence[Metric] = [checked.get_metric(name) for name in titles]
    applied_filters = filters.parse_filters(checked.package, report, selection.filters, selection.no_filters)

    def count_values(items: Sequence[ValueRequest]) -> Computation:
        return compute(session, checked, runs, Request(tuple(metrics), values=tuple(items)), applied_filters)

    checked, metrics, segments = _split(checked, metrics, selection.by, report, count_values)
    judged = tuple(dict.fromkeys((*metrics, *segments)))
    summary = choose_summary(checked.package, report, selection.summary)
    request = Request(judged, judged=judged, detailed=judged)
    computation = compute(session, checked, runs, request, applied_filters)
    versions = list_versions(computation.runs)

    def calculate(package: CheckedPackage, requested: Request) -> Computation:
        return compute(session, package, runs, requested, applied_filters)

    standardized = standardize_metrics(checked, judged, summary, calculate)
    judgements = judge_versions(checked, rules, judged, versions, summary, standardized=standardized)
    estimates = {metric.id: _estimate_averages(checked, metric, versions, summary, judgements.level)
                 for metric in metrics}  # fmt: skip
    return RunComparison(
        f"{checked.package.system}/{report.name}" if report else "",
        versions[0].id,
        tuple(
            ComparedVersion(
                version.id,
                (_sort_segments if selection.by else tuple)(
                    _compare_metric(metric, titles, judgements, version.id, estimates[metric.id], number)
                    for metric in metrics
                ),
                tuple(list_judgement_notes(judgements, metrics, version.id)),
                *_describe_runs(
                    report,
                    computation.runs,
                    (versions[0].id, version.id),
                    _list_conditions(metrics, judgements, version.id),
                ),
            )
            for number, version in enumerate(versions[1:], start=1)
        ),
        judgements.level,
        judgements.noise,
        tuple(item.label for item in applied_filters),
        summary,
        _list_messages(checked, computation, runs, metrics),
    )


def _refuse_single_run(runs: Sequence[NamedRun]) -> None:
    """Raise AssayError (usage) for fewer than two runs, or runs of one version."""
    if len({run.version or run.id for run in runs}) < 2:
        run_counts = f"several runs of `{runs[0].version}`" if len(runs) > 1 else f"{len(runs)} run"
        hint = "name a second run; `assay query METRIC --run RUN` prints the numbers of one"
        raise fail("runs", "a comparison needs two or more runs", found=run_counts, hint=hint, status=USAGE)


def _list_messages(
    checked: CheckedPackage, computation: Computation, runs: Sequence[NamedRun], metrics: Sequence[Metric]
) -> tuple[str, ...]:
    """Return notes on the names and files of runs, and the warnings about their data."""
    ingested_runs = [item.ingested_run for item in computation.runs]
    return (
        *_iter_repeats_notes(runs),
        *iter_shared_file_notes(ingested_runs, [item.id for item in runs]),
        *list_break_warnings(computation),
        *list_run_messages(checked, computation, metrics),
    )


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


def _iter_repeats_notes(runs: Sequence[NamedRun]) -> Iterator[str]:
    """Yield a note if the names of runs that are compared one by one are those of repeats."""
    versions = {} if any(run.version for run in runs) else find_repeats([run.id for run in runs])
    if versions:
        words = " ".join(f"{versions[run.id]}={run.place}" for run in runs)
        yield f"the names of these runs look like those of repeats; to compare versions, write: {words}"


def _list_conditions(metrics: Sequence[Metric], judgements: ReportJudgements, version: str) -> list[str]:
    """Return the names of the metrics that are better in no direction and changed."""
    changes = [(metric, judgements.changes[metric.id, version]) for metric in metrics if not is_segment(metric.id)]
    return [
        metric.name
        for metric, change in changes
        if change.judgement.direction is Direction.NEITHER and change.is_other_condition
    ]


def _describe_runs(
    report: Report | None, runs: Sequence[RunResult], compared: tuple[str, str], conditions: Sequence[str]
) -> tuple[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return why a comparison of two versions is suspect, and the numbers of hosts of their runs.

    It is if hosts, constants that should agree or `conditions` differ, or if data of a run are incomplete.
    """
    names = [(item.ingested_run.run.version or item.id, item) for item in runs]
    first, second = ([item for name, item in names if name == wanted] for wanted in compared)
    figures = (list(map(create_run_figures, first)), list(map(create_run_figures, second)))
    unequal = list_unequal_parameters(report, figures, compared)
    findings = describe_findings({item.id: item.quality.codes for item in (*first, *second)}, "see the warnings")
    hosts = (tuple(run.hosts for run in figures[0]), tuple(run.hosts for run in figures[1]))
    return " ".join(filter(None, (describe_caution([*unequal, *conditions]), findings))), hosts


def _choose_report(
    session: Session, runs: Sequence[NamedRun], selection: Selection
) -> tuple[CheckedPackage, Report | None]:
    """Return the package of the runs' system and the report to compare by; None if no report shows the first metric."""
    if selection.report:
        return session.find_report_of_runs(selection.report)
    if selection.metrics:
        subject = find_metric(session, selection.metrics[0], selection.system)
        return subject.checked, subject.report
    systems = session.list_systems(selection.system)
    local_runs = fetch_runs(session, runs, [item for name in systems for item in session.load_sources(name)])
    checked = find_system(session, local_runs[0], systems)
    reports = checked.package.reports
    widest_reports = _list_widest(checked, reports)
    if len(widest_reports) != 1:
        raise fail(
            "no-report",
            f"no single report of {checked.package.system} has the most metrics",
            found=", ".join(f"{checked.package.system}/{item.name}" for item in reports) or "none",
            hint="pass --report SYSTEM/NAME or --metric ID",
            status=USAGE,
        )
    return checked, widest_reports[0]


def _list_widest(checked: CheckedPackage, reports: Sequence[Report]) -> list[Report]:
    """Return the reports with the most metrics."""
    sizes = [len(set(list_report_metrics(checked, report))) for report in reports]
    return [report for report, size in zip(reports, sizes, strict=True) if size == max(sizes)]


def choose_metrics(
    session: Session, checked: CheckedPackage, report: Report | None, selection: Selection
) -> tuple[str, ...]:
    """Return the ids of the selected metrics, or else of those that a report compares or gates."""
    if selection.metrics or report is None:
        system = checked.package.system
        return tuple(find_metric(session, name, system).id for name in selection.metrics)
    gate = report.judgement.gate if report.judgement else ()
    return (*report.compared_metrics, *gate)


def map_sections(report: Report | None, names: Sequence[str]) -> dict[str, str]:
    """Return the title of the table that compares each metric, in the order of the report; others come last."""
    tables = report.metric_tables if report else ()
    titles = {name: title for title, metrics in reversed(tables) for name in metrics}
    order = report.compared_metrics if report else ()
    section_metrics = [name for name in order if name in names]
    return {name: titles.get(name, NO_SECTION) for name in dict.fromkeys((*section_metrics, *names))}


def _sort_segments(items: Iterable[ComparedMetric]) -> tuple[ComparedMetric, ...]:
    """Return metrics in their order, each before its segments, of which the one that became worst is the first."""
    groups: dict[tuple[str, str], list[ComparedMetric]] = {}
    for item in items:
        groups.setdefault((item.change.section, get_whole(item.change.metric)), []).append(item)
    return tuple(item for group in groups.values() for item in sorted(group, key=_rank_segment))


def _rank_segment(item: ComparedMetric) -> tuple[bool, float]:
    """Return the sort key of a metric among its segments: by percent for the worse, by size if neither way is worse."""
    change = item.change
    if change.base is None or change.value is None or not math.isfinite(change.value - change.base):
        return change.is_segment, math.inf
    growth = (change.value - change.base) / abs(change.base) if change.base else (change.value - change.base) * math.inf
    harm = {"lower": growth, "higher": -growth}.get(change.better, abs(growth))
    return change.is_segment, 0 if math.isnan(harm) else -harm


def _estimate_averages(
    checked: CheckedPackage, metric: Metric, versions: Sequence[JudgedVersion], summary: str, level: float
) -> list[tuple[float | None, float | None]]:
    """Return the average of a metric in each version, and the half-width of its interval in percent."""
    measured = [measure_version(checked, metric, version.runs, summary) for version in versions]
    noise = pool_variances([version.estimates for version in measured])
    return [(float(item.mean) if item.estimates else None, estimate_reach(item, noise, level)) for item in measured]


def _compare_metric(
    metric: Metric,
    titles: Mapping[str, str],
    judgements: ReportJudgements,
    version: str,
    estimates: Sequence[tuple[float | None, float | None]],
    number: int,
) -> ComparedMetric:
    """Return the change of a metric in a version, which has a `number` among all versions.

    `titles` are those of the sections by metric.
    """
    section = titles.get(metric.id) or titles[get_whole(metric.id)]
    judged = judgements.changes[metric.id, version]
    (base, base_spread), (value, spread) = estimates[0], estimates[number]
    data = build_change_data(metric.id, judged, judgements.level)
    change = build_change(metric.id, metric.name, metric.unit.symbol, section, (base, value), data, judgements.level)
    return ComparedMetric(change, (base_spread, spread), judged.sizes)
