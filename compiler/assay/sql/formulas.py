"""Compile a formula over averages of metrics to one query, in doubles, which auditors compare with the exact result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from sqlglot import exp

from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Metric
from assay.lang.model.vocabulary import Summary
from assay.sql import dialect, distributions
from assay.sql.dialect import build_column
from assay.sql.expressions import build_literal
from assay.sql.template import fill_expression, fill_query

Constants = Mapping[str, object]
AVERAGE = "average"


def build_formula_query(checked: CheckedPackage, metric: Metric, summary: Summary, constants: Constants) -> exp.Select:
    """Return the query of a formula.

    It yields one row: `value`, the formula in its unit, and the average of each of its metrics in the metric's unit.  A
    column is null where there are no samples or a divisor is 0.
    """
    metrics = formula.index_metrics(checked.package)
    grains = {grain.name: grain for grain in checked.package.grains}
    measured = formula.list_measured(metrics, [metric])
    stages = [
        (_name_stage(item.id), _compile_average(checked, item, grains[item.grain], summary, constants))
        for item in measured
    ]
    values = [exp.alias_(build_column(AVERAGE, _name_stage(item.id)), item.id, quoted=True) for item in measured]
    value = _Compiler(metrics, constants).compile_value(metric.measure)
    result = dialect.select(exp.alias_(value, "value"), *values).from_(
        dialect.build_table(_name_stage(measured[0].id)), copy=False
    )
    for item in measured[1:]:
        result = result.join(dialect.build_table(_name_stage(item.id)), join_type="CROSS", copy=False)
    result = dialect.add_stages(result, stages)
    result.add_comments([f" {metric.id}: {metric.name} ", f" definition {checked.definitions[metric.id]} "])
    return result


def _name_stage(metric: str) -> str:
    return f"average_of_{metric}"


def _compile_average(
    checked: CheckedPackage, metric: Metric, grain: Grain, summary: Summary, constants: Constants
) -> exp.Select:
    """Return one row: the average of a metric in its unit; over hosts, as the summary says."""
    measured = checked.measured[metric.id]
    rows = distributions.build_distribution(metric, distributions.get_domain(grain), measured.integral, constants)
    average = _average_hosts(summary, metric.sampled_only) if metric.per else build_column("mean")
    query = "SELECT $average AS average FROM $rows AS distribution"
    return fill_query(query, average=_scale(average, measured.factor), rows=rows)


def _average_hosts(summary: Summary, sampled_only: bool) -> exp.Expr:
    """Return the mean of the means of hosts, of all hosts or of the lowest few.

    Hosts without samples are left out (`sampled_only`) or count as 0.
    """
    if sampled_only:
        # A template cannot have a slot before FILTER: the parser requires a function call.
        is_not_null = exp.Where(this=fill_expression("NOT mean IS NULL"))
        means: exp.Expr = exp.Filter(this=dialect.build_ordered_list(build_column("mean")), expression=is_not_null)
    else:
        means = dialect.build_ordered_list(fill_expression("coalesce(mean, 0.0::DOUBLE)"))
    if summary.lowest:
        means = fill_expression(f"list_slice($means, 1, {summary.lowest})", means=means)
    return fill_expression("CASE WHEN sum(size) > 0 THEN list_aggregate($means, 'fsum') / len($means) END", means=means)


def _scale(value: exp.Expr, factor: Fraction) -> exp.Expr:
    """Return a value times an exact factor: it is multiplied first and divided last."""
    if factor.numerator != 1:
        value = exp.Mul(this=exp.paren(value), expression=dialect.build_real(str(factor.numerator)))
    if factor.denominator != 1:
        value = exp.Div(this=exp.paren(value), expression=dialect.build_real(str(factor.denominator)))
    return value


class _Compiler:
    def __init__(self, metrics: Mapping[str, Metric], constants: Constants) -> None:
        self.metrics = metrics
        self.constants = constants

    def compile_value(self, node: Expression) -> exp.Expr:
        """Compile a resolved formula."""
        leaf = self.compile_leaf(node)
        if leaf is not None:
            return leaf
        operands: list[exp.Expr] = [exp.paren(self.compile_value(operand)) for operand in node.operands]
        return _OPERATORS[node.op](node, operands)

    def compile_leaf(self, node: Expression) -> exp.Expr | None:
        """Compile a metric, constant or number; return None for an operator."""
        if node.op == "metric":
            metric = self.metrics[node.name]
            inner = (
                self.compile_value(metric.measure)
                if formula.is_formula(metric)
                else build_column(AVERAGE, _name_stage(node.name))
            )
            return _scale(inner, Fraction(node.factor))
        if node.op == "constant":
            return _scale(dialect.cast(build_literal(self.constants[node.name]), "real"), Fraction(node.factor))
        if node.number is not None:
            exact = Fraction(node.number) * Fraction(node.factor or 1)
            return _scale(dialect.build_real(str(exact.numerator)), Fraction(1, exact.denominator))
        return None


def _compile_quotient(_node: Expression, operands: list[exp.Expr]) -> exp.Expr:
    return exp.Div(this=operands[0], expression=dialect.build_nullif_zero(operands[1]))


_OPERATORS: Mapping[str, Callable[[Expression, list[exp.Expr]], exp.Expr]] = {
    "plus": lambda _node, operands: exp.Add(this=operands[0], expression=operands[1]),
    "minus": lambda _node, operands: exp.Sub(this=operands[0], expression=operands[1]),
    "times": lambda _node, operands: exp.Mul(this=operands[0], expression=operands[1]),
    "over": _compile_quotient,
    "as_unit": lambda node, operands: _scale(operands[0], Fraction(node.factor)),
    "converted": lambda node, operands: _scale(operands[0], Fraction(node.factor)),
    "coalesce": lambda _node, operands: exp.Coalesce(this=operands[0], expressions=operands[1:]),
    "greatest": lambda _node, operands: exp.Anonymous(this="greatest", expressions=operands),
}
