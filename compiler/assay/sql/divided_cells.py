"""Compile queries for the cells of metrics divided by the values of columns, such as dimensions.

One query computes those of all columns of a grain. Each sample has a list of its cluster and its values, and samples of
a place with the same list are summed up before they count for each column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.lang.model.package import Grain, Metric
from assay.sql import dialect
from assay.sql.dialect import build_integer
from assay.sql.sample_cells import (
    INLINED,
    build_place,
    list_place_stages,
    number_samples,
    select_timed_samples,
    write_integer,
)
from assay.sql.template import fill_expression, fill_query

MOST_VALUES = 20
"""How many values of a column have cells; further ones are left out, the least frequent first."""
MOST_DISTINCT = 100
"""How many values a column may have: more are names of single things, such as requests."""


def build_divided_cells(
    metrics: Sequence[Metric],
    columns: Sequence[str],
    grain: Grain,
    decimals: Mapping[str, int],
    constants: Mapping[str, object],
) -> exp.Select:
    """Return the query for divided cells: metric, number, value, place, cluster, total, size and units.

    The metrics are of one grain, have the same `per` and no reduction. `number` is that of the column among `columns`.
    Totals are in units of the last decimal. Columns with more than `MOST_DISTINCT` values have no rows.
    """
    samples = []
    for number, metric in enumerate(metrics):
        query = select_timed_samples(metric, grain, not decimals[metric.id], constants)
        (cluster,) = (item for item in query.expressions if item.alias == "k")
        values = [fill_expression("$name::TEXT", name=name) for name in columns]
        key = exp.Array(expressions=[fill_expression("$k::TEXT", k=cluster.this), *values])
        cluster.set("this", key)
        samples.append(number_samples(number, query, write_integer(decimals[metric.id])))
    stages = [
        *list_place_stages(samples, bool(metrics[0].per)),
        ("summed", fill_query(_SUMMED)),
        ("divided", fill_query(_DIVIDED, end=build_integer(len(columns) + 2))),
        ("ranked_values", fill_query(_RANKED_VALUES)),
    ]
    names = exp.Array(expressions=[exp.Literal.string(metric.id) for metric in metrics])
    query = fill_query(_CELLS, names=names, most=build_integer(MOST_VALUES), distinct=build_integer(MOST_DISTINCT))
    return dialect.add_stages(query, stages, inlined=INLINED)


def build_place_times(metric: Metric, grain: Grain, constants: Mapping[str, object]) -> exp.Select:
    """Return the query for the first time of each place of a metric: place, since."""
    samples = [number_samples(0, select_timed_samples(metric, grain, False, constants))]
    stages = list_place_stages(samples, bool(metric.per))[:-1]
    return dialect.add_stages(fill_query(_TIMES, place=build_place(bool(metric.per))), stages, inlined=INLINED)


_TIMES = """
    SELECT place, min(t) AS since
    FROM (SELECT ($place)::BIGINT AS place, t FROM times JOIN bounds USING (metric) LEFT JOIN ranked USING (metric, t))
    GROUP BY place ORDER BY place
"""

_SUMMED = """
    SELECT metric, place, k, coalesce(sum(value), 0)::INT128 AS total, count(value) AS size, max(units) AS units
    FROM placed GROUP BY metric, place, k
"""

_DIVIDED = """
    SELECT metric, place, list_extract(k, 1) AS k, number - 2 AS number, list_extract(k, number) AS value,
      sum(total) AS total, sum(size) AS size, max(units) AS units
    FROM summed CROSS JOIN (SELECT unnest(range(2, $end)) AS number) AS numbers
    GROUP BY metric, place, list_extract(k, 1), number, list_extract(k, number)
"""

_RANKED_VALUES = """
    SELECT metric, number, value, row_number() OVER (PARTITION BY metric, number ORDER BY size DESC, value) AS rank,
      count(*) OVER (PARTITION BY metric, number) AS distinct_values
    FROM (SELECT metric, number, value, sum(size) AS size FROM divided GROUP BY metric, number, value)
"""

_CELLS = """
    SELECT list_extract($names, divided.metric + 1) AS metric, divided.number AS number, divided.value AS value,
      place::BIGINT AS place, k AS "cluster", total::INT128 AS total, size::BIGINT AS size, units::BIGINT AS units
    FROM divided JOIN ranked_values ON divided.metric = ranked_values.metric AND divided.number = ranked_values.number
      AND NOT divided.value IS DISTINCT FROM ranked_values.value
    WHERE rank <= $most AND distinct_values <= $distinct AND size > 0
    ORDER BY divided.metric, divided.number, divided.value, place, k
"""
