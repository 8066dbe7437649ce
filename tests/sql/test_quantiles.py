"""Test the quantiles of metrics: order statistics, and samples up to each quantile by place in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import duckdb
import pytest

from assay.judgement.quantile_interval import find_index
from assay.judgement.shift import SHARES, STEPS
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.sql import dialect
from assay.sql.quantiles import build_quantiles
from tests.sql.test_cells import GRAIN, METRIC, PER_HOST, Row


def compute_quantiles(metrics: Sequence[Metric], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of the query."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE g (slot BIGINT, host TEXT, x BIGINT)")
        connection.executemany("INSERT INTO g VALUES (?, ?, ?)", [list(row) for row in rows])
        cursor = connection.execute(dialect.to_sql(build_quantiles(metrics, GRAIN, {item.id for item in metrics}, {})))
        names = [item[0] for item in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("metric", [METRIC, PER_HOST])
@pytest.mark.parametrize("count", [1, 7, 60, STEPS + 40])
def test_quantiles_are_those_of_all_samples(metric: Metric, count: int) -> None:
    random = Random(count)
    rows: list[Row] = [(slot // 3, random.choice("ab"), random.randrange(500)) for slot in range(count)]
    result = compute_quantiles([metric], rows)
    ascending = sorted(int(value or 0) for _, _, value in rows)
    quantiles = [ascending[find_index(count, share)] for share in SHARES]
    last = min(count - 1, STEPS)
    assert result[0]["quantiles"] == quantiles
    assert result[0]["steps"] == [ascending[step * (count - 1) // max(last, 1)] for step in range(last + 1)]
    assert all(row["quantiles"] is None and row["steps"] is None for row in result[1:])
    assert sum(row["size"] for row in result) == count
    assert {row["units"] for row in result} == {-(-count // 3)}
    totals = [sum(row["below"][index] for row in result) for index in range(len(SHARES))]
    assert totals == [sum(value <= bound for value in ascending) for bound in quantiles]


def test_samples_are_counted_at_their_place() -> None:
    rows: list[Row] = [(slot, "a", slot % 10) for slot in range(40)]
    result = compute_quantiles([METRIC], rows)
    assert [row["place"] for row in result] == list(range(40))
    median = result[0]["quantiles"][4]
    assert [row["below"][4] for row in result] == [int(slot % 10 <= median) for slot in range(40)]


def test_one_query_has_the_quantiles_of_each_metric_alone() -> None:
    random = Random(3)
    rows: list[Row] = [(slot, "ab"[slot % 2], random.randrange(9)) for slot in range(50)]
    rows += [(50, "a", None), (None, "b", 100)]
    odd = Expression("column", name="slot")
    metrics = [METRIC, replace(METRIC, id="slots", measure=odd), replace(METRIC, id="again")]
    alone = [row for metric in metrics for row in compute_quantiles([metric], rows)]
    assert compute_quantiles(metrics, rows) == alone
    assert [row["metric"] for row in alone if row["steps"]] == ["m", "slots", "again"]


def test_rows_without_a_value_are_no_samples() -> None:
    assert compute_quantiles([METRIC], [(5, "a", None)]) == []
    (row,) = compute_quantiles([PER_HOST], [(5, None, 3), (5, "a", 4)])
    assert row["steps"] == [4]
