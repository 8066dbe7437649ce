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
from assay.sql.template import Slot, fill_expression, fill_query

REAL_SCALE = 10**9
"""A sample of a real measure is an integer divided by this."""


def build_cells(metric: Metric, grain: Grain, integral: bool, constants: Mapping[str, object]) -> exp.Select:
    """Return the query for the cells of a metric: place, cluster, total, size, lost and units.

    `lost` is the number of samples that are no finite number.  Without samples it yields no row.
    """
    value = "value" if integral else f"CASE WHEN abs(value) < 1e18 THEN round(value * {REAL_SCALE})::INT128 END"
    slots: dict[str, Slot] = {"place": build_place(bool(metric.per)), "value": fill_expression(value)}
    stages: list[tuple[str, exp.Expr]] = [
        ("samples", select_timed_samples(metric, grain, integral, constants)),
        ("bounds", fill_query("SELECT count(DISTINCT t) AS units, min(t) AS lo, max(t) AS hi FROM samples")),
        ("timed", fill_query("SELECT value, coalesce(t, lo) AS t, k, units, lo, hi FROM samples CROSS JOIN bounds")),
        ("placed", fill_query("SELECT $place AS place, k, $value AS value, units FROM timed", **slots)),
    ]
    if metric.per and not metric.sampled_only:
        stages.append(("domain", fill_query(_DOMAIN, column=metric.per, domain=get_domain(grain))))
        stages.append(("counted", _add_empty_clusters()))
    table = "counted" if metric.per and not metric.sampled_only else "placed"
    return dialect.add_stages(fill_query(_CELLS, table=table), stages)


_CELLS = """
    SELECT place::BIGINT AS place, k AS "cluster", coalesce(sum(value), 0)::INT128 AS total, count(value) AS size,
      count(*) - count(value) AS lost, max(units) AS units
    FROM $table GROUP BY place, k ORDER BY place, k
"""

_DOMAIN = "SELECT DISTINCT $column::TEXT AS k FROM $domain WHERE NOT $column IS NULL"


def select_timed_samples(metric: Metric, grain: Grain, integral: bool, constants: Mapping[str, object]) -> exp.Select:
    """Select the samples of a metric with their time `t` and cluster `k`; a group has the time of its first row."""
    query = select_samples(metric, integral, constants)
    time: exp.Expr = build_column(grain.time)
    if metric.reduction:
        time = exp.Min(this=time)
    name = metric.per or grain.cluster
    has_cluster = bool(metric.per) or metric.reduction is None or name in metric.reduction.by
    cluster = (
        fill_expression("coalesce($name::TEXT, '')", name=name) if name and has_cluster else exp.Literal.string("")
    )
    query = query.select(exp.alias_(time, "t"), exp.alias_(cluster, "k"), copy=False)
    return query.where(fill_expression("NOT $per IS NULL", per=metric.per), copy=False) if metric.per else query


def build_place(has_clusters: bool) -> exp.Expr:
    """Return the place of a sample: its share of the run's time, or its share of the distinct times."""
    rank = "dense_rank() OVER (ORDER BY t) - 1"
    many = (
        "least((t - lo)::INT128 * $places // (hi + 1 - lo), $places - 1)"
        if has_clusters
        else f"({rank}) * $places // units"
    )
    place = f"CASE WHEN units >= $least THEN {many} ELSE {rank} END"
    return fill_expression(place, places=build_integer(MOST_BATCHES), least=build_integer(LEAST_PLACED))


def _add_empty_clusters() -> exp.Expr:
    """Select what is placed, and a sample 0 for each cluster that has none."""
    empty_clusters = (
        "SELECT 0 AS place, k, 0 AS value, units FROM domain CROSS JOIN bounds WHERE NOT k IN (SELECT k FROM placed)"
    )
    return exp.union(
        fill_query("SELECT place, k, value, units FROM placed"), fill_query(empty_clusters), distinct=False
    )
