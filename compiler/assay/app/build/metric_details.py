"""Collect the details of metrics from the cells and quantiles of runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from assay.app.judge.run_quantiles import read_quantiles
from assay.engine.results import RunResults
from assay.judgement.batches import count_places
from assay.judgement.change import Interval
from assay.judgement.shift import QuantileChange, compare_distributions
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.report.document import Part
from assay.report.metric_details import MetricDetails, RunCourse, build_metric_details
from assay.report.row_units import NO_UNITS, ReportUnits
from assay.report.run_results import RunFigures

NOTHING = MetricDetails((), ())
Courses = Mapping[str, tuple[RunCourse, ...]]
"""Metrics by their ids, in each run; the base is first."""


def collect_courses(
    checked: CheckedPackage, metrics: Iterable[Metric], runs: Mapping[str, RunFigures], level: float
) -> Courses:
    """Return the courses of metrics in runs (by their labels), without metrics that lack quantiles in some run."""
    courses = {}
    for metric in metrics:
        quantiles = [read_quantiles(checked, metric, run.results) for run in runs.values()]
        present_quantiles = [item for item in quantiles if item]
        if len(present_quantiles) < len(runs):
            continue
        courses[metric.id] = tuple(
            RunCourse(
                run.id,
                label,
                item,
                *_average_cells(checked, metric, run.results),
                compare_distributions(present_quantiles[0], item, level) if item is not present_quantiles[0] else (),
            )
            for item, (label, run) in zip(present_quantiles, runs.items(), strict=True)
        )
    return courses


def collect_detail_parts(
    metrics: Iterable[Metric], courses: Courses, first_figure: int, units: ReportUnits = NO_UNITS
) -> tuple[Part, ...]:
    """Return a part of a report for each metric, with its details."""
    parts = []
    for metric in metrics:
        details = NOTHING
        if metric.id in courses:
            details = build_metric_details(metric, courses[metric.id], first_figure, units.get(metric.id))
        first_figure += len(details.plots)
        text = details.text or ("Its rows have no time, or a run has no samples.",)
        tables = (details.table,) if details.table else ()
        parts.append(Part(f"details-{metric.id}", f"Details: {metric.name}", text, details.plots, tables))
    return tuple(parts)


def add_quantile_data(results: dict[str, object], courses: Courses, runs: Sequence[RunFigures]) -> None:
    """Add the quantiles of metrics to the judgement of `results.json`, unless versions have several runs."""
    if any(run.version for run in runs):
        return
    judgement: Any = results["judgement"]
    for name, changes in judgement["metrics"].items():
        for run, course in list(zip(runs, courses.get(name, ()), strict=False))[1:]:
            changes[run.id]["quantiles"] = [_build_change_data(item) for item in course.changes]


def _build_change_data(change: QuantileChange) -> dict[str, object]:
    """Return the change of a quantile as plain data: its bounds, or the reason for none."""
    data: dict[str, object] = {"share": float(change.share), "base": change.base, "value": change.value}
    if isinstance(change.interval, Interval):
        return data | {"low": change.interval.low, "high": change.interval.high}
    return data | {"reason": change.interval.value}


def _average_cells(
    checked: CheckedPackage, metric: Metric, results: RunResults
) -> tuple[tuple[tuple[float, float], ...], tuple[tuple[str, float], ...]]:
    """Return the means over time, by the middle of each place, and the means of hosts, by their names."""
    measured = checked.measured[metric.id]
    factor = Fraction(measured.factor) / 10**measured.decimals
    rows: Sequence[Mapping[str, Any]] = results.cells[metric.id]
    places = count_places(rows[0]["units"])
    times = _average_groups((row["place"], row["total"], row["size"]) for row in rows)
    hosts = _average_groups((row["cluster"], row["total"], row["size"]) for row in rows if row["cluster"])
    return (
        tuple(((place + 0.5) / places, float(mean * factor)) for place, mean in sorted(times.items())),
        tuple((host, float(mean * factor)) for host, mean in sorted(hosts.items())),
    )


def _average_groups(rows: Iterable[tuple[Any, int, int]]) -> dict[Any, Fraction]:
    """Return the mean of each key of (key, total, size)."""
    totals: defaultdict[Any, int] = defaultdict(int)
    sizes: defaultdict[Any, int] = defaultdict(int)
    for key, total, size in rows:
        totals[key] += total
        sizes[key] += size
    return {key: Fraction(totals[key], sizes[key]) for key in totals if sizes[key]}
