"""Compile queries for the samples of a metric and of series: distributions and lines.

Centiles are order statistics: of n ascending samples, centile c is the one at index min(floor(n c), n - 1), from 0.
Sums are independent of the number of threads: integers are added exactly, doubles with compensation in ascending order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.lang.model.package import HISTOGRAMS, Grain, Metric, Reduction
from assay.plan.planner import FROM, TO, SeriesStep
from assay.plan.value_request import ValueRequest
from assay.sql import dialect
from assay.sql.dialect import build_column, build_length
from assay.sql.expressions import Names, build_literal, compile_expression
from assay.sql.histograms import build_histogram_centile, build_is_known
from assay.sql.template import Slot, fill_expression, fill_query
from assay.util.centiles import CENTILES


def select_lines(step: SeriesStep) -> exp.Select:
    """Select the rows of a series: window, labels, instant, value."""
    query = "SELECT $columns, value FROM $series ORDER BY $columns"
    return fill_query(query, columns=(*step.key, *step.series.by, "t_ns"), series=step.name)


def select_span(windows: str) -> exp.Select:
    """Select the first and last instant of all windows of a relation: one row, of nulls without windows."""
    query = "SELECT min($start) AS $start, max($end) AS $end FROM $windows"
    return fill_query(query, start=FROM, end=TO, windows=windows)


#: columns of a distribution
SUMMARY = ("size", "mean", "stddev", "centiles")

Constants = Mapping[str, object]


def select_samples(metric: Metric, integral: bool, constants: Constants) -> exp.Select:
    """Select the samples of a metric, one row each.

    Columns: `value`, and `per` if the metric has one distribution for each value of a column.  `integral`: samples are
    exact integers.
    """
    names = Names(constants=constants)
    measure = compile_expression(metric.measure, names)
    conditions: list[exp.Expr] = [build_column("accepted")] if metric.accepted else []
    if metric.where:
        conditions.append(compile_expression(metric.where, names))
    slots: dict[str, Slot] = {"grain": metric.grain, "conditions": conditions, "measure": measure}
    slots["per"] = [exp.alias_(build_column(metric.per), "per")] if metric.per else []
    if metric.reduction is None:
        query = "SELECT $per, $measure AS value FROM $grain WHERE $conditions AND NOT ($measure) IS NULL"
        return fill_query(query, **slots)
    query = """
        SELECT $per, $keys, $value AS value
        FROM $grain WHERE $conditions AND NOT ($measure) IS NULL GROUP BY $group, $keys
    """
    slots |= {"keys": metric.reduction.by, "group": [metric.per] if metric.per else []}
    samples = fill_query(query, value=reduce_samples(metric.reduction, measure, integral), **slots)
    if metric.reduction.kind in HISTOGRAMS:
        samples = samples.having(build_is_known(measure, build_column(metric.reduction.counts)), copy=False)
    return samples


def count_values(request: ValueRequest, constants: Constants) -> exp.Select:
    """Count the rows behind the samples of a metric for each combination of values of columns."""
    metric, names = request.metric, Names(constants=constants)
    conditions: list[exp.Expr] = [build_column("accepted")] if metric.accepted else []
    if metric.where:
        conditions.append(compile_expression(metric.where, names))
    query = """
        SELECT $keys, count(*) AS $count, min($measure) AS $least, max($measure) AS $greatest
        FROM $grain WHERE $conditions AND NOT ($measure) IS NULL GROUP BY $keys ORDER BY $keys
    """
    measure = compile_expression(metric.measure, names)
    least, greatest = request.end_names
    return fill_query(
        query,
        keys=request.by, count=request.count_name, least=least, greatest=greatest, grain=metric.grain,
        conditions=conditions, measure=measure,
    )  # fmt: skip


def reduce_samples(reduction: Reduction, measure: exp.Expr, integral: bool) -> exp.Expr:
    """Return the value that several samples are reduced to; `integral`: samples are exact integers."""
    if reduction.kind == "sum" and not integral:
        return dialect.build_exact_sum(dialect.build_ordered_list(measure))
    aggregate = {"min": exp.Min, "max": exp.Max, "sum": exp.Sum, "count": exp.Count}.get(reduction.kind)
    if aggregate:
        return aggregate(this=measure)
    if reduction.kind in HISTOGRAMS:
        return build_histogram_centile(measure, build_column(reduction.counts), reduction)
    values = dialect.build_ordered_list(measure)
    centile = dialect.build_real(repr(reduction.centile))
    return fill_expression(_CENTILE, values=values, size=build_length(values), centile=centile)


#: the member of an ascending list at index min(floor(n c), n - 1), counted from 0
_CENTILE = "list_extract($values, least(floor($size * $centile)::BIGINT, $size - 1) + 1)"


def get_domain(grain: Grain) -> str:
    """Return the table with the values of `per` for which a metric of this grain has distributions."""
    return grain.runs.of if grain.runs else grain.name


def build_distribution(metric: Metric, domain: str, integral: bool, constants: Constants) -> exp.Select:
    """Return the query for a metric's distribution: size, mean, stddev and centiles (a list).

    It yields one row; with `per`, one ordered row for each value of that column in the table `domain`.  Columns are
    null without samples.  `integral`: samples are exact integers.
    """
    per = ["per"] if metric.per else []
    total, mean = (", sum(value) AS total", "total::DOUBLE") if integral else ("", _EXACT_SUM)
    ordered = f"""
        SELECT $per, $ordered_list AS ordered_values, count(value) AS size{total}
        FROM samples GROUP BY $per
    """
    centile = fill_expression(_CENTILE, values="ordered_values", size="size", centile="c")
    stages: list[tuple[str, exp.Select]] = [
        ("samples", select_samples(metric, integral, constants)),
        ("ordered", fill_query(ordered, per=per, ordered_list=dialect.build_ordered_list(build_column("value")))),
        ("averaged", fill_query(f"SELECT *, {mean} / size AS mean FROM ordered")),
    ]
    summary = """
        SELECT $per, size, mean, coalesce(list_aggregate(ordered_values, 'stddev_samp'), 0.0::DOUBLE) AS stddev,
          $centiles AS centiles
        FROM averaged
    """
    centiles = dialect.build_list_transform(dialect.build_real_list(CENTILES), "c", centile)
    query = fill_query(summary, per=per, centiles=centiles)
    if metric.per:
        values = "SELECT DISTINCT $column AS per FROM $domain WHERE NOT $column IS NULL"
        stages += [("distributions", query), ("domain", fill_query(values, column=metric.per, domain=domain))]
        query = fill_query(_JOIN_DOMAIN, summary=SUMMARY)
    return dialect.add_stages(query, stages)


#: the compensated sum of the ordered samples: the same for any number of threads
_EXACT_SUM = "list_aggregate(ordered_values, 'fsum')"

#: every value of `per` with its distribution, if it has one
_JOIN_DOMAIN = """
    SELECT domain.per, distributions.$summary
    FROM domain LEFT JOIN distributions ON distributions.per = domain.per ORDER BY domain.per
"""


def restrict_distribution(query: exp.Expr, per: str, values: Sequence[object]) -> exp.Expr:
    """Restrict a query that `build_distribution` returned to some values of its column `per`."""
    query = query.copy()
    is_selected = exp.In(this=build_column(per), expressions=[build_literal(value) for value in values])
    for stage in query.args["with_"].expressions:
        if stage.alias in ("samples", "domain"):
            stage.this.where(is_selected, copy=False)
    return query
