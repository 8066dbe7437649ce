"""Choose the unit that a metric has in a report, for its tables, figures and sentences alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.segments import get_whole
from assay.number_styles.registry import get_style
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.run_results import Choices, RunFigures, get_average

RowUnit = tuple[Fraction, str]
"""A value of the metric times the factor is in the unit with the symbol."""

ReportUnits = Mapping[str, RowUnit]
"""The unit of each metric of a report that has averages, by its id."""

NO_UNITS: ReportUnits = {}


def choose_report_units(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], summary: str
) -> ReportUnits:
    """Return the units that suit the averages of the metrics of a report: one of a metric and its segments."""
    names = list(report.compared_metrics)
    names += [name for _, chart in report.metric_charts for name in chart.metrics]
    return choose_units(map(checked.get_metric, dict.fromkeys(names)), runs, summary)


def choose_units(metrics: Iterable[Metric], runs: Sequence[RunFigures], summary: str) -> ReportUnits:
    """Return the units that suit the averages of metrics: one of a metric and its segments; none without averages."""
    kin: dict[str, list[Metric]] = {}
    for metric in metrics:
        kin.setdefault(get_whole(metric.id), []).append(metric)
    units: dict[str, RowUnit] = {}
    for members in kin.values():
        averages = [get_average(run, metric, summary) for metric in members for run in runs]
        if any(item is not None for item in averages):
            units |= dict.fromkeys((item.id for item in members), choose_prefix(averages, members[0].unit.symbol))
    return units


def choose_row_unit(metric: Metric, neighbours: Sequence[Metric], units: ReportUnits, choices: Choices) -> RowUnit:
    """Return the unit in which the averages of a metric are printed.

    Without averages it is the unit of the first of the neighbours, the metrics of its section, that is in the same unit
    by its definition.
    """
    if get_style(choices.style).has_unit_prefixes:
        for candidate in (metric, *(item for item in neighbours if item.unit == metric.unit)):
            if candidate.id in units:
                return units[candidate.id]
    return Fraction(1), metric.unit.symbol


def describe_units(metrics: Iterable[Metric], units: ReportUnits, choices: Choices) -> str:
    """Return that metrics have other units in print than in their definitions; empty if none has."""
    if any(choose_row_unit(metric, (), units, choices)[1] != metric.unit.symbol for metric in metrics):
        return "Units are scaled to the values; the data dictionary has those of the definitions."
    return ""
