"""Compile queries for the cells of metrics: exact sums of their samples by place in time and cluster.

`assay.judgement` makes batches of cells.  Sums are integers, so they are exact in any order: measures that are real are
counted in billionths of the metric's unit.  Hosts without samples that count as 0 have a cell of one sample, 0.

One query computes the cells of all metrics of a grain, because the engine takes longer to plan a query than to execute
it over a usual run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.judgement.batches import LEAST_PLACED, MOST_BATCHES
from assay.lang.model.package import Grain, Metric
from assay.sql import dialect
from assay.sql.dialect import build_column, build_integer
from assay.sql.distributions import get_domain, select_samples
from assay.sql.template import fill_expression, fill_query

_MOST_DIGITS = 27
"""Greater samples of real measures, with the decimals that count, are lost: a sum of them may overflow."""

Stages = list[tuple[str, exp.Expr]]
INLINED = ("samples", "placed")
"""Stages that are read again wherever they are needed: the samples of all metrics together may exceed the memory."""


def build_cells(
    metrics: Sequence[Metric], grain: Grain, decimals: Mapping[str, int], constants: Mapping[str, object]
) -> exp.Select:
    """Return the query for the cells of metrics: metric, place, cluster, total, size, lost and units.

    The metrics are of one grain, and all have the same `per`; `decimals` says, by id, how many decimals of samples
    count: 0 if these are exact integers. Totals are in units of the last decimal. `lost` is the number of samples that
    are no finite number. A metric without samples yields no row.
    """
    per = metrics[0].per
    samples = [
        number_samples(
            number,
            select_timed_samples(metric, grain, not decimals[metric.id], constants),
            write_integer(decimals[metric.id]),
        )
        for number, metric in enumerate(metrics)
    ]
    stages = [*list_place_stages(samples, bool(per)), ("summed", fill_query(_SUMMED))]
    table = "summed"
    numbers = [number for number, metric in enumerate(metrics) if per and not metric.sampled_only]
    if numbers:
        table = "counted"
        stages.append(("domain", fill_query(_DOMAIN, column=per or "", domain=get_domain(grain))))
        empty = fill_query(_EMPTY, numbers=exp.Array(expressions=[build_integer(number) for number in numbers]))
        stages.append((table, exp.union(fill_query("SELECT * FROM summed"), empty, distinct=False)))
    return dialect.add_stages(fill_query(_CELLS, names=build_names(metrics), table=table), stages, inlined=INLINED)


def build_names(metrics: Sequence[Metric]) -> exp.Array:
    """Return the list of the ids of numbered metrics."""
    return exp.Array(expressions=[exp.Literal.string(metric.id) for metric in metrics])


_SUMMED = """
    SELECT metric, place, k::TEXT AS k, coalesce(sum(value), 0)::INT128 AS total, count(value) AS size,
      count(*) - count(value) AS lost, max(units) AS units
    FROM placed GROUP BY metric, place, k
"""

_DOMAIN = "SELECT DISTINCT $column::TEXT AS k FROM $domain WHERE NOT $column IS NULL"

_EMPTY = """
    SELECT metric, 0 AS place, k, 0 AS total, 1 AS size, 0 AS lost, coalesce(units, 0) AS units
    FROM (SELECT k, unnest($numbers) AS metric FROM domain) LEFT JOIN bounds USING (metric)
    WHERE NOT (metric, k) IN (SELECT (metric, k) FROM summed)
"""
"""A sample 0 for each cluster that has none."""

_CELLS = """
    SELECT list_extract($names, metric + 1) AS metric, place::BIGINT AS place, k AS "cluster", total, size, lost, units
    FROM $table ORDER BY $table.metric, $table.place, $table.k
"""


def write_integer(decimals: int) -> str:
    """Return the expression of a sample as an integer in units of its last decimal; null if it has too many digits."""
    if not decimals:
        return "value::INT128"
    most = f"1e{_MOST_DIGITS - decimals}"
    return f"CASE WHEN abs(value) < {most} THEN round(value::DOUBLE * {10**decimals})::INT128 END"


def select_timed_samples(metric: Metric, grain: Grain, integral: bool, constants: Mapping[str, object]) -> exp.Select:
    """Select the samples of a metric with their time `t` and cluster `k`; a group has the time of its first row."""
    query = select_samples(metric, integral, constants)
    time: exp.Expr = build_column(grain.time)
    if metric.reduction:
        time = exp.Min(this=time)
    name = metric.per or grain.cluster
    has_cluster = bool(metric.per) or metric.reduction is None or name in metric.reduction.by
    # A group is text only after it was summed up: texts are slow keys.
    key = "$name" if metric.per else "coalesce($name::TEXT, '')"
    cluster = fill_expression(key, name=name) if name and has_cluster else exp.Literal.string("")
    query = query.select(exp.alias_(time, "t"), exp.alias_(cluster, "k"), copy=False)
    return query.where(fill_expression("NOT $per IS NULL", per=metric.per), copy=False) if metric.per else query


def number_samples(number: int, samples: exp.Select, value: str = "value") -> exp.Select:
    """Select the samples of a metric with its number in the query as `metric`, and their values as an expression."""
    query = "SELECT $number AS metric, $value AS value, t, k FROM $samples"
    return fill_query(query, number=build_integer(number), value=fill_expression(value), samples=samples)


def list_place_stages(samples: Sequence[exp.Select], has_clusters: bool) -> Stages:
    """Return the stages `samples`, `times`, `bounds`, `ranked` and `placed` of metrics with numbered samples.

    `placed` has the metric, place, k, value and units of each sample. The place of a sample is its share of the run's
    time if each cluster has a distribution of its own, else its share of the distinct times. Without a time it is 0.
    """
    is_ranked = [fill_expression(f"units < {LEAST_PLACED}")] if has_clusters else []
    return [
        ("samples", exp.union(*samples, distinct=False) if len(samples) > 1 else samples[0]),
        ("times", fill_query("SELECT metric, t FROM samples WHERE NOT t IS NULL GROUP BY metric, t")),
        ("bounds", fill_query(_BOUNDS)),
        ("ranked", fill_query(_RANKED, conditions=is_ranked)),
        ("placed", fill_query(_PLACED, place=build_place(has_clusters))),
    ]


def build_place(has_clusters: bool) -> exp.Expr:
    """Return the place of a sample in the stages of `list_place_stages`, from its time, `bounds` and `ranked`."""
    return fill_expression(
        _PLACE,
        share=fill_expression(_SHARE_OF_TIME if has_clusters else _SHARE_OF_TIMES, places=build_integer(MOST_BATCHES)),
        least=build_integer(LEAST_PLACED),
    )


_BOUNDS = "SELECT metric, count(*) AS units, min(t) AS lo, max(t) AS hi FROM times GROUP BY metric"

_RANKED = """
    SELECT metric, t, row_number() OVER (PARTITION BY metric ORDER BY t) - 1 AS rank
    FROM times JOIN bounds USING (metric) WHERE $conditions
"""

_PLACE = "coalesce(CASE WHEN units >= $least THEN $share ELSE rank END, 0)"
_SHARE_OF_TIMES = "rank * $places // units"
_SHARE_OF_TIME = "least((t - lo)::INT128 * $places // (hi + 1 - lo), $places - 1)"

_PLACED = """
    SELECT metric, $place AS place, k, value, coalesce(units, 0) AS units
    FROM (SELECT metric, value, coalesce(t, lo) AS t, k, units, lo, hi FROM samples LEFT JOIN bounds USING (metric))
      LEFT JOIN ranked USING (metric, t)
"""
