"""Choose the metrics that a comparison without a build shows, and the report whose rules apply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.app.compute.ingest import find_system
from assay.app.compute.report_metrics import list_report_metrics
from assay.app.compute.subject import find_metric
from assay.app.judge.judged_results import NO_SECTION
from assay.app.session.runs import fetch_runs
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.model.vocabulary import Judgement, Margin, Unit
from assay.lang.segments import get_whole
from assay.report.verdicts.recorded_change import RecordedChange, record_change
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail

#: The rules of `S.Judgement::{=}`, for reports that judge nothing.
DEFAULT_RULES = Judgement("0.95", Margin("2", "", Unit("percent", "%")), (), 3)


def choose_report(
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
    reports = checked.package.reports_over_runs
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


def sort_segments(items: Iterable[ComparedMetric]) -> tuple[ComparedMetric, ...]:
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


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """The change of a metric from the base to a run.

    `spreads` are the half-widths of the intervals of both averages, in percent, and `sizes` the numbers of samples;
    None where they are not known.
    """

    change: RecordedChange
    spreads: tuple[float | None, float | None]
    sizes: tuple[int, int] | None


Estimate = tuple[float | None, float | None]
"""An average, and the half-width of its interval in percent."""


def compare_metric(
    judgements: ReportJudgements, metric: Metric, version: str, section: str, estimates: Sequence[Estimate]
) -> ComparedMetric:
    """Return the change of a metric in a version, from the estimates of the base and of the version."""
    (base, base_spread), (value, spread) = estimates
    change = record_change(judgements, metric, version, section, (base, value))
    return ComparedMetric(change, (base_spread, spread), judgements.changes[metric.id, version].sizes)


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

    def df(self) -> Any:
        """Return the changes as a data frame of pandas, with the members that `assay compare --format csv` has.

        Raises ImportError without pandas.
        """
        import pandas  # type: ignore[import-untyped]

        from assay.app.compare.comparison_forms import export_comparison

        return pandas.DataFrame(export_comparison(self)["changes"])

    def _repr_html_(self) -> str:
        from assay.app.compare.comparison_forms import format_html

        return format_html(self)
