"""Compile queries for the samples of a metric: distributions and plain rows.

Centiles are order statistics: of n ascending samples, centile c is the one at index min(floor(n c), n - 1), from 0.
Sums are independent of the number of threads: integers are added exactly, doubles with compensation in ascending order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.lang.model.package import Grain, Metric, Reduction
from assay.plan.planner import FROM, TO, RowRequest, SeriesStep
from assay.sql import dialect
from assay.sql.dialect import column, length, member
from assay.sql.expressions import Names, compile_expression, literal


def select_rows(listed: RowRequest, constants: Mapping[str, object]) -> exp.Select:
    """Select the key columns and one column for each metric: its measure, null where its condition fails."""
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


def select_lines(step: SeriesStep) -> exp.Select:
    """Select the rows of a series: window, labels, instant, value."""
    names = (*step.key, *step.series.by, "t_ns")
    return dialect.select(*names, "value").from_(dialect.table(step.name)).order_by(*(column(name) for name in names))


def select_span(windows: str) -> exp.Select:
    """Select the first and last instant of all windows of a relation: one row, of nulls without windows."""
    ends = (
        exp.alias_(exp.Min(this=column(FROM)), FROM),
        exp.alias_(exp.Max(this=column(TO)), TO),
    )
    return dialect.select(*ends).from_(dialect.table(windows))


#: the standard centiles, as decimal texts
CENTILES = (
    "0.0", "0.01", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.75", "0.8", "0.85", "0.875", "0.9",
    "0.925", "0.95", "0.97", "0.98", "0.99", "0.995", "0.997", "0.998", "0.999", "0.9995", "0.9997", "0.9998", "0.9999",
    "1.0",
)  # fmt: skip

#: columns of a distribution
SUMMARY = ("size", "mean", "stddev", "centiles")

Constants = Mapping[str, object]


def samples(metric: Metric, integral: bool, constants: Constants) -> exp.Select:
    """Select the samples of a metric, one row each.

    Columns: `value`, and `per` if the metric has one distribution for each value of a column.  `integral`: samples are
    exact integers.
    """
    names = Names(constants=constants)
    measure = compile_expression(metric.measure, names)
    keys = [exp.alias_(column(metric.per), "per")] if metric.per else []
    conditions: list[exp.Expr] = [column("accepted")] if metric.accepted else []
    if metric.where:
        conditions.append(compile_expression(metric.where, names))
    query = dialect.select(*keys).from_(dialect.table(metric.grain), copy=False)
    if metric.reduction is None:
        return _filter_samples(query.select(exp.alias_(measure, "value"), copy=False), measure, conditions)
    by = [column(name) for name in metric.reduction.by]
    reduced = exp.alias_(_reduce(metric.reduction, measure, integral), "value")
    query = _filter_samples(query.select(*by, reduced, copy=False), measure, conditions)
    keys = [*([column(metric.per)] if metric.per else []), *(item.copy() for item in by)]
    return query.group_by(*keys, copy=False)


def _filter_samples(query: exp.Select, measure: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Select:
    is_not_null = exp.Not(this=exp.Is(this=exp.paren(measure.copy()), expression=exp.Null()))
    return query.where(exp.and_(*conditions, is_not_null), copy=False)


def _reduce(reduction: Reduction, measure: exp.Expr, integral: bool) -> exp.Expr:
    if reduction.kind == "sum" and not integral:
        return dialect.exact_sum(dialect.ordered_list(measure))
    aggregate = {"min": exp.Min, "max": exp.Max, "sum": exp.Sum, "count": exp.Count}.get(reduction.kind)
    if aggregate:
        return aggregate(this=measure)
    values = dialect.ordered_list(measure)
    return _select_centile(values, length(values.copy()), dialect.real(repr(reduction.centile)))


def _select_centile(values: exp.Expr, count: exp.Expr, c: exp.Expr) -> exp.Expr:
    """Return the member of an ascending list at index min(floor(n c), n - 1), counted from 0."""
    position = dialect.cast(exp.Floor(this=exp.Mul(this=count.copy(), expression=c)), "integer")
    last = exp.Sub(this=count.copy(), expression=dialect.integer(1))
    index = exp.Anonymous(this="least", expressions=[position, last])
    return member(values, exp.Add(this=index, expression=dialect.integer(1)))


def domain_of(grain: Grain) -> str:
    """Return the table whose rows say for which values of `per` a metric of this grain has distributions."""
    return grain.runs.of if grain.runs else grain.name


def distribution(metric: Metric, domain: str, integral: bool, constants: Constants) -> exp.Select:
    """Return the query for a metric's distribution: size, mean, stddev and centiles (a list).

    It yields one row; with `per`, one ordered row for each value of that column in the table `domain`.  Columns are
    null without samples.  `integral`: samples are exact integers.
    """
    per = bool(metric.per)
    stages: list[tuple[str, exp.Select]] = [
        ("samples", samples(metric, integral, constants)),
        ("ordered", _order_samples(per, integral)),
        (
            "averaged",
            dialect.select("*", exp.alias_(_compute_mean(integral), "mean")).from_(
                dialect.table("ordered"), copy=False
            ),
        ),
    ]
    query = _summarize(per)
    if per:
        stages.append(("distributions", query))
        stages.append(
            (
                "domain",
                dialect.select(exp.alias_(column(metric.per), "per"))
                .distinct(copy=False)
                .from_(dialect.table(domain), copy=False)
                .where(exp.Not(this=exp.Is(this=column(metric.per), expression=exp.Null())), copy=False),
            )
        )
        query = _join_domain()
    return dialect.staged(query, stages)


def of_some(query: exp.Expr, per: str, values: Sequence[object]) -> exp.Expr:
    """Restrict a query that `distribution` returned to some values of its column `per`."""
    query = query.copy()
    is_selected = exp.In(this=column(per), expressions=[literal(value) for value in values])
    for stage in query.args["with_"].expressions:
        if stage.alias in ("samples", "domain"):
            stage.this.where(is_selected, copy=False)
    return query


def _join_domain() -> exp.Select:
    """Return every value of `per` with its distribution, if it has one."""
    on = exp.EQ(this=column("per", "distributions"), expression=column("per", "domain"))
    return (
        dialect.select(column("per", "domain"), *(column(name, "distributions") for name in SUMMARY))
        .from_(dialect.table("domain"), copy=False)
        .join(dialect.table("distributions"), on=on, join_type="LEFT", copy=False)
        .order_by(column("per", "domain"), copy=False)
    )


def _order_samples(per: bool, integral: bool) -> exp.Select:
    """Return the sorted samples and their number, and for integers also the sum, exact in any order."""
    outputs = [
        exp.alias_(dialect.ordered_list(column("value")), "ordered_values"),
        exp.alias_(exp.Count(this=column("value")), "size"),
    ]
    if integral:
        outputs.append(exp.alias_(exp.Sum(this=column("value")), "total"))
    query = dialect.select(*([column("per")] if per else []), *outputs).from_(dialect.table("samples"), copy=False)
    return query.group_by(column("per"), copy=False) if per else query


def _compute_mean(integral: bool) -> exp.Expr:
    total = dialect.cast(column("total"), "real") if integral else dialect.exact_sum(column("ordered_values"))
    return exp.Div(this=total, expression=column("size"))


def _summarize(per: bool) -> exp.Select:
    """Return size, mean, deviation (n - 1) and centiles of each ordered list."""
    mean = column("mean")
    size = column("size")
    deviation = exp.Coalesce(this=dialect.deviation(column("ordered_values")), expressions=[dialect.real("0.0")])
    centiles = dialect.transformed(
        dialect.reals(CENTILES),
        "c",
        _select_centile(column("ordered_values"), size.copy(), column("c")),
    )
    return dialect.select(
        *([column("per")] if per else []),
        size,
        mean,
        exp.alias_(deviation, "stddev"),
        exp.alias_(centiles, "centiles"),
    ).from_(dialect.table("averaged"), copy=False)
