"""A formula over averages of metrics as one query, in doubles: what an auditor runs beside the exact result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from sqlglot import exp

from assay.lang import formula
from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Metric
from assay.lang.model.vocabulary import Summary
from assay.lang.normal_form import CheckedPackage
from assay.sql import dialect, distributions
from assay.sql.dialect import column
from assay.sql.expressions import literal

Constants = Mapping[str, object]
AVERAGE = "average"


def query(checked: CheckedPackage, metric: Metric, summary: Summary, constants: Constants) -> exp.Select:
    """One row: `value`, the formula in its unit, and the average of each metric that it is over, in that one's unit.

    Null where there are no samples, or something is divided by 0.
    """
    known = formula.index_metrics(checked.package)
    grains = {grain.name: grain for grain in checked.package.grains}
    measured = formula.list_measured(known, [metric])
    stages = [(_stage(item.id), _average(checked, item, grains[item.grain], summary, constants)) for item in measured]
    values = [exp.alias_(column(AVERAGE, _stage(item.id)), item.id, quoted=True) for item in measured]
    value = _Compiler(known, constants).value(metric.measure)
    found = dialect.select(exp.alias_(value, "value"), *values).from_(dialect.table(_stage(measured[0].id)), copy=False)
    for item in measured[1:]:
        found = found.join(dialect.table(_stage(item.id)), join_type="CROSS", copy=False)
    found = dialect.staged(found, stages)
    found.add_comments([f" {metric.id}: {metric.name} ", f" definition {checked.definitions[metric.id]} "])
    return found


def _stage(metric: str) -> str:
    return f"average_of_{metric}"


def _average(
    checked: CheckedPackage, metric: Metric, grain: Grain, summary: Summary, constants: Constants
) -> exp.Select:
    """One row: the average of a metric in its unit; over hosts as the summary says."""
    measured = checked.measured[metric.id]
    rows = distributions.distribution(metric, distributions.domain_of(grain), measured.integral, constants)
    named = exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier("distribution")))
    average = _over_hosts(summary, metric.sampled_only) if metric.per else column("mean")
    return exp.Select(expressions=[exp.alias_(_scaled(average, measured.factor), AVERAGE)]).from_(named, copy=False)


def _over_hosts(summary: Summary, sampled_only: bool) -> exp.Expr:
    """The mean of the hosts' means, of all of them or of the lowest few; hosts without samples are left out or 0."""
    means: exp.Expr
    if sampled_only:
        there = exp.Where(this=exp.Not(this=exp.Is(this=column("mean"), expression=exp.Null())))
        means = exp.Filter(this=dialect.ordered_list(column("mean")), expression=there)
    else:
        means = dialect.ordered_list(exp.Coalesce(this=column("mean"), expressions=[dialect.real("0.0")]))
    if summary.lowest:
        bounds = [dialect.integer(1), dialect.integer(summary.lowest)]
        means = exp.Anonymous(this="list_slice", expressions=[means, *bounds])
    average = exp.Div(this=dialect.exact_sum(means), expression=dialect.length(means.copy()))
    some = exp.GT(this=exp.Sum(this=column("size")), expression=dialect.integer(0))
    return exp.Case(ifs=[exp.If(this=some, true=average)])


def _scaled(value: exp.Expr, factor: Fraction) -> exp.Expr:
    """A value times an exact factor: multiplied first, divided last."""
    if factor.numerator != 1:
        value = exp.Mul(this=exp.paren(value), expression=dialect.real(str(factor.numerator)))
    if factor.denominator != 1:
        value = exp.Div(this=exp.paren(value), expression=dialect.real(str(factor.denominator)))
    return value


class _Compiler:
    def __init__(self, known: Mapping[str, Metric], constants: Constants) -> None:
        self.known = known
        self.constants = constants

    def value(self, node: Expression) -> exp.Expr:
        """The SQL of a resolved formula."""
        leaf = self.leaf(node)
        if leaf is not None:
            return leaf
        operands: list[exp.Expr] = [exp.paren(self.value(operand)) for operand in node.operands]
        return _OPERATORS[node.op](node, operands)

    def leaf(self, node: Expression) -> exp.Expr | None:
        """A metric, constant or number; None for an operator."""
        if node.op == "metric":
            of = self.known[node.name]
            inner = self.value(of.measure) if formula.is_formula(of) else column(AVERAGE, _stage(node.name))
            return _scaled(inner, Fraction(node.factor))
        if node.op == "constant":
            return _scaled(dialect.cast(literal(self.constants[node.name]), "real"), Fraction(node.factor))
        if node.number is not None:
            exact = Fraction(node.number) * Fraction(node.factor or 1)
            return _scaled(dialect.real(str(exact.numerator)), Fraction(1, exact.denominator))
        return None


def _quotient(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.Div(this=operands[0], expression=dialect.unless_zero(operands[1]))


_OPERATORS: Mapping[str, Callable[[Expression, list[exp.Expr]], exp.Expr]] = {
    "plus": lambda _node, operands: exp.Add(this=operands[0], expression=operands[1]),
    "minus": lambda _node, operands: exp.Sub(this=operands[0], expression=operands[1]),
    "times": lambda _node, operands: exp.Mul(this=operands[0], expression=operands[1]),
    "over": _quotient,
    "as_unit": lambda node, operands: _scaled(operands[0], Fraction(node.factor)),
    "converted": lambda node, operands: _scaled(operands[0], Fraction(node.factor)),
    "coalesce": lambda _node, operands: exp.Coalesce(this=operands[0], expressions=operands[1:]),
    "greatest": lambda _node, operands: exp.Anonymous(this="greatest", expressions=operands),
}
