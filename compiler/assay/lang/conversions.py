"""Write conversion factors into the expressions of a package: of `whole`, of quantities, of formulas and of series."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from assay.lang import formula, scopes
from assay.lang.check.formulas import scope_of
from assay.lang.check.series import VALUE, read_unit
from assay.lang.formula import write_conversions
from assay.lang.model.article import Article, ClassTable
from assay.lang.model.expression import Expression
from assay.lang.model.package import Filter, Grain, Instant, Metric, Package, Parameter, Series
from assay.lang.model.vocabulary import Cut, Unit
from assay.lang.typing_rules import SIDE_BY_SIDE, Scope, Units, convert_operands, infer, side_by_side
from assay.lang.units import UnitLibrary


def write_factors(package: Package, library: UnitLibrary) -> Package:
    """Return the package with the conversion factors of `whole` and `quantity` in its expressions."""
    resolver = _Resolver(package, library)
    return dataclasses.replace(
        package,
        grains=tuple(resolver.grain(item) for item in package.grains),
        metrics=tuple(resolver.metric(item) for item in package.metrics),
        filters=tuple(resolver.filter(item) for item in package.filters),
        series=tuple(resolver.series(item) for item in package.series),
        articles=tuple(resolver.article(item) for item in package.articles),
        cuts=tuple(resolver.cut(item) for item in package.cuts),
    )


@dataclass(frozen=True, slots=True)
class _Resolver:
    package: Package
    library: UnitLibrary

    @property
    def units(self) -> Units:
        return self.library.units()

    def scope(self, grain: str, parameter: Parameter | None = None) -> Scope:
        definition = next(item for item in self.package.grains if item.name == grain)
        return scopes.of_grain(self.package, definition, parameter)

    def node(self, node: Expression, scope: Scope) -> Expression:
        """Return an expression with its factors."""
        operands = tuple(self.node(operand, scope) for operand in node.operands)
        factor = ""
        if node.op == "whole":
            factor = str(self.units.factor(infer(node.operands[0], scope, self.units).unit, node.unit))
        elif node.op == "quantity" and (kind := infer(node, scope, self.units)).type == "integer":
            factor = str(self.units.factor(node.unit, kind.unit))
        elif node.op in SIDE_BY_SIDE:
            operands = convert_operands(operands, side_by_side(node, scope, self.units), self.units)
        return dataclasses.replace(node, operands=operands, factor=factor)

    def maybe(self, node: Expression | None, scope: Scope) -> Expression | None:
        return self.node(node, scope) if node else None

    def grain(self, grain: Grain) -> Grain:
        """Return a grain with the factors of all its expressions."""
        scope, runs = self.scope(grain.name), grain.runs
        return dataclasses.replace(
            grain,
            instants=tuple(self.instant(item, scope) for item in grain.instants),
            tallies=tuple(dataclasses.replace(t, where=self.maybe(t.where, self.rows(t.of))) for t in grain.tallies),
            derived=tuple(dataclasses.replace(d, value=self.node(d.value, scope)) for d in grain.derived),
            runs=dataclasses.replace(runs, holds=self.node(runs.holds, self.scope(runs.of))) if runs else None,
        )

    def rows(self, table: str) -> Scope:
        return scopes.of_rows(self.package, table)

    def instant(self, instant: Instant, scope: Scope) -> Instant:
        value, where = self.maybe(instant.value, scope), self.maybe(instant.where, self.rows(instant.of))
        return dataclasses.replace(instant, value=value, where=where)

    def metric(self, metric: Metric) -> Metric:
        """Return a metric with the factors of its measure, without fields that have no effect on it."""
        if formula.is_formula(metric):
            grain = formula.grain(formula.by_id(self.package), metric)
            measure = self.formula(metric.measure, metric.unit)
            return dataclasses.replace(metric, grain=grain, measure=measure, sampled_only=False)
        scope = self.scope(metric.grain)
        measure, where = self.node(metric.measure, scope), self.maybe(metric.where, scope)
        sampled_only = metric.sampled_only and bool(metric.per)  # otherwise it has no effect
        return dataclasses.replace(metric, measure=measure, where=where, sampled_only=sampled_only)

    def formula(self, node: Expression, unit: Unit, amount: str = "") -> Expression:
        """Return a formula with its conversions."""
        return write_conversions(node, unit.name, scope_of(self.package, amount), self.library)

    def article(self, article: Article) -> Article:
        """Return an article with the conversions of its tables over classes."""
        parts = tuple(
            dataclasses.replace(part, class_tables=tuple(self.class_table(item) for item in part.class_tables))
            for part in article.parts
        )
        return dataclasses.replace(article, parts=parts)

    def class_table(self, item: ClassTable) -> ClassTable:
        value = self.formula(item.value, item.unit, item.classes[0].unit.name)
        classes = tuple(
            dataclasses.replace(class_, factor=str(self.library.base(class_.unit.name)[0])) for class_ in item.classes
        )
        return dataclasses.replace(item, value=value, classes=classes)

    def series(self, item: Series) -> Series:
        """Return a series with the factor to its unit."""
        samples = tuple(
            dataclasses.replace(sampled, where=self.maybe(sampled.where, self.rows(sampled.event)))
            for sampled in item.samples
        )
        end_condition = self.maybe(item.gone.where, self.rows(item.gone.event)) if item.gone else None
        gone = item.gone and dataclasses.replace(item.gone, where=end_condition)
        if item.terms:
            return self.computed(item)
        events = {event.name: event for event in self.package.events}
        value = next(field for field in events[item.samples[0].event].fields if field.name == VALUE)
        factor = self.units.factor(read_unit(value.unit.name, item.reading), item.unit.name)
        return dataclasses.replace(item, samples=samples, gone=gone, factor=str(factor))

    def computed(self, item: Series) -> Series:
        """Return a computed series with the factors of its value, and the factor to its unit."""
        assert item.value is not None
        scope = scopes.of_terms(self.package, item)
        factor = self.units.factor(infer(item.value, scope, self.units).unit, item.unit.name)
        return dataclasses.replace(item, value=self.node(item.value, scope), factor=str(factor))

    def cut(self, item: Cut) -> Cut:
        return dataclasses.replace(item, where=self.maybe(item.where, self.rows(item.of)))

    def filter(self, item: Filter) -> Filter:
        conditions = tuple(
            dataclasses.replace(c, holds=self.node(c.holds, self.scope(c.grain, item.parameter)))
            for c in item.conditions
        )
        return dataclasses.replace(item, conditions=conditions)
