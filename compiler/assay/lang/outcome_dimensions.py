"""Make shares of rows dimensions of their grain, such as the share of requests that failed.

Half of the requests may fail at once, with as many texts of errors as requests: then their average time falls, though
no text is a dimension. What a share counts says which rows are alike. Not so the share of rows beyond a limit of what
another metric measures, such as that of slow requests: it changes because the metric does.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.expression import Expression
from assay.lang.model.package import Column, Derived, Grain, Metric
from assay.lang.model.vocabulary import Unit
from assay.lang.quantities import unwrap_measure
from assay.lang.reserved_names import choose_free_name

_NUMBERS = ("integer", "real", "quantity")
_ORDERS = ("above", "below", "at_least", "at_most")


def add_outcome_dimensions(checked: CheckedPackage, metrics: Iterable[Metric]) -> CheckedPackage:
    """Return the package with a boolean dimension for each of the metrics that is a share of the rows of its grain."""
    shares = defaultdict(list)
    measured = {
        (item.grain, name) for item in checked.package.metrics if not _find_condition(item)
        for name in _list_names(item.measure)
    }  # fmt: skip
    for metric in metrics:
        condition = _find_condition(metric)
        if condition and not (metric.where or metric.reduction or metric.per):
            limited = (name for node in condition.walk() if node.op in _ORDERS for name in _list_names(node))
            if any((metric.grain, name) in measured for name in limited):
                continue
            shares[metric.grain].append((metric, condition))
    if not shares:
        return checked
    grains = tuple(_add_dimensions(grain, shares[grain.name]) for grain in checked.package.grains)
    return dataclasses.replace(checked, package=dataclasses.replace(checked.package, grains=grains))


def _list_names(expression: Expression) -> set[str]:
    """Return the columns and instants that an expression reads."""
    return {node.name for node in expression.walk() if node.op in ("column", "instant", "taken")}


def _find_condition(metric: Metric) -> Expression | None:
    """Return what a sample is 1 for, or 100 %, and else 0."""
    node = unwrap_measure(metric.measure)
    while node.op == "times" and any(operand.op in _NUMBERS for operand in node.operands):
        node = unwrap_measure(next(operand for operand in node.operands if operand.op not in _NUMBERS))
    return node.operands[0] if node.op == "one_if" else None


def _add_dimensions(grain: Grain, shares: Iterable[tuple[Metric, Expression]]) -> Grain:
    derived, dimensions = [*grain.derived], [*grain.dimensions]
    names = [*(item.name for item in grain.all_columns), *(item.name for item in grain.instants)]
    used = {name.lower() for name in names}
    for metric, condition in shares:
        name = choose_free_name(metric.id, used)
        column = Column(name, "boolean", Unit("dimensionless", ""), metric.doc)
        derived.append(Derived(column, condition))
        dimensions.append(name)
        used.add(name)
    return dataclasses.replace(grain, derived=tuple(derived), dimensions=tuple(dimensions))
