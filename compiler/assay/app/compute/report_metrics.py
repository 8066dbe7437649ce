"""List the metrics that a report computes, compares and judges."""

from __future__ import annotations

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report


def list_report_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return every metric of which a report needs averages or distributions, once, in the package's order."""
    names = {name for _, chart in report.metric_charts for name in chart.metrics} | set(report.also)
    names |= {name for group in report.dictionary for name in group.metrics}
    names |= set(report.compared_metrics)
    names |= {name for block in report.blocks for name in block.read_averages()}
    return tuple(metric for metric in checked.package.metrics if metric.id in names)


def list_shown_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return the metrics that a report compares, and those of its charts, in their order."""
    names = (*report.compared_metrics, *(chart.metric for _, chart in report.metric_charts))
    return tuple(map(checked.get_metric, dict.fromkeys(names)))


def list_judged_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return the metrics whose changes a report judges: those that it compares, and those that its gate names."""
    names = {*report.compared_metrics, *(report.judgement.gate if report.judgement else ())}
    return tuple(metric for metric in checked.package.metrics if metric.id in names)
