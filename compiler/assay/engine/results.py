"""The results of a run: values of metrics and formulas in their units.

Results are in the unit of the metric; integers are also stored as measured, where they are exact.

A metric with one distribution for each host is summarized over the hosts.  Hosts without samples count as 0 where the
metric includes them.  The value at a centile is the median of the hosts' values at that centile (index floor(n / 2) of
the ascending values); the size is the sum; the summary defines the deviation; the median is that of the hosts' medians;
the range is from the least to the greatest.

Computation is in exact fractions, which become doubles at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import Figure, Figures, NoValueError
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Summary
from assay.plan.planner import Plan, name_groups_statement
from assay.plan.request import RowRequest
from assay.util.centiles import CENTILES

Number = int | float
MEDIAN = CENTILES.index("0.5")


@dataclass(frozen=True, slots=True)
class Centile:
    """A centile with its value as measured: in the unit of the measure, integers exact.

    Over hosts the value is the median, with the least, the greatest and the deviation (n - 1) of the hosts' values;
    these are None for a single distribution.
    """

    centile: float
    value: Number
    low: Number | None
    high: Number | None
    deviation: float | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution of a metric in a run.

    `averages` and `stddevs` map the name of a summary to a number in the metric's unit; `factor` converts measured
    values to that unit.  `mean` is the mean of pooled samples, as measured; None over hosts.
    """

    size: int
    averages: Mapping[str, float]
    median: float
    stddevs: Mapping[str, float]
    least: float
    greatest: float
    centiles: tuple[Centile, ...]
    factor: Fraction
    integral: bool
    mean: float | None = None

    def compute_exact_average(self, summary: str) -> Fraction | None:
        """Return the average by a summary in the metric's unit, before it is rounded to a double.

        None without samples, or where the average is not finite.
        """
        average = self.averages[summary] if self.mean is None else self.mean
        if not self.size or not math.isfinite(average):
            return None
        return Fraction(average) * (1 if self.mean is None else self.factor)

    def scale_value(self, value: Number) -> float:
        """Return a measured value in the metric's unit."""
        return scale(value, self.factor)


@dataclass(frozen=True, slots=True)
class FormulaResult:
    """The result of a formula in a run.

    `averages` maps the name of a summary to the formula over the metrics' averages, in the formula's unit; None where
    it has no value. `slopes` are its partial derivatives there, by summary and measured metric; empty for a summary
    without a value, and for formulas that are not smooth.
    """

    averages: Mapping[str, float | None]
    slopes: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostRow:
    """The distribution of one host: size, mean, deviation and centiles, as measured; all 0 without samples."""

    size: int
    mean: float
    stddev: float
    centiles: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class FilterCount:
    """The number of rows of a grain, and how many of them a filter rejected."""

    filter: str
    argument: str
    grain: str
    rejected: int
    rows: int

    @property
    def label(self) -> str:
        """Return the filter as on the command line."""
        return f"{self.filter}={self.argument}" if self.argument else self.filter

    @property
    def sentence(self) -> str:
        """Return the counts as a sentence."""
        return f"filter {self.label} rejected {self.rejected} of {self.rows} of `{self.grain}`"


@dataclass(frozen=True, slots=True)
class RunResults:
    """All results of a run: metrics, relations of one row (for manifests), filters, warnings, rows, formulas.

    `rows` are the requested rows, by the names of their statements; `cells` and `quantiles` those of judged metrics, by
    metric; `notes` say why formulas have no value; `groups` are the distributions of metrics by the values of a column;
    `counts` say how complete the rows of metrics are (`sql.completeness`), by the names of their statements.
    `impossible` are metrics many of whose samples cannot be what they measure, `bounded` those of which some samples
    are only known to be at least their value, `lost_records` those of which records are missing, with the kinds of
    findings that say so: `(kind, metric)`.
    """

    metrics: Mapping[str, Distribution]
    relations: Mapping[str, Mapping[str, object]]
    filters: tuple[FilterCount, ...]
    warnings: tuple[str, ...]
    rows: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)
    formulas: Mapping[str, FormulaResult] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    counts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    cells: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    quantiles: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, HostRow]] = field(default_factory=dict)
    impossible: frozenset[str] = frozenset()
    bounded: frozenset[str] = frozenset()
    lost_records: frozenset[tuple[str, str]] = frozenset()


def scale(value: Number, factor: Fraction) -> float:
    """Return a number times a factor, rounded once if the number is an integer."""
    if isinstance(value, int):
        return value * factor.numerator / factor.denominator
    return float(value) * factor.numerator / factor.denominator


# also the only row of a grain that has no rows, and so no hosts
NO_SAMPLES = HostRow(0, 0.0, 0.0, tuple(0 for _ in CENTILES))


def read_host_row(row: Sequence[object]) -> HostRow:
    """Convert a row of size, mean, deviation and centiles from the engine, which has nulls without samples."""
    size, mean, stddev, centiles = row
    if not size:
        return NO_SAMPLES
    assert isinstance(size, int)
    assert isinstance(centiles, list)
    assert isinstance(mean, float)
    assert isinstance(stddev, float)
    return HostRow(size, mean, stddev, tuple(centiles))


def read_groups(
    plan: Plan, answers: Mapping[str, Any], rows: dict[str, Sequence[Mapping[str, Any]]]
) -> dict[str, Mapping[str, HostRow]]:
    """Return the distributions of the grouped metrics of a plan, by the values of their `per`.

    They are the answer of the metric's own statement, else rows of a statement, which are taken from `rows`.
    """
    groups: dict[str, Mapping[str, HostRow]] = {}
    for metric in plan.grouped:
        statement_rows = rows.pop(name_groups_statement(metric), None)
        group_rows = answers[metric.id] if statement_rows is None else [list(row.values()) for row in statement_rows]
        groups[metric.id] = {str(row[0]): read_host_row(row[1:]) for row in group_rows}
    return groups


def summarize_pooled(row: HostRow, summaries: Sequence[Summary], factor: Fraction, integral: bool) -> Distribution:
    """Return the distribution of a metric whose samples are pooled: the same average for every summary."""
    centiles = tuple(
        Centile(float(c), value, None, None, None) for c, value in zip(CENTILES, row.centiles, strict=True)
    )
    return Distribution(
        row.size,
        {item.name: scale(row.mean, factor) for item in summaries},
        scale(row.centiles[MEDIAN], factor),
        {item.name: scale(row.stddev, factor) for item in summaries},
        scale(row.centiles[0], factor),
        scale(row.centiles[-1], factor),
        centiles,
        factor,
        integral,
        row.mean,
    )


def summarize_hosts(
    rows: Sequence[HostRow], summaries: Sequence[Summary], factor: Fraction, integral: bool
) -> Distribution:
    """Return the distribution of a metric over the distributions of its hosts."""
    centiles = tuple(_summarize_centile(float(c), [row.centiles[i] for row in rows]) for i, c in enumerate(CENTILES))
    means = sorted(scale(row.mean, factor) for row in rows)
    return Distribution(
        sum(row.size for row in rows),
        {item.name: _summarize_means(means, item) for item in summaries},
        scale(centiles[MEDIAN].value, factor),
        {item.name: _summarize_deviations([scale(row.stddev, factor) for row in rows], item) for item in summaries},
        scale(min(row.centiles[0] for row in rows), factor),
        scale(max(row.centiles[-1] for row in rows), factor),
        centiles,
        factor,
        integral,
    )


def _summarize_centile(c: float, values: Sequence[Number]) -> Centile:
    ordered = sorted(values)
    return Centile(c, ordered[len(ordered) // 2], ordered[0], ordered[-1], compute_deviation(ordered))


def compute_deviation(ordered: Sequence[Number]) -> float:
    """Return the standard deviation (n - 1) of values; 0 for a single value.

    For integers it is exact up to the square root.
    """
    count = len(ordered)
    if count < 2:
        return 0.0
    integers = [value for value in ordered if isinstance(value, int)]
    if len(integers) == count:
        squares = count * sum(value * value for value in integers) - sum(integers) ** 2
        return math.sqrt(Fraction(squares, count * (count - 1)))
    mean = math.fsum(ordered) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in ordered) / (count - 1))


def _summarize_deviations(deviations: Sequence[float], summary: Summary) -> float:
    """Return the deviation of a metric over hosts: the greatest of the hosts' deviations, or their mean."""
    return max(deviations) if summary.deviation == "greatest" else math.fsum(deviations) / len(deviations)


def _summarize_means(means: Sequence[float], summary: Summary) -> float:
    """Return the average of the hosts' means, which are ascending: of all of them, or of the lowest few.

    For the lowest few the order of operations is a compatibility choice: each mean times the number of hosts, added up
    one after the other, and the sum divided by that number times the number of means.
    """
    if not summary.lowest:
        return math.fsum(means) / len(means)
    lowest = means[: summary.lowest]
    total = 0.0
    for mean in lowest:
        total += len(means) * mean
    return total / (len(means) * len(lowest))


_RELATIVE_STEP = Fraction(1, 10**6)
"""Of an input, to measure slopes: the error of a central difference is its square."""


@dataclass(frozen=True, slots=True)
class Formulas:
    """The formulas of a package in a run; `notes` collects, once each, the reasons why formulas have no value."""

    checked: CheckedPackage
    constants: Mapping[str, object]
    notes: dict[str, None]

    def evaluate_run(self, metric: Metric, distributions: Mapping[str, Distribution]) -> FormulaResult:
        """Return the formula over the averages of metrics, for each summary."""
        figures = {item.name: build_average_lookup(distributions, item.name) for item in self.checked.package.summaries}
        averages = {name: self.evaluate_number(metric, lookup) for name, lookup in figures.items()}
        metrics_by_id = formula.index_metrics(self.checked.package)
        if not formula.is_smooth(metrics_by_id, metric):
            return FormulaResult(averages)
        inputs = [item.id for item in formula.list_measured(metrics_by_id, [metric])]
        slopes = {
            name: self._measure_slopes(metric, inputs, figures[name]) for name, value in averages.items() if value
        }
        return FormulaResult(averages, slopes)

    def _measure_slopes(self, metric: Metric, inputs: Sequence[str], figures: Figures) -> dict[str, Fraction]:
        """Return by how much a formula changes with each of its inputs: central differences of small steps.

        Empty where the formula has no value beside a point.
        """
        slopes: dict[str, Fraction] = {}
        for name in inputs:
            try:
                step = _RELATIVE_STEP * abs(figures(name)) or _RELATIVE_STEP
            except NoValueError:  # the formula takes the value of another metric instead
                continue
            below, above = (
                evaluate_formula(self.checked, metric.measure, _shift_figure(figures, name, by), self.constants).value
                for by in (-step, step)
            )
            if below is None or above is None:
                return {}
            slopes[name] = (above - below) / (2 * step)
        return slopes

    def extend_rows(self, request: RowRequest, rows: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
        """Return rows with the values of the formulas on each row."""
        if not request.formulas:
            return rows
        return [
            {
                **row,
                **{
                    item.id: self.evaluate_number(item, build_row_lookup(self.checked, row))
                    for item in request.formulas
                },
            }
            for row in rows
        ]

    def evaluate_number(self, metric: Metric, figures: Figures) -> float | None:
        """Return the value of a formula in its unit; None, with a note, if it has none."""
        value = self.evaluate_figure(metric.id, metric.measure, figures)
        return None if value is None else float(value)

    def evaluate_figure(self, name: str, node: Expression, figures: Figures) -> Fraction | None:
        """Return the exact value of a resolved formula; None, with a note that names it, if it has none."""
        figure = evaluate_formula(self.checked, node, figures, self.constants)
        if figure.value is None:
            self.notes[f"{name} has no value: {figure.reason}."] = None
        return figure.value


def _shift_figure(figures: Figures, name: str, by: Fraction) -> Figures:
    """Return a function that adds to the value of one metric."""
    return lambda item: figures(item) + (by if item == name else 0)


def evaluate_formula(
    checked: CheckedPackage, node: Expression, figures: Figures, constants: Mapping[str, object]
) -> Figure:
    """Evaluate a formula over metrics and other formulas, which are evaluated over the same figures."""

    def get_value(name: str) -> Fraction:
        metric = checked.get_metric(name)
        if not formula.is_formula(metric):
            return figures(name)
        inner = formula.evaluate(metric.measure, get_value, constants)
        if inner.value is None:
            raise NoValueError(inner.reason)
        return inner.value

    return formula.evaluate(node, get_value, constants)


def build_average_lookup(distributions: Mapping[str, Distribution], summary: str) -> Figures:
    """Return a function from a metric to its average by a summary, in its unit."""

    def get_value(name: str) -> Fraction:
        average = distributions[name].compute_exact_average(summary)
        if average is None:
            problem = "is not a finite number" if distributions[name].size else "has no samples"
            raise NoValueError(f"{name} {problem}")
        return average

    return get_value


def build_row_lookup(checked: CheckedPackage, row: Mapping[str, object]) -> Figures:
    """Return a function from a metric to its value on a row, in its unit."""

    def get_value(name: str) -> Fraction:
        number = row[name]
        if not isinstance(number, (int, float)) or not math.isfinite(number):
            raise NoValueError(f"{name} has no value")
        return Fraction(number) * checked.measured[name].factor

    return get_value
