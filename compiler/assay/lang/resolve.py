"""Resolve a package that passed all checks: sort its parts, write conversion factors, and hash its definitions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.lang import formula, scopes
from assay.lang.check.formulas import build_formula_scope
from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.definition_hash import hash_definitions
from assay.lang.expression_types import IN_ONE_UNIT, NONE, Scope, Units, convert_operands, infer, infer_reduced
from assay.lang.formula import write_conversions
from assay.lang.model.expression import Expression
from assay.lang.model.filters import Filter, Parameter
from assay.lang.model.package import Grain, Instant, Metric, Package
from assay.lang.model.report import Break, Report
from assay.lang.model.series import Series
from assay.lang.model.vocabulary import Cut, MetricBreak, Unit
from assay.lang.units import VALUE, UnitLibrary, compute_reading_factor, get_package_library

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


def write_factors(package: Package, library: UnitLibrary) -> Package:
    """Return the package with the conversion factors of all its expressions."""
    resolver = _Resolver(package, library)
    return dataclasses.replace(
        package,
        grains=tuple(resolver.convert_grain(item) for item in package.grains),
        metrics=tuple(resolver.convert_metric(item) for item in package.metrics),
        filters=tuple(resolver.convert_filter(item) for item in package.filters),
        series=tuple(resolver.convert_series(item) for item in package.series),
        reports=tuple(_collect_breaks(package, resolver.convert_report(item)) for item in package.reports),
        cuts=tuple(resolver.convert_cut(item) for item in package.cuts),
    )


def _collect_breaks(package: Package, report: Report) -> Report:
    """Return a report over publications with the breaks of its metrics; those that metrics have in common are one."""
    if report.over is None:
        return report
    metrics: dict[MetricBreak, list[str]] = {}
    declared = {metric.id: metric.breaks for metric in package.metrics}
    for name in (name for block in report.blocks for name in block.read_metrics()):
        for item in declared[name]:
            metrics.setdefault(item, []).append(name)
    breaks = (Break(tuple(names), item.since, item.run, item.doc) for item, names in metrics.items())
    over = dataclasses.replace(report.over, breaks=tuple(sorted(breaks, key=lambda item: item.since)))
    return dataclasses.replace(report, over=over)


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Writes factors into the parts of a package; each method returns a part with its factors."""

    package: Package
    library: UnitLibrary

    @property
    def units(self) -> Units:
        return self.library.get_units()

    def build_scope(self, grain: str, parameter: Parameter | None = None) -> Scope:
        definition = next(item for item in self.package.grains if item.name == grain)
        return scopes.build_grain_scope(self.package, definition, parameter)

    def convert_node(self, node: Expression, scope: Scope) -> Expression:
        """Return an expression with its factors."""
        operands = tuple(self.convert_node(operand, scope) for operand in node.operands)
        factor = ""
        if node.op == "whole":
            factor = str(self.units.compute_factor(infer(node.operands[0], scope, self.units).unit, node.unit))
        elif node.op == "quantity" and (kind := infer(node, scope, self.units)).type == "integer":
            factor = str(self.units.compute_factor(node.unit, kind.unit))
        elif node.op in IN_ONE_UNIT:
            operands = convert_operands(dataclasses.replace(node, operands=operands), scope, self.units)
        return dataclasses.replace(node, operands=operands, factor=factor)

    def convert_optional(self, node: Expression | None, scope: Scope) -> Expression | None:
        return self.convert_node(node, scope) if node else None

    def convert_grain(self, grain: Grain) -> Grain:
        """Return a grain with the factors of all its expressions."""
        scope, runs = self.build_scope(grain.name), grain.runs
        return dataclasses.replace(
            grain,
            instants=tuple(self.convert_instant(item, scope) for item in grain.instants),
            tallies=tuple(
                dataclasses.replace(t, where=self.convert_optional(t.where, self.build_row_scope(t.of)))
                for t in grain.tallies
            ),
            derived=tuple(dataclasses.replace(d, value=self.convert_node(d.value, scope)) for d in grain.derived),
            runs=dataclasses.replace(runs, holds=self.convert_node(runs.holds, self.build_scope(runs.of)))
            if runs
            else None,
        )

    def build_row_scope(self, table: str) -> Scope:
        return scopes.build_row_scope(self.package, table)

    def convert_instant(self, instant: Instant, scope: Scope) -> Instant:
        value, where = (
            self.convert_optional(instant.value, scope),
            self.convert_optional(instant.where, self.build_row_scope(instant.of)),
        )
        return dataclasses.replace(instant, value=value, where=where)

    def convert_metric(self, metric: Metric) -> Metric:
        """Return a metric with the factors of its measure, without fields that have no effect on it."""
        if formula.is_formula(metric):
            grain = formula.find_grain(formula.index_metrics(self.package), metric)
            measure = self.convert_formula(metric.measure, metric.unit)
            return dataclasses.replace(metric, grain=grain, measure=measure, sampled_only=False)
        scope = self.build_scope(metric.grain)
        measure, where = self.convert_node(metric.measure, scope), self.convert_optional(metric.where, scope)
        sampled_only = metric.sampled_only and bool(metric.per)  # otherwise it has no effect
        return dataclasses.replace(metric, measure=measure, where=where, sampled_only=sampled_only)

    def convert_formula(self, node: Expression, unit: Unit, amount: str = "") -> Expression:
        """Return a formula with its conversions."""
        return write_conversions(node, unit.name, build_formula_scope(self.package, amount), self.library)

    def convert_report(self, report: Report) -> Report:
        """Return a report with the conversions of its blocks, and the summary of the package unless it has one."""
        parts = (
            dataclasses.replace(part, blocks=tuple(block.resolve(self) for block in part.blocks))
            for part in report.parts
        )
        summary = report.summary or self.package.summaries[0].name
        return dataclasses.replace(report, summary=summary, parts=tuple(parts))

    def convert_series(self, item: Series) -> Series:
        """Return a series with the factor to its unit."""
        samples = tuple(
            dataclasses.replace(
                sampled, where=self.convert_optional(sampled.where, self.build_row_scope(sampled.event))
            )
            for sampled in item.samples
        )
        end_condition = (
            self.convert_optional(item.gone.where, self.build_row_scope(item.gone.event)) if item.gone else None
        )
        gone = item.gone and dataclasses.replace(item.gone, where=end_condition)
        if item.terms:
            return self.convert_computed(item)
        scope = self.build_row_scope(item.samples[0].event)
        value = self.convert_optional(item.value, scope)
        unit = infer(item.value, scope, self.units).unit if item.value else self.find_value_unit(item)
        factor, per_second = compute_reading_factor(self.units.compute_factor, self.package, item, unit)
        return dataclasses.replace(
            item, samples=samples, gone=gone, value=value, factor=str(factor), per_second=per_second
        )

    def find_value_unit(self, item: Series) -> str:
        """Return the unit of the field `value` of the records of a series; no unit if it has none, as for a count."""
        event = next(event for event in self.package.events if event.name == item.samples[0].event)
        return next((field.unit.name for field in event.fields if field.name == VALUE), NONE)

    def convert_computed(self, item: Series) -> Series:
        """Return a computed series with the factors of its value, and the factor to its unit."""
        assert item.value is not None
        scope = scopes.build_term_scope(self.package, item)
        factor = self.units.compute_factor(infer(item.value, scope, self.units).unit, item.unit.name)
        return dataclasses.replace(item, value=self.convert_node(item.value, scope), factor=str(factor))

    def convert_cut(self, item: Cut) -> Cut:
        return dataclasses.replace(item, where=self.convert_optional(item.where, self.build_row_scope(item.of)))

    def convert_filter(self, item: Filter) -> Filter:
        conditions = tuple(
            dataclasses.replace(c, holds=self.convert_node(c.holds, self.build_scope(c.grain, item.parameter)))
            for c in item.conditions
        )
        return dataclasses.replace(item, conditions=conditions)
