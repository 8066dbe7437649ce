"""Build notes below tables of metrics: judgements, numbers of samples, rows without a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.model.report import Report, Section
from assay.quality.finding import list_names
from assay.report.judged_cells import list_judgement_notes
from assay.report.run_results import RunFigures

_NO_FIGURE = "`charts` of the report has no figure of"
MOST_NAMED = 5
"""How many metrics a note names; it counts more."""


def list_verdict_notes(
    metrics: Sequence[Metric],
    runs: Sequence[RunFigures],
    run_labels: Sequence[str],
    judgements: ReportJudgements | None,
) -> Iterator[str]:
    """Yield the notes on judgements below a table, after the label of the run if there are several."""
    if judgements is None:
        return
    for run, label in zip(runs[1:], run_labels[1:], strict=True):
        for note in list_judgement_notes(judgements, metrics, run.id):
            yield f"{label}: {note}" if len(runs) > 2 else note


def list_chart_notes(report: Report, section: Section, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield a note with the metrics of a table that have samples, but no chart in a report with charts, and why."""
    drawn = {chart.metric for _, chart in report.metric_charts}
    omitted = [metric.name for metric in metrics if metric.id not in drawn and not is_formula(metric)]
    if drawn and omitted and not section.by:
        if len(omitted) > MOST_NAMED:
            measured = sum(not is_formula(metric) for metric in metrics)
            yield f"{_NO_FIGURE} {len(omitted)} of {measured} metrics."
            return
        yield f"{_NO_FIGURE} {list_names(omitted, MOST_NAMED)}."


def list_repeated_count_notes(checked: CheckedPackage, repeats: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each metric of a split section whose sample counts those of others repeat."""
    for first in dict.fromkeys(repeats.values()):
        names = [checked.get_metric(name).name for name, same in repeats.items() if same == first]
        yield f"The sample counts of {checked.get_metric(first).name} are also those of {list_names(names)}."


def list_count_notes(metrics: Sequence[Metric], counted_metric: str, runs: Sequence[RunFigures]) -> Iterator[str]:
    """Yield a note with the sample counts of metrics that have others than the one whose count the table ends with."""
    counts = {
        metric.id: " / ".join(str(run.results.metrics[metric.id].size) for run in runs)
        for metric in metrics
        if not is_formula(metric)
    }
    others = [metric for metric in metrics if counts.get(metric.id, "") not in ("", counts.get(counted_metric))]
    if counted_metric and others:
        listed = "; ".join(f"{metric.name}: {counts[metric.id]}" for metric in others)
        yield f"The sample count is that of the first metric. Other metrics have others: {listed}."
