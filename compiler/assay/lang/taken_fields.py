"""Let an instant copy the fields that expressions take at it, also if `fields` of the instant does not name them."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator

from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Instant, Package


def add_taken_fields(package: Package) -> Package:
    """Return a package whose instants copy each field that an expression takes at them.

    A field that the bound table does not have is left to the checks, which report it.
    """
    columns_by_instant: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for grain_name, expression in _iter_expressions(package):
        for node in expression.walk():
            if node.op == "taken":
                columns_by_instant[grain_name, node.text][node.name] = None
    names_by_table = {
        **{item.name: {field.name for field in item.fields} for item in package.events},
        **{item.name: {column.name for column in item.columns} for item in package.relations},
    }

    def complete(grain: Grain, instant: Instant) -> Instant:
        columns = names_by_table.get(instant.of, set())
        names = [name for name in columns_by_instant.get((grain.name, instant.name), ()) if name in columns]
        return dataclasses.replace(instant, fields=tuple(dict.fromkeys((*instant.fields, *names))))

    grains = tuple(
        dataclasses.replace(grain, instants=tuple(complete(grain, instant) for instant in grain.instants))
        for grain in package.grains
    )
    return dataclasses.replace(package, grains=grains) if grains != package.grains else package


def _iter_expressions(package: Package) -> Iterator[tuple[str, Expression]]:
    """Yield each expression over rows of a grain, with the name of the grain."""
    for metric in package.metrics:
        yield metric.grain, metric.measure
        if metric.where:
            yield metric.grain, metric.where
    for package_filter in package.filters:
        yield from ((item.grain, item.holds) for item in package_filter.conditions)
    for grain in package.grains:
        yield from ((grain.name, item.value) for item in grain.derived)
        yield from ((grain.name, item.value) for item in grain.instants if item.value)
        if grain.runs:
            yield grain.runs.of, grain.runs.holds
