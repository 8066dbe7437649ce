"""Build charts of a metric by the values of its dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from assay.engine.results import scale
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Chart as ChartSpec
from assay.number_styles.row import Distribution
from assay.report.document import Chart, Series
from assay.report.flat_charts import describe_few_samples, describe_flat_lines
from assay.report.row_units import RowUnit
from assay.report.run_results import RunFigures, add_unit


def build_split_charts(
    checked: CheckedPackage,
    figure: int,
    chart: ChartSpec,
    runs: Mapping[str, RunFigures],
    unit: RowUnit | None = None,
) -> Iterator[Chart]:
    """Yield a chart of each run, with a line for each segment of the metric; the first is number `figure`.

    Runs are by their labels. Values are in `unit`, by default that of the metric.
    """
    metric, dimensions = checked.get_metric(chart.metric), " and ".join(chart.by)
    factor, symbol = unit or (Fraction(1), metric.unit.symbol)
    for number, (label, run) in enumerate(runs.items()):
        of_run = (f", {label}", f"-{number + 1}") if len(runs) > 1 else ("", "")
        distributions = [(checked.get_metric(name).name, run.results.metrics[name]) for name in chart.lines]
        sizes = {name.removeprefix(f"{metric.name}: "): distribution.size for name, distribution in distributions}
        series = tuple(
            Series(name.removeprefix(f"{metric.name}: "), list_points(distribution, factor))
            for name, distribution in distributions
            if distribution.size
        )
        yield Chart(
            f"{'-'.join((metric.id, 'by', *chart.by))}{of_run[1]}",
            figure + number,
            f"{metric.name} by {dimensions}{of_run[0]}",
            add_unit(metric.name, symbol),
            symbol,
            chart.template,
            series,
            chart.scale,
            remark=describe_flat_lines(series, symbol) or describe_few_samples(sizes),
            shows=(metric.id,),
        )


def list_points(
    distribution: Distribution, factor: Fraction
) -> tuple[tuple[float, float, float | None, float | None], ...]:
    """Return the centiles of a distribution as points of a line: value, centile, least and greatest of the hosts.

    Values are those in the metric's unit times a factor.
    """
    total = distribution.factor * factor

    def scale_value(value: float | None) -> float | None:
        return None if value is None else scale(value, total)

    return tuple(
        (scale(item.value, total), item.centile, scale_value(item.low), scale_value(item.high))
        for item in distribution.centiles
    )
