"""The units of the rows that an article's `results.json` holds as they were measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import FROM, TO, Listed, Plan, cut_name, rows_of, span_of

#: types of columns that are no numbers, and have no unit
NO_NUMBERS = ("text", "boolean")
NANOSECOND = "ns"

Units = Mapping[str, Mapping[str, str]]
"""Column -> `unit`, a symbol (empty: a number without a unit), and `factor`: a value times it is in that unit."""


def units(checked: CheckedPackage, plan: Plan) -> dict[str, Units]:
    """The units of all rows that a plan yields, by the names of their statements; of columns of text there are none."""
    instant = _unit(NANOSECOND)
    found: dict[str, Units] = {item.name: dict(_listed(checked, item)) for item in plan.listed}
    for step in plan.series:
        found[rows_of(step.name)] = {"t_ns": instant, "value": _unit(step.series.unit.symbol)}
        found[span_of(step.series.windows)] = {FROM: instant, TO: instant}
    found |= {cut_name(item.name): {"t_ns": instant} for item in plan.cuts}
    return dict(sorted(found.items()))


def _listed(checked: CheckedPackage, item: Listed) -> Iterator[tuple[str, Mapping[str, str]]]:
    known = {column.name: column for column in item.grain.columns}
    for name in item.keys:
        if known[name].type not in NO_NUMBERS:
            yield name, _unit(known[name].unit.symbol)
    for metric in item.metrics:
        yield metric.id, _unit(metric.unit.symbol, str(checked.measured[metric.id].factor))
    for metric in item.formulas:
        yield metric.id, _unit(metric.unit.symbol)


def _unit(symbol: str, factor: str = "1") -> Mapping[str, str]:
    return {"unit": symbol, "factor": factor}
