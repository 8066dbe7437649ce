"""Formulas over what a run's metrics came to: over their averages, and over what they measure on each row.

Worked out in exact fractions, and made a double at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.engine.results import Distribution, FormulaResult
from assay.lang import formula
from assay.lang.formula import Figure, Figures, NoValueError
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import Listed


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

    def rows(self, listed: Listed, found: Sequence[Mapping[str, object]]) -> Sequence[Mapping[str, object]]:
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
