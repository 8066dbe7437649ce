"""Compile queries for rows of a grain: key columns and the values of metrics on each row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from assay.lang.model.package import Metric
from assay.lang.reserved_names import BASE
from assay.plan.planner import AppliedFilter, select_grain_filters
from assay.plan.request import REJECTED_BY, RowRequest
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.sql.distributions import reduce_samples
from assay.sql.expressions import Names, compile_expression
from assay.sql.template import fill_expression, fill_query

Constants = Mapping[str, object]
_VALUE = "value"


def select_rows(
    request: RowRequest, applied: Sequence[AppliedFilter], integral: Collection[str], constants: Constants
) -> exp.Select:
    """Select the key columns and one column for each metric: its measure, null where its condition fails.

    A metric of another grain has its reduced value, or its mean, over the rows that belong to a row.  Samples of the
    metrics `integral` are exact integers.
    """
    grain, finer_metrics = request.grain, request.finer_metrics
    order = tuple(dict.fromkeys((*(request.keys if request.listing else ()), *grain.key)))
    values = [_build_value(metric, constants) for metric in request.metrics if metric not in finer_metrics]
    conditions: list[exp.Expr] = []
    if request.rejected:
        values.insert(0, _list_reasons(request, applied))
        conditions = [exp.Not(this=build_column("accepted"))]
    elif any(metric.accepted for metric in request.metrics):
        conditions = [build_column("accepted")]
    keys = tuple(dict.fromkeys((*request.keys, *(grain.key if finer_metrics else ()))))
    query = fill_query(
        "SELECT $keys, $values FROM $grain WHERE $conditions",
        keys=keys, values=values, grain=grain.name, conditions=conditions,
    )  # fmt: skip
    if not finer_metrics:
        return query.order_by(*map(build_column, order), copy=False)
    return _join_finer_metrics(request, query, integral, constants).order_by(
        *(build_column(name, BASE) for name in order), copy=False
    )


def _build_value(metric: Metric, constants: Constants) -> exp.Expr:
    """Return the value of a metric on a row of its grain, under its id."""
    value = compile_expression(metric.measure, Names(constants=constants))
    if metric.where:
        condition = compile_expression(metric.where, Names(constants=constants))
        value = exp.Case(ifs=[exp.If(this=condition, true=value)])
    return _name_value(value, metric.id)


def _name_value(value: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def _list_reasons(request: RowRequest, applied: Sequence[AppliedFilter]) -> exp.Expr:
    """Return the filters that reject a row, as text; a row that they pass is rejected with the row that it is part of.

    The filters have the columns `passes_1`, ... of the grain, in their order.
    """
    filters = select_grain_filters(request.grain, applied)
    passes = [build_column(f"passes_{index}") for index in range(1, len(filters) + 1)]
    reasons = [
        exp.Case(ifs=[exp.If(this=exp.Not(this=passed), true=exp.Literal.string(item.label))])
        for passed, item in zip(passes, filters, strict=True)
    ]
    if subject := request.grain.subject:
        all_passed = exp.and_(*(passed.copy() for passed in passes)) if passes else exp.true()
        reasons.append(exp.Case(ifs=[exp.If(this=all_passed, true=exp.Literal.string(f"filters of {subject.grain}"))]))
    if not reasons:
        return exp.alias_(exp.Literal.string(""), REJECTED_BY)
    return fill_expression(f"concat_ws(', ', $reasons) AS {REJECTED_BY}", reasons=reasons)


def _join_finer_metrics(
    request: RowRequest, rows: exp.Select, integral: Collection[str], constants: Constants
) -> exp.Select:
    """Return rows with the values of the metrics of other grains, in the order of the request."""
    query = dialect.select().from_(rows.subquery(alias=BASE))
    tables = {}
    for number, metric in enumerate(request.finer_metrics, start=1):
        table = tables[metric.id] = f"finer_{number}"
        values = _select_finer_values(request, metric, metric.id in integral, constants)
        is_same = exp.and_(
            *(exp.EQ(this=build_column(name, table), expression=build_column(name, BASE)) for name in request.grain.key)
        )
        query = query.join(values.subquery(alias=table), on=is_same, join_type="LEFT", copy=False)
    formulas = {metric.id for metric in request.formulas}  # evaluated later
    columns = [
        _name_value(build_column(_VALUE, tables[name]), name) if name in tables else _select_own_column(name)
        for name in request.columns
        if name not in formulas
    ]
    return query.select(*columns, copy=False)


def _select_own_column(name: str) -> exp.Expr:
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(BASE))


def _select_finer_values(request: RowRequest, metric: Metric, is_integral: bool, constants: Constants) -> exp.Select:
    """Return the value of a metric of another grain for each row of the requested grain that has samples of it."""
    names = Names(constants=constants)
    measure = compile_expression(metric.measure, names)
    conditions: list[exp.Expr] = [build_column("accepted")] if metric.accepted and not request.rejected else []
    if metric.where:
        conditions.append(compile_expression(metric.where, names))
    if metric.reduction:
        value = reduce_samples(metric.reduction, measure, is_integral)
    elif is_integral:
        value = fill_expression("sum($measure)::DOUBLE / count($measure)", measure=measure)
    else:
        total = dialect.build_exact_sum(dialect.build_ordered_list(measure.copy()))
        value = fill_expression("$total / count($measure)", total=total, measure=measure)
    return fill_query(
        f"SELECT $keys, $value AS {_VALUE} FROM $grain WHERE $conditions AND NOT ($measure) IS NULL GROUP BY $keys",
        keys=request.grain.key, value=value, grain=metric.grain, conditions=conditions, measure=measure,
    )  # fmt: skip
