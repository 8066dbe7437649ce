"""What the data dictionary says of a metric; of a formula also how it is worked out."""

from __future__ import annotations

from assay.lang import formula
from assay.lang.model.package import Metric, Worked
from assay.lang.normal_form import CheckedPackage
from assay.report.document import Entry


def entry(checked: CheckedPackage, name: str) -> Entry:
    """The entry of a metric."""
    metric = checked.metric(name)
    told = (metric.doc, *(_worked(metric) if formula.is_formula(metric) else ()))
    return Entry(metric.id, metric.name, metric.unit.symbol, "\n".join(told), checked.definitions[name])


def _worked(metric: Metric) -> tuple[str, ...]:
    """Formula and unit, every conversion with its exact factor, worked examples: a line each."""
    conversions = [f"1 {unit} = {factor} {base}" for unit, factor, base in formula.units_of(metric.measure)]
    return (
        f"Formula: {formula.format_formula(metric.measure)}, in {metric.unit.name}.",
        *([f"Conversions, exact: {'; '.join(conversions)}."] if conversions else []),
        *(f"Example: {_example(item)}." for item in metric.examples),
    )


def _example(example: Worked) -> str:
    given = ", ".join(
        f"{item.metric} = {formula.number_text(item.value)} {item.unit.symbol}".strip() for item in example.given
    )
    why = f" ({example.doc})" if example.doc else ""
    return f"{given} gives {example.shows} {example.unit.symbol}".strip() + why
