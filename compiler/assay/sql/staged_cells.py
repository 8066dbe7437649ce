"""Compute the cells of metrics for some hosts at a time, in three stages.

The place of a sample depends on the times of all hosts, so that the query for cells cannot run for some hosts alone.
But the times are few: each portion selects its own, these are merged, and then each portion has the cells of its hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from assay.sql import dialect
from assay.sql.dialect import build_integer
from assay.sql.sample_cells import INLINED
from assay.sql.template import fill_query

TIMES, BOUNDS, RANKED = "times", "bounds", "ranked"
MOST_METRICS = 62  # of a query: each is a bit of an integer


@dataclass(frozen=True, slots=True)
class StagedCells:
    """The queries of the three stages.

    `times` selects the times of some hosts, each with the metrics that have a sample then, as bits. `merged` has the
    queries of tables over the rows of `times` of all portions. `cells` reads these, and yields the cells of some hosts.
    `metrics` are in the order of the cells.
    """

    times: exp.Select
    merged: Mapping[str, exp.Select]
    cells: exp.Select
    metrics: tuple[str, ...]


def stage_cells(query: exp.Select, name: str) -> StagedCells | None:
    """Return the stages of a query that `build_cells` returned for metrics with distributions of hosts.

    Names of tables begin with `name`. None if there are too many metrics.
    """
    stages = {item.alias: item.this for item in query.args["with_"].expressions}
    names = next(item for item in query.selects if item.alias == "metric").find(exp.Array)
    assert names is not None
    metrics = tuple(item.name for item in names.expressions)
    if len(metrics) > MOST_METRICS:
        return None
    times = dialect.add_stages(fill_query(_TIMES), [("samples", stages["samples"].copy())], inlined=INLINED)
    numbers = exp.Array(expressions=[build_integer(number) for number in range(len(metrics))])
    unpacked = (TIMES, fill_query(_UNPACKED, numbers=numbers, times=f"{name} {TIMES}"))
    bounds = (BOUNDS, fill_query("SELECT * FROM $table", table=f"{name} {BOUNDS}"))
    ranked = (RANKED, fill_query("SELECT * FROM $table", table=f"{name} {RANKED}"))
    merged = {
        f"{name} {BOUNDS}": dialect.add_stages(stages[BOUNDS].copy(), [unpacked]),
        f"{name} {RANKED}": dialect.add_stages(stages[RANKED].copy(), [unpacked, bounds]),
    }
    replaced = dict([bounds, ranked])
    others = [(alias, replaced.get(alias, stage)) for alias, stage in stages.items() if alias != TIMES]
    cells = dialect.add_stages(query.copy(), [(alias, stage.copy()) for alias, stage in others], inlined=INLINED)
    return StagedCells(times, merged, cells, metrics)


_TIMES = "SELECT t, bit_or(1::BIGINT << metric) AS metrics FROM samples WHERE NOT t IS NULL GROUP BY t"

_UNPACKED = """
    SELECT metric, t
    FROM (
      SELECT t, metrics, unnest($numbers)::INTEGER AS metric
      FROM (SELECT t, bit_or(metrics) AS metrics FROM $times GROUP BY t)
    )
    WHERE (metrics >> metric) & 1 = 1
"""
