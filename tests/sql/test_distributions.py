"""Test distributions of metrics on random rows against plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric, Reduction, Unit
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.sql import dialect
from assay.sql.distributions import build_distribution, get_domain
from assay.util.centiles import CENTILES
from tests.support.deep import scale_examples

NONE = Unit("dimensionless", "")
METRIC = Metric("m", "", "", "g", Expression("column", name="value"), None, True, None, "", NONE, "neither", 4)
CONNECTION = duckdb.connect()
CONNECTION.execute("SET threads = 1")

Row = tuple[str, str, int | None, bool]
"""Host, key, value, whether filters accept it."""
ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.none() | st.integers(-20, 20), st.booleans()),
    max_size=40,
)
REDUCED: dict[str, Callable[[list[int]], int]] = {"min": min, "max": max, "sum": sum, "count": len}


def compute_distribution(
    metric: Metric, rows: Sequence[Row], integral: bool = True
) -> dict[str, tuple[Any, ...] | None]:
    """Return size, mean, deviation and centiles by host ("" without hosts); None without samples."""
    kind = "BIGINT" if integral else "DOUBLE"
    CONNECTION.execute(f"CREATE OR REPLACE TABLE g (host TEXT, k TEXT, value {kind}, accepted BOOLEAN)")
    if rows:
        CONNECTION.executemany("INSERT INTO g VALUES (?, ?, ?, ?)", [list(row) for row in rows])
    actual_rows = CONNECTION.execute(dialect.to_sql(build_distribution(metric, "g", integral, {}))).fetchall()
    rows_by_host = {str(row[0]): row[1:] for row in actual_rows} if metric.per else {"": actual_rows[0]}
    return {host: row if row[0] else None for host, row in rows_by_host.items()}


def compute_size_and_mean(metric: Metric, rows: Sequence[Row], integral: bool = True) -> tuple[Any, ...]:
    """Return size and mean of a metric with samples, over all hosts."""
    figures = compute_distribution(metric, rows, integral)[""]
    assert figures is not None
    return figures[:2]


def compute_by_hand(values: Sequence[float]) -> tuple[Any, ...] | None:
    """Compute size, mean, deviation and centiles of one host's samples."""
    if not values:
        return None
    ordered_values, size = sorted(values), len(values)
    mean = sum(map(Fraction, ordered_values)) / size
    squares = sum((value - mean) ** 2 for value in ordered_values)
    stddev = math.sqrt(squares / (size - 1)) if size > 1 else 0.0
    centiles = [ordered_values[min(math.floor(size * Fraction(c)), size - 1)] for c in CENTILES]
    return size, float(mean), pytest.approx(stddev, rel=1e-12, abs=1e-12), centiles


def group_values(rows: Sequence[Row], per: str) -> dict[str, dict[str, list[int]]]:
    """Return the accepted values by host ("" without hosts) and key."""
    groups: dict[str, dict[str, list[int]]] = {row[0]: {} for row in rows} if per else {"": {}}
    for host, key, value, accepted in rows:
        if accepted and value is not None:
            groups[host if per else ""].setdefault(key, []).append(value)
    return groups


def compute_all_by_hand(samples: dict[str, list[int]]) -> dict[str, tuple[Any, ...] | None]:
    """Apply `by_hand` to each host."""
    return {host: compute_by_hand(values) for host, values in samples.items()}


@settings(max_examples=scale_examples(40), deadline=None)
@given(rows=ROWS, per=st.sampled_from(["", "host"]))
def test_samples_are_accepted_rows_with_a_value(rows: list[Row], per: str) -> None:
    values = group_values(rows, per)
    samples = {
        host: [value for saved_values in keys.values() for value in saved_values] for host, keys in values.items()
    }
    assert compute_distribution(replace(METRIC, per=per), rows) == compute_all_by_hand(samples)


@pytest.mark.parametrize("kind", REDUCED)
@settings(max_examples=scale_examples(25), deadline=None)
@given(rows=ROWS, per=st.sampled_from(["", "host"]))
@example(rows=[("a", "x", 3, True), ("b", "x", 5, True), ("a", "x", 4, True), ("a", "y", 9, True)], per="host")
def test_rows_of_a_key_are_one_sample(kind: str, rows: list[Row], per: str) -> None:
    """They are one sample per host if the metric has a distribution per host."""
    values = group_values(rows, per)
    samples = {host: [REDUCED[kind](saved_values) for saved_values in keys.values()] for host, keys in values.items()}
    assert compute_distribution(
        replace(METRIC, per=per, reduction=Reduction(("k",), kind, 0.0)), rows
    ) == compute_all_by_hand(samples)


@settings(max_examples=scale_examples(25), deadline=None)
@given(rows=ROWS, c=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_centile_of_rows_of_a_key_is_an_order_statistic(rows: list[Row], c: float) -> None:
    saved_samples = [sorted(values) for values in group_values(rows, "")[""].values()]
    samples = [values[min(math.floor(len(values) * c), len(values) - 1)] for values in saved_samples]
    reduced = replace(METRIC, reduction=Reduction(("k",), "centile", c))
    assert compute_distribution(reduced, rows) == {"": compute_by_hand(samples)}


@settings(max_examples=scale_examples(25), deadline=None)
@given(rows=ROWS)
def test_metric_measures_all_rows_or_those_of_a_condition(rows: list[Row]) -> None:
    all_values = [value for _, _, value, _ in rows if value is not None]
    assert compute_distribution(replace(METRIC, accepted=False), rows) == {"": compute_by_hand(all_values)}
    condition = Expression("above", (Expression("column", name="value"), Expression("integer", number=3)))
    metric_of_some_rows = replace(METRIC, accepted=False, where=condition)
    assert compute_distribution(metric_of_some_rows, rows) == {
        "": compute_by_hand([value for value in all_values if value > 3])
    }


def test_mean_of_integers_is_one_division_of_exact_sum() -> None:
    """In doubles these three would sum to 0."""
    rows: list[Row] = [("a", "x", value, True) for value in (2**60, 1, -(2**60))]
    assert compute_size_and_mean(METRIC, rows) == (3, 1 / 3)


SUMMED = replace(METRIC, reduction=Reduction(("k",), "sum", 0.0))


def test_real_numbers_are_summed_with_compensation() -> None:
    """Without compensation, ten times 0.1 is less than 1."""
    rows: list[Any] = [("a", "x", 0.1, True)] * 10
    assert compute_size_and_mean(METRIC, rows, integral=False) == (10, 0.1)
    assert compute_size_and_mean(SUMMED, rows, integral=False) == (1, 1.0)


def test_order_of_rows_changes_no_sum_of_real_numbers() -> None:
    """A plain sum in these orders is 0, 1 and 0."""
    rows: list[Any] = [("a", "x", value, True) for value in (1e16, 1.0, -1e16)]
    orders = [rows, [rows[0], rows[2], rows[1]], rows[::-1]]
    for metric in (METRIC, SUMMED):
        assert len({compute_size_and_mean(metric, permuted, integral=False) for permuted in orders}) == 1


def test_rows_without_a_group_are_in_no_distribution(cache: Path) -> None:
    package = load_package(get_shipped_workspace(), "cardano", cache).package
    metric = next(item for item in package.metrics if item.per and item.reduction is None)
    grain = next(item for item in package.grains if item.name == metric.grain)
    metric = replace(metric, per="grp", measure=Expression("column", (), name="n"), where=None)
    query = dialect.to_sql(build_distribution(metric, get_domain(replace(grain, runs=None)), True, {}))
    with duckdb.connect() as connection:
        rows = "('g', 1), ('g', 2), (NULL, 7), ('h', NULL), (NULL, NULL)"
        connection.execute(
            f"CREATE TABLE {grain.name} AS SELECT *, true AS accepted FROM (VALUES {rows}) AS t (grp, n)"
        )
        cursor = connection.execute(query)
        names = [str(item[0]) for item in cursor.description or ()]
        sizes = {row[names.index("per")]: row[names.index("size")] for row in cursor.fetchall()}
    assert sizes == {"g": 2, "h": None}
