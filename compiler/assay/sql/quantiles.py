"""Compile queries for the quantiles of metrics: order statistics, and how many samples of each place are at most each.

Samples of all hosts are pooled, also where hosts have distributions of their own.

One query computes the quantiles of all metrics of a grain, because the engine takes longer to plan a query than to
execute it over a usual run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from assay.judgement.shift import SHARES, STEPS
from assay.lang.model.package import Grain, Metric
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.sql.sample_cells import build_names, list_place_stages, number_samples, select_timed_samples
from assay.sql.template import fill_expression, fill_query


def build_quantiles(
    metrics: Sequence[Metric], grain: Grain, integral: Collection[str], constants: Mapping[str, object]
) -> exp.Select:
    """Return the query for the quantiles of metrics: metric, place, size, below, units, quantiles and steps.

    The metrics are of one grain, and all have the same `per`; `integral` are the ids of those whose samples are
    integers.  `below` has, for each of `SHARES`, how many samples of the place are at most the quantile.  Quantiles and
    steps (samples at equal distances of rank) are in the first row of a metric, else null.  A metric without samples
    yields no row.
    """
    samples = [
        number_samples(number, select_timed_samples(metric, grain, metric.id in integral, constants))
        for number, metric in enumerate(metrics)
    ]
    stages = [
        *list_place_stages(samples, bool(metrics[0].per)),
        ("ordered", fill_query(_ORDERED, ordered_list=dialect.build_ordered_list(build_column("value")))),
        ("ranks", fill_query("SELECT metric, $quantiles AS quantiles, $steps AS steps FROM ordered", **_build_ranks())),
        ("counted", fill_query(_COUNTED, below=_build_counts())),
    ]
    return dialect.add_stages(fill_query(_RESULT, names=build_names(metrics)), stages)


_ORDERED = """
    SELECT metric, $ordered_list AS ordered_values, count(value) - 1 AS last FROM samples GROUP BY metric
"""

_COUNTED = """
    SELECT metric, place::BIGINT AS place, count(*) AS size, $below AS below, max(units) AS units
    FROM placed JOIN ranks USING (metric) GROUP BY metric, place
"""

_RESULT = """
    SELECT list_extract($names, metric + 1) AS metric, place, size, below, units,
      CASE WHEN row_number() OVER (PARTITION BY metric ORDER BY place) = 1 THEN quantiles END AS quantiles,
      CASE WHEN row_number() OVER (PARTITION BY metric ORDER BY place) = 1 THEN steps END AS steps
    FROM counted JOIN ranks USING (metric) ORDER BY counted.metric, counted.place
"""


def _build_ranks() -> dict[str, exp.Expr]:
    """Return the lists of the samples at `SHARES` and at `STEPS` equal distances of rank."""
    percents = fill_expression(f"[{', '.join(str(int(100 * share)) for share in SHARES)}]")
    quantile = fill_expression("list_extract(ordered_values, least((last + 1) * c // 100, last) + 1)")
    distances = f"least(last, {STEPS})"
    step = fill_expression(f"list_extract(ordered_values, j * last // greatest({distances}, 1) + 1)")
    return {
        "quantiles": dialect.build_list_transform(percents, "c", quantile),
        "steps": dialect.build_list_transform(fill_expression(f"range({distances} + 1)"), "j", step),
    }


def _build_counts() -> exp.Expr:
    count = "count(*) FILTER (WHERE value <= list_extract(quantiles, {}))"
    return fill_expression(f"[{', '.join(count.format(index) for index in range(1, len(SHARES) + 1))}]")
