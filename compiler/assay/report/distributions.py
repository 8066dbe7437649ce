"""Build charts of distributions: a line for each run, or in a chart of a run for each segment of the metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from assay.lang.model.report import Chart as ChartSpec
from assay.report.document import Chart, Series
from assay.report.flat_charts import describe_few_samples, describe_flat_lines
from assay.report.row_units import choose_row_unit
from assay.report.run_results import RunFigures, add_unit
from assay.report.sections import SectionContext
from assay.report.split_charts import build_split_charts, list_points

PERCENTILES = "percentiles"
"""The chart template with the share of the samples on x."""
_READ = (
    "Cumulative distributions, drawn at 29 percentiles, which are samples, not interpolations. The share of the "
    "samples that are at most {value} is at least {share}, and at most the next of these "
    "percentiles: 0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 87.5, 90 %, and so on. Where each host has a "
    "distribution of its own, the line is at the median of theirs, and a shaded band spans the least and the "
    "greatest. An arrow at the end of an axis says that the axis is cut there and samples lie beyond."
)
#: how to read a chart, above charts
NOTE = _READ.format(value="x", share="the height of the line at x")

#: how to read a chart whose versions have several runs
REPEATS = "Thin lines of one colour are the runs of one version."


def describe_charts(charts: Iterable[Chart]) -> str:
    """Return how to read charts."""
    swapped = {chart.template == PERCENTILES for chart in charts}
    if swapped == {True}:
        return _READ.format(value="y", share="the x at which the line reaches y")
    return f"{NOTE} Where the y axis has the values, x is the share." if True in swapped else NOTE


def build_charts(
    context: SectionContext, specs: Sequence[ChartSpec], runs: Mapping[str, RunFigures]
) -> tuple[Chart, ...]:
    """Build charts over runs, by their labels, in the units that rows have; figures are numbered from 1.

    A chart leaves out runs that lack the source of its metric.
    """
    get_metric = context.checked.get_metric
    name_counts = Counter(get_metric(item.metric).name for item in specs if not item.by)
    charts: list[Chart] = []
    for item in specs:
        measured = {label: run for label, run in runs.items() if item.metric in run.results.metrics}
        if item.by:
            lines = list(map(get_metric, item.lines))
            unit = choose_row_unit(lines[0], lines, context.units, context.choices) if lines else None
            charts += build_split_charts(context.checked, 1, item, measured, unit)
        else:
            is_repeated = name_counts[get_metric(item.metric).name] > 1
            charts.append(_build_chart(context, item, measured, is_repeated=is_repeated))
    return tuple(replace(chart, figure=number) for number, chart in enumerate(charts, start=1))


def _build_chart(
    context: SectionContext, chart: ChartSpec, runs: Mapping[str, RunFigures], *, is_repeated: bool
) -> Chart:
    """Build the chart of a metric; its caption has the id of the metric if another metric has the same name."""
    version_labels = {run: item.label for item in context.versions if item.figures.version for run in item.runs}
    metric = context.checked.get_metric(chart.metric)
    factor, symbol = choose_row_unit(metric, (), context.units, context.choices)
    distributions = {label: run.results.metrics[metric.id] for label, run in runs.items()}
    series = tuple(
        Series(label, list_points(distributions[label], factor), version_labels.get(run.id, ""))
        for label, run in runs.items()
        if distributions[label].size
    )
    sizes = {label: item.size for label, item in distributions.items()}
    return Chart(
        metric.id,
        1,
        metric.name,
        add_unit(metric.name, symbol),
        symbol,
        chart.template,
        series,
        chart.scale,
        of=metric.id if is_repeated else "",
        remark=describe_flat_lines(series, symbol) or describe_few_samples(sizes),
    )
