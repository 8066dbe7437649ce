"""Choose the unit that the row of a metric has, for its tables and figures alike."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from assay.lang.model.package import Metric
from assay.lang.segments import get_whole
from assay.report.run_results import Choices, RunFigures, get_average
from assay.styles.registry import get_style
from assay.styles.unit_prefix import choose_prefix

RowUnit = tuple[Fraction, str]
"""A value of the metric times the factor is in the unit with the symbol."""


def choose_row_unit(
    metric: Metric, neighbours: Sequence[Metric], runs: Sequence[RunFigures], choices: Choices
) -> RowUnit:
    """Return the unit in which the averages of a metric in some runs are printed.

    A metric and its segments among `neighbours`, the metrics of its section, have one unit. Without averages it is the
    unit of the first of the neighbours that is in the same unit by its definition.
    """
    symbol = metric.unit.symbol
    if not get_style(choices.style).has_unit_prefixes:
        return Fraction(1), symbol
    for candidate in (metric, *(item for item in neighbours if item.unit == metric.unit)):
        if unit := choose_common_unit(candidate, neighbours, runs, choices.summary):
            return unit
    return Fraction(1), symbol


def choose_common_unit(
    metric: Metric, neighbours: Sequence[Metric], runs: Sequence[RunFigures], summary: str
) -> RowUnit | None:
    """Return the unit that suits a metric and those of the neighbours that are segments of it, or of the same metric.

    None without averages.
    """
    whole = get_whole(metric.id)
    metrics = dict.fromkeys((metric, *(item for item in neighbours if get_whole(item.id) == whole)))
    averages = [get_average(run, item, summary) for item in metrics for run in runs]
    return choose_prefix(averages, metric.unit.symbol) if any(item is not None for item in averages) else None
