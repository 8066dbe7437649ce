"""Compile queries for the cells of a metric: exact sums of its samples by place in time and cluster.

`assay.judgement` makes batches of cells.  Sums are integers, so they are exact in any order: measures that are real are
counted in billionths.  Hosts without samples that count as 0 have a cell of one sample, 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.judgement.batches import LEAST_PLACED, MOST_BATCHES
from assay.lang.model.package import Grain, Metric
from assay.sql import dialect
from assay.sql.dialect import build_column, build_integer
from assay.sql.distributions import get_domain, select_samples
from assay.sql.template import fill_expression, fill_query

REAL_SCALE = 10**9
"""A sample of a real measure is an integer divided by this."""


def build_cells(metric: Metric, grain: Grain, integral: bool, constants: Mapping[str, object]) -> exp.Select:
    """Return the query for the cells of a metric: place, cluster, total, size, lost and units.

    `lost` is the number of samples that are no finite number.  Without samples it yields no row.
    """
    value = "value" if integral else f"CASE WHEN abs(value) < 1e18 THEN round(value * {REAL_SCALE})::INT128 END"
    stages: list[tuple[str, exp.Expr]] = [
        ("samples", select_timed_samples(metric, grain, integral, constants)),
        ("bounds", fill_query("SELECT count(DISTINCT t) AS units, min(t) AS lo, max(t) AS hi FROM samples")),
        ("timed", fill_query("SELECT value, coalesce(t, lo) AS t, k, units, lo, hi FROM samples CROSS JOIN bounds")),
        ("placed", _place_samples(bool(metric.per), fill_expression(value))),
        ("summed", fill_query(_SUMMED)),
    ]
    table = "summed"
    if metric.per and not metric.sampled_only:
        table = "counted"
        stages.append(("domain", fill_query(_DOMAIN, column=metric.per, domain=get_domain(grain))))
        stages.append((table, exp.union(fill_query("SELECT * FROM summed"), fill_query(_EMPTY), distinct=False)))
    cells = 'SELECT place, k AS "cluster", total, size, lost, units FROM $table ORDER BY place, k'
    return dialect.add_stages(fill_query(cells, table=table), stages)


_SUMMED = """
    SELECT place::BIGINT AS place, k::TEXT AS k, coalesce(sum(value), 0)::INT128 AS total, count(value) AS size,
      count(*) - count(value) AS lost, max(units) AS units
    FROM placed GROUP BY place, k
"""

_EMPTY = """
    SELECT 0 AS place, k, 0 AS total, 1 AS size, 0 AS lost, units
    FROM domain CROSS JOIN bounds WHERE NOT k IN (SELECT k FROM summed)
"""
"""A sample 0 for each cluster that has none."""

_DOMAIN = "SELECT DISTINCT $column::TEXT AS k FROM $domain WHERE NOT $column IS NULL"


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


_RANK = "dense_rank() OVER (ORDER BY t) - 1"
_SHARE_OF_TIME = "least((t - lo)::INT128 * $places // (hi + 1 - lo), $places - 1)"


def build_place(has_clusters: bool) -> exp.Expr:
    """Return the place of a sample: its share of the run's time, or its share of the distinct times."""
    many = _SHARE_OF_TIME if has_clusters else f"({_RANK}) * $places // units"
    place = f"CASE WHEN units >= $least THEN {many} ELSE {_RANK} END"
    return fill_expression(place, places=build_integer(MOST_BATCHES), least=build_integer(LEAST_PLACED))


def _place_samples(has_clusters: bool, value: exp.Expr) -> exp.Expr:
    """Select the samples with their places; long runs of clusters have a branch of their own, without a sort."""
    select = "SELECT $place AS place, k, $value AS value, units FROM timed"
    if not has_clusters:
        return fill_query(select, place=build_place(has_clusters), value=value)
    places = build_integer(MOST_BATCHES)
    long = fill_query(f"{select} WHERE units >= {LEAST_PLACED}",
                      place=fill_expression(_SHARE_OF_TIME, places=places), value=value)  # fmt: skip
    short = fill_query(f"{select} WHERE units < {LEAST_PLACED}", place=fill_expression(_RANK), value=value)
    return exp.union(long, short, distinct=False)
