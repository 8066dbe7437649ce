"""Rows that are asked for as they are: of grains with what metrics measure on them, and of series; in a total order."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.plan.planner import FROM, TO, Listed, SeriesStep
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.expressions import Names, compile_expression


def rows(listed: Listed, constants: Mapping[str, object]) -> exp.Select:
    """Key columns, then a column for each metric: what it measures, where it counts."""
    values = []
    for metric in listed.metrics:
        value = compile_expression(metric.measure, Names(constants=constants))
        if metric.where:
            condition = compile_expression(metric.where, Names(constants=constants))
            value = exp.Case(ifs=[exp.If(this=condition, true=value)])
        values.append(exp.Alias(this=value, alias=exp.to_identifier(metric.id, quoted=True)))
    query = dialect.select(*listed.keys, *values).from_(dialect.table(listed.grain.name))
    if any(metric.accepted for metric in listed.metrics):
        query = query.where(column("accepted"), copy=False)
    return query.order_by(*(column(name) for name in listed.grain.key))


def lines(step: SeriesStep) -> exp.Select:
    """The rows of a series: window, labels, instant, value."""
    names = (*step.key, *step.series.by, "t_ns")
    return dialect.select(*names, "value").from_(dialect.table(step.name)).order_by(*(column(name) for name in names))


def span(windows: str) -> exp.Select:
    """From when to when all windows of a relation are: one row, of nulls where there is none."""
    ends = (
        exp.alias_(exp.Min(this=column(FROM)), FROM),
        exp.alias_(exp.Max(this=column(TO)), TO),
    )
    return dialect.select(*ends).from_(dialect.table(windows))
