"""Resolve a package that passed all checks: sort its parts, write conversion factors, and hash its definitions."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

from assay.lang import formula, scopes
from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.conversions import write_factors
from assay.lang.definition_hash import hash_definitions
from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Metric, Package
from assay.lang.typing_rules import infer, infer_reduced
from assay.lang.units import get_package_library

_ORDERED = ("events", "summaries")  # parts of a package whose order matters


def resolve_package(package: Package, sources: str) -> CheckedPackage:
    """Return the checked package with its conversion factors.  Expects that `check_package` reports no problem."""
    units = get_package_library(package)
    package = _sort_parts(write_factors(package, units))
    grains = {grain.name: grain for grain in package.grains}
    measured = {}
    for metric in package.metrics:
        if formula.is_formula(metric):
            measured[metric.id] = MeasureResult("real", metric.unit.name, Fraction(1))
            continue
        inferred = infer(metric.measure, scopes.build_grain_scope(package, grains[metric.grain]), units.get_units())
        inferred = infer_reduced(inferred, metric.reduction.kind if metric.reduction else "")
        is_count = metric.reduction is not None and metric.reduction.kind == "count"
        kind = "unsigned" if not is_count and _is_unsigned(metric.measure, grains[metric.grain]) else inferred.type
        measured[metric.id] = MeasureResult(kind, inferred.unit, units.compute_factor(inferred.unit, metric.unit.name))
    return CheckedPackage(package, measured, hash_definitions(package), sources)


def _sort_parts(package: Package) -> Package:
    """Return the package with its parts sorted by id or name, except those whose order matters.

    Patterns of text lines are tried in the order of events, and the first summary is the default.
    """
    parts = {item.name: getattr(package, item.name) for item in dataclasses.fields(package)}
    ordered: dict[str, Any] = {
        name: tuple(sorted(part, key=_sort_key))
        for name, part in parts.items()
        if isinstance(part, tuple) and name not in _ORDERED
    }
    return dataclasses.replace(package, **ordered)


def _sort_key(item: Any) -> str:
    return str(item.id if isinstance(item, Metric) else item.name)


def _is_unsigned(node: Expression, grain: Grain) -> bool:
    """Return whether a measure is a column that cannot be negative, possibly converted."""
    if node.op in ("whole", "as_unit"):
        return _is_unsigned(node.operands[0], grain)
    columns = (*grain.columns, *(t.column for t in grain.tallies), *(d.column for d in grain.derived))
    types = {column.name: column.type for column in columns}
    return node.op == "column" and types[node.name] in ("unsigned", "huge")
