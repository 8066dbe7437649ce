"""Results of a run: values of metrics and formulas in their units.

Numbers are in the metric's unit; exact integers are kept beside them.

A metric with one distribution for each host is summarised over the hosts, those without samples among them where the
metric counts them (as 0): its value at a centile is the hosts' median there (index floor(n / 2) of the ascending
values), its size the sum, its deviation what the summary says, its median that of the hosts' medians, its range the
least and the greatest.

Worked out in exact fractions, and made a double at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from assay.lang import formula
from assay.lang.formula import Figure, Figures, NoValueError
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Summary
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import RowRequest
from assay.sql.distributions import CENTILES

Number = int | float
MEDIAN = CENTILES.index("0.5")


@dataclass(frozen=True, slots=True)
class Centile:
    """A centile: its value as measured (integers exact, in the measure's unit).

    Over hosts: the median, the least and the greatest, and their deviation (n - 1); None for one distribution.
    """

    centile: float
    value: Number
    low: Number | None
    high: Number | None
    deviation: float | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """What a metric came to in a run.

    `averages` and `stddevs`: summary name -> number, in the metric's unit; `factor` converts what was measured to it.
    `mean` is that of pooled samples, as measured.
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

    def exact_average(self, summary: str) -> Fraction | None:
        """The average by a summary in the metric's unit, before it is rounded to a double; None without samples,
        or where these are not all finite."""
        found = self.averages[summary] if self.mean is None else self.mean
        if not self.size or not math.isfinite(found):
            return None
        return Fraction(found) * (1 if self.mean is None else self.factor)

    def scaled(self, value: Number) -> float:
        """A measured value in the metric's unit."""
        return scale(value, self.factor)


@dataclass(frozen=True, slots=True)
class FormulaResult:
    """What a formula came to in a run: summary name -> the formula over the metrics' averages by it, in the formula's
    unit (None where it has no value)."""

    averages: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class HostRow:
    """The distribution of one host: size, mean, deviation and centiles, as measured; all 0 without samples."""

    size: int
    mean: float
    stddev: float
    centiles: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class FilterCount:
    """How many rows of a grain a filter rejected, of how many."""

    filter: str
    argument: str
    grain: str
    rejected: int
    rows: int

    @property
    def sentence(self) -> str:
        """It in words."""
        label = f"{self.filter}={self.argument}" if self.argument else self.filter
        return f"filter {label} rejected {self.rejected} of {self.rows} of `{self.grain}`"


@dataclass(frozen=True, slots=True)
class RunResults:
    """All results of a run: metrics, one-row relations (of manifests), what filters rejected, warnings, rows, formulas.

    `rows` are those that were asked for, by the names of their statements; `notes` say why formulas have no value;
    `counts` say how complete the rows of metrics are (`sql.completeness`), by the names of their statements.
    """

    metrics: Mapping[str, Distribution]
    relations: Mapping[str, Mapping[str, object]]
    filters: tuple[FilterCount, ...]
    warnings: tuple[str, ...]
    rows: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)
    formulas: Mapping[str, FormulaResult] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    counts: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)


def scale(value: Number, factor: Fraction) -> float:
    """A number times a factor, rounded once where the number is an integer."""
    if isinstance(value, int):
        return value * factor.numerator / factor.denominator
    return float(value) * factor.numerator / factor.denominator


# also what stands for all hosts where a grain has no row, and so no host
NO_SAMPLES = HostRow(0, 0.0, 0.0, tuple(0 for _ in CENTILES))


def host_row(row: Sequence[object]) -> HostRow:
    """A row of size, mean, deviation, centiles as the engine yields it (None where there are no samples)."""
    size, mean, stddev, centiles = row
    if not size:
        return NO_SAMPLES
    assert isinstance(size, int)
    assert isinstance(centiles, list)
    assert isinstance(mean, float)
    assert isinstance(stddev, float)
    return HostRow(size, mean, stddev, tuple(centiles))


def pooled(row: HostRow, summaries: Sequence[Summary], factor: Fraction, integral: bool) -> Distribution:
    """The distribution of a metric whose samples are pooled: one average, whatever the summary."""
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


def over_hosts(rows: Sequence[HostRow], summaries: Sequence[Summary], factor: Fraction, integral: bool) -> Distribution:
    """The distribution of a metric over the hosts' distributions."""
    centiles = tuple(_centile(float(c), [row.centiles[i] for row in rows]) for i, c in enumerate(CENTILES))
    means = sorted(scale(row.mean, factor) for row in rows)
    return Distribution(
        sum(row.size for row in rows),
        {item.name: _average(means, item) for item in summaries},
        scale(centiles[MEDIAN].value, factor),
        {item.name: _deviation([scale(row.stddev, factor) for row in rows], item) for item in summaries},
        scale(min(row.centiles[0] for row in rows), factor),
        scale(max(row.centiles[-1] for row in rows), factor),
        centiles,
        factor,
        integral,
    )


def _centile(c: float, values: Sequence[Number]) -> Centile:
    ordered = sorted(values)
    return Centile(c, ordered[len(ordered) // 2], ordered[0], ordered[-1], deviation(ordered))


def deviation(ordered: Sequence[Number]) -> float:
    """Standard deviation of a sample (n - 1), 0 for one value; exact up to its root for integers."""
    count = len(ordered)
    if count < 2:
        return 0.0
    whole = [value for value in ordered if isinstance(value, int)]
    if len(whole) == count:
        squares = count * sum(value * value for value in whole) - sum(whole) ** 2
        return math.sqrt(Fraction(squares, count * (count - 1)))
    mean = math.fsum(ordered) / count
    return math.sqrt(math.fsum((value - mean) ** 2 for value in ordered) / (count - 1))


def _deviation(deviations: Sequence[float], summary: Summary) -> float:
    """Standard deviation of a metric over hosts: the greatest of theirs, or their mean."""
    return max(deviations) if summary.deviation == "greatest" else math.fsum(deviations) / len(deviations)


def _average(means: Sequence[float], summary: Summary) -> float:
    """Average of the hosts' means, ascending: of all of them, or (compatibility) of the lowest few.

    The compatible order of operations: each mean times the number of hosts, added up one after the other, the sum
    divided by that number times how many were added.
    """
    if not summary.lowest:
        return math.fsum(means) / len(means)
    kept = means[: summary.lowest]
    total = 0.0
    for mean in kept:
        total += len(means) * mean
    return total / (len(means) * len(kept))


@dataclass(frozen=True, slots=True)
class Formulas:
    """The formulas of a package over a run's figures; why one has no value is added to the `notes`, once."""

    checked: CheckedPackage
    constants: Mapping[str, object]
    notes: dict[str, None]

    def of_run(self, metric: Metric, found: Mapping[str, Distribution]) -> FormulaResult:
        """A formula over averages of metrics, by each summary."""
        figures = {item.name: averages(found, item.name) for item in self.checked.package.summaries}
        return FormulaResult({name: self.number(metric, given) for name, given in figures.items()})

    def rows(self, listed: RowRequest, found: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
        """Rows with what the formulas come to on each."""
        return [
            {**row, **{item.id: self.number(item, measured(self.checked, row)) for item in listed.formulas}}
            for row in found
        ]

    def number(self, metric: Metric, figures: Figures) -> float | None:
        """A formula's value in its unit; None, and a note, where there is none."""
        value = self.figure(metric.id, metric.measure, figures)
        return None if value is None else float(value)

    def figure(self, name: str, node: Expression, figures: Figures) -> Fraction | None:
        """A resolved formula's value, exact; None, and a note that names it, where there is none."""
        found = worked_out(self.checked, node, figures, self.constants)
        if found.value is None:
            self.notes[f"{name} has no value: {found.reason}."] = None
        return found.value


def worked_out(checked: CheckedPackage, node: Expression, figures: Figures, constants: Mapping[str, object]) -> Figure:
    """A formula over measured metrics and other formulas, which are worked out over the same figures first."""

    def value(name: str) -> Fraction:
        metric = checked.metric(name)
        if not formula.is_formula(metric):
            return figures(name)
        inner = formula.evaluate(metric.measure, value, constants)
        if inner.value is None:
            raise NoValueError(inner.reason)
        return inner.value

    return formula.evaluate(node, value, constants)


def averages(found: Mapping[str, Distribution], summary: str) -> Figures:
    """The averages of a run's metrics by a summary, in their units."""

    def value(name: str) -> Fraction:
        average = found[name].exact_average(summary)
        if average is None:
            raise NoValueError(f"{name} is no finite number" if found[name].size else f"{name} has no samples")
        return average

    return value


def measured(checked: CheckedPackage, row: Mapping[str, object]) -> Figures:
    """What metrics measure on a row, in their units."""

    def value(name: str) -> Fraction:
        found = row[name]
        if not isinstance(found, (int, float)) or not math.isfinite(found):
            raise NoValueError(f"{name} has no value")
        return Fraction(found) * checked.measured[name].factor

    return value
