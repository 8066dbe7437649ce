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

    Without averages it is the unit of the metric that it is a segment of, else that of the first of `neighbours`, the
    metrics of its section, that is in the same unit by its definition.
    """
    symbol = metric.unit.symbol
    if not get_style(choices.style).has_unit_prefixes:
        return Fraction(1), symbol
    whole = get_whole(metric.id)
    alike = sorted((item for item in neighbours if item.unit == metric.unit), key=lambda item: item.id != whole)
    for candidate in (metric, *alike):
        averages = [get_average(run, candidate, choices.summary) for run in runs]
        if any(average is not None for average in averages):
            return choose_prefix(averages, symbol)
    return Fraction(1), symbol
