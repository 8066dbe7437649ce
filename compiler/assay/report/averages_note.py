"""Describe what the values of a report are averages of."""

from __future__ import annotations

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, list_measured
from assay.lang.model.report import Report
from assay.report.percentiles import describe_columns, list_further_columns
from assay.report.row_units import ReportUnits, describe_units
from assay.report.run_results import Choices


def describe_averages(
    checked: CheckedPackage, report: Report, choices: Choices, units: ReportUnits, has_repeats: bool
) -> str:
    """Return what values are averages of, how those of groups (hosts) are averaged, what percentiles and units are."""
    further = {name for _, section in report.metric_sections for name in list_further_columns(section, choices)}
    meaning, summary = describe_columns(further), choices.summary
    names = [*report.compared_metrics, *(item.metric for _, item in report.metric_charts)]
    metrics = [checked.get_metric(name) for name in names]
    measured_metrics = list_measured(index_metrics(checked.package), metrics)
    unit_note = describe_units(metrics, units, choices) if report.dictionary else ""
    groups = sorted({metric.per for metric in measured_metrics if metric.per})
    all_samples = (
        "The average of a run is that of its samples." if has_repeats else "Values are averages of all samples."
    )
    if all(metric.per for metric in measured_metrics):
        all_samples = ""
    if not groups:
        return " ".join(filter(None, (all_samples, meaning, unit_note)))
    doc = next((item.doc for item in checked.package.summaries if item.name == summary), "").rstrip(".")
    subject = "Those of metrics" if all_samples else "Metrics"
    sentence = f"{subject} with a distribution for each {' or '.join(groups)} are averaged by the summary {summary}."
    return " ".join(filter(None, (all_samples, sentence, f"{doc}." if doc else "", meaning, unit_note)))
