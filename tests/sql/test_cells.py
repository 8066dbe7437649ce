"""Test the cells of metrics: places in time, clusters, exact sums, and samples that are left out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from assay.lang.checked_package import REAL_DECIMALS, MeasureResult
from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Metric, Reduction, Unit
from assay.sql import dialect
from assay.sql.sample_cells import build_cells

NONE = Unit("dimensionless", "")
METRIC = Metric("m", "", "", "g", Expression("column", name="x"), None, False, None, "", NONE, "neither", 4)
GRAIN = Grain("g", "r", None, (), (), (), (), (), None, (), "", time="slot", cluster="host")
PER_HOST = replace(METRIC, per="host", sampled_only=True)

Row = tuple[int | None, str | None, float | None]
"""Slot, host and value."""
Cells = list[tuple[Any, ...]]


def compute_cells(metric: Metric, rows: Sequence[Row], grain: Grain = GRAIN, integral: bool = True) -> Cells:
    """Return place, cluster, total, size, lost and units of each cell."""
    return [cell[1:] for cell in compute_all_cells([metric], rows, grain, integral)]


def compute_all_cells(metrics: Sequence[Metric], rows: Sequence[Row], grain: Grain, integral: bool = True) -> Cells:
    """Return the cells of metrics: metric, place, cluster, total, size, lost and units."""
    with duckdb.connect() as connection:
        kind = "BIGINT" if integral else "DOUBLE"
        decimals = dict.fromkeys((item.id for item in metrics), 0 if integral else REAL_DECIMALS)
        connection.execute(f"CREATE TABLE g (slot BIGINT, host TEXT, x {kind})")
        for row in rows:
            connection.execute("INSERT INTO g VALUES (?, ?, ?)", list(row))
        return connection.execute(dialect.to_sql(build_cells(metrics, grain, decimals, {}))).fetchall()


@pytest.mark.parametrize(
    ("metric", "rows", "cells"),
    [
        pytest.param(METRIC, [(5, "a", 1), (5, "a", 2), (9, "b", 3)], [(0, "a", 3, 2), (1, "b", 3, 1)], id="sums"),
        pytest.param(METRIC, [(5, "a", 1), (9, "a", None)], [(0, "a", 1, 1)], id="row without a value"),
        pytest.param(METRIC, [(5, None, 1)], [(0, "", 1, 1)], id="row without a host"),
        pytest.param(METRIC, [(None, "a", 1), (9, "a", 2)], [(0, "a", 3, 2)], id="row without a time"),
        pytest.param(PER_HOST, [(5, None, 1), (5, "a", 2)], [(0, "a", 2, 1)], id="a host each, none unknown"),
        pytest.param(
            replace(PER_HOST, sampled_only=False),
            [(5, "a", 2), (6, "b", None)],
            [(0, "a", 2, 1), (0, "b", 0, 1)],
            id="host without samples counts as 0",
        ),
        pytest.param(
            replace(METRIC, reduction=Reduction(("slot",), "max", 0.0)),
            [(5, "a", 1), (5, "b", 4), (6, "b", 2)],
            [(0, "", 4, 1), (1, "", 2, 1)],
            id="a group is of no host",
        ),
        pytest.param(
            replace(METRIC, reduction=Reduction(("host",), "sum", 0.0)),
            [(5, "a", 1), (9, "b", 4), (7, "a", 2)],
            [(0, "a", 3, 1), (1, "b", 4, 1)],
            id="a group has the time of its first row",
        ),
        pytest.param(METRIC, [], [], id="no rows"),
    ],
)
def test_cells_of_few_rows(metric: Metric, rows: Sequence[Row], cells: Cells) -> None:
    assert [cell[:4] for cell in compute_cells(metric, rows)] == cells


def test_real_measure_may_be_a_whole_constant() -> None:
    """The engine would multiply two integers of 32 bits, and overflow."""
    quantity = replace(METRIC, measure=Expression("quantity", number=Decimal(1500), unit="gigabyte"))
    cells = compute_cells(quantity, [(5, "a", 0.0), (9, "a", 0.0)], integral=False)
    assert [cell[2] for cell in cells] == [1500 * 10**REAL_DECIMALS] * 2


def test_few_units_have_a_place_each() -> None:
    cells = compute_cells(METRIC, [(3 * slot, "a", 1) for slot in range(188)])
    assert [(cell[0], cell[5]) for cell in cells] == [(place, 188) for place in range(188)]


def test_many_units_share_63_places_by_rank() -> None:
    slots = [*range(100), *range(1000, 1152)]
    cells = compute_cells(METRIC, [(slot, "a", 1) for slot in slots])
    assert [cell[0] for cell in cells] == list(range(63))
    assert {cell[3] for cell in cells} == {4}


def test_places_of_metrics_per_host_are_parts_of_the_time() -> None:
    slots = [*range(100), *range(1000, 1152)]
    cells = compute_cells(PER_HOST, [(slot, "a", 1) for slot in slots])
    width = 1152 / 63
    assert {cell[0] for cell in cells} == {int(slot / width) for slot in slots}
    assert sum(cell[3] for cell in cells) == len(slots)


def test_real_samples_are_summed_up_exactly() -> None:
    cells = compute_cells(METRIC, [(0, "a", 0.1), (0, "a", 0.2), (0, "a", -1e-9)], integral=False)
    assert [cell[:5] for cell in cells] == [(0, "a", 3 * 10**REAL_DECIMALS // 10 - 1, 3, 0)]


def test_decimals_that_count_are_those_in_the_unit_of_the_metric() -> None:
    """Rates are in 1/ns, of which one is 10^9 1/s: 0.4 and 0.6 per second are not 0 and 1."""
    results = [MeasureResult("real", "", Fraction(factor)) for factor in (1, Fraction(1, 10**6), 60, 10**9)]
    assert [item.decimals for item in results] == [9, 9, 11, 18]
    assert MeasureResult("integer", "", Fraction(10**9)).decimals == 0
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE g AS SELECT 0 AS slot, 'a' AS host, unnest([4e-10, 6e-10]) AS x")
        (cell,) = connection.execute(dialect.to_sql(build_cells([METRIC], GRAIN, {"m": 18}, {}))).fetchall()
    assert cell[3:5] == (10**9, 2)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e18])
def test_sample_that_cannot_be_summed_up_is_lost(value: float) -> None:
    cells = compute_cells(METRIC, [(0, "a", 1.0), (0, "a", value)], integral=False)
    assert [cell[:5] for cell in cells] == [(0, "a", 10**REAL_DECIMALS, 1, 1)]


def test_sum_beyond_64_bits_is_exact() -> None:
    cells = compute_cells(METRIC, [(0, "a", 2**62)] * 8)
    assert cells[0][2] == 2**65


def test_order_of_rows_changes_no_cell() -> None:
    generator = random.Random(33)
    rows: list[Row] = [(generator.randrange(400), generator.choice("abc"), generator.random()) for _ in range(900)]
    cells = compute_cells(PER_HOST, rows, integral=False)
    generator.shuffle(rows)
    assert compute_cells(PER_HOST, rows, integral=False) == cells


def test_grain_without_cluster_has_one() -> None:
    cells = compute_cells(METRIC, [(5, "a", 1), (5, "b", 2)], replace(GRAIN, cluster=""))
    assert [cell[:4] for cell in cells] == [(0, "", 3, 2)]


@pytest.mark.parametrize("metric", [METRIC, PER_HOST, replace(PER_HOST, sampled_only=False)])
@pytest.mark.parametrize("times", [20, 400])
def test_metrics_together_have_the_cells_of_each(metric: Metric, times: int) -> None:
    """The second metric has a sample only where the first exceeds 6, so their times differ."""
    generator = random.Random(times)
    rows: list[Row] = [
        (generator.randrange(times), generator.choice("abc"), generator.randrange(9)) for _number in range(900)
    ]
    rows += [(None, "d", 8), (7, None, 5), (3, "e", None)]
    x, six = Expression("column", name="x"), Expression("integer", number=Decimal(6))
    metrics = [replace(metric, id="all"), replace(metric, id="some", where=Expression("above", (x, six)))]
    cells = compute_all_cells(metrics, rows, GRAIN)
    own_cells = {item.id: compute_cells(item, rows) for item in metrics}
    assert own_cells["all"] != own_cells["some"]
    for name, expected_cells in own_cells.items():
        assert [cell[1:] for cell in cells if cell[0] == name] == expected_cells
