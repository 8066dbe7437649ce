"""Test that queries that run for some hosts at a time yield the same rows as for all at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.portions import Partition
from assay.sql import dialect
from tests.support.deep import scale_examples
from tests.support.sql_cases import read_cases

CASES = Path(__file__).parent / "cases"
CONNECTION = duckdb.connect()  # starting an engine takes longer than its queries
ROWS = st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 4), st.integers(0, 4)), max_size=8)
HOSTS = ("host IN ('x')", "host IN ('y', 'z')")
#: rows without a key belong to one of the partitions
KEYED_ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "z", "u", None]), st.integers(0, 4), st.integers(0, 4)), max_size=8
)
Rows = list[tuple[object, ...]]


def list_queries(name: str) -> list[str]:
    """Return the queries of a file that can run for some hosts at a time."""
    return [case.sql for case in read_cases(CASES / name) if case.expected == "yes"]


QUERIES, CHECKS = list_queries("partitioning.sql"), list_queries("checked_partitions.sql")
ORDERED = list_queries("ordered_partitions.sql")


def fill_tables(a: list[object], b: list[object]) -> None:
    """Fill the tables that the queries read."""
    for name, rows in (("a", a), ("b", b)):
        CONNECTION.execute(f"CREATE OR REPLACE TABLE {name} (host VARCHAR, n BIGINT, m BIGINT)")
        if rows:
            CONNECTION.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)


def fetch_by_partitions(query: str, conditions: Sequence[str] = HOSTS) -> Rows:
    """Return the rows that a query yields for some hosts at a time, or for other partitions."""
    rows: Rows = []
    for condition in conditions:
        for name in ("a", "b"):
            CONNECTION.execute(
                f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM memory.main.{name} WHERE {condition}"
            )
        rows += CONNECTION.execute(query).fetchall()
        CONNECTION.execute("DROP VIEW temp.main.a")
        CONNECTION.execute("DROP VIEW temp.main.b")
    return rows


@given(a=ROWS, b=ROWS)
@settings(deadline=None, max_examples=scale_examples(60))
def test_query_yields_the_same_for_some_hosts_at_a_time(a: list[object], b: list[object]) -> None:
    fill_tables(a, b)
    for query in QUERIES:
        rows = fetch_by_partitions(query)
        assert sorted(rows, key=repr) == sorted(CONNECTION.execute(query).fetchall(), key=repr), query


@given(a=ROWS, b=ROWS)
@settings(deadline=None, max_examples=scale_examples(60))
def test_check_fails_exactly_if_it_fails_for_some_hosts(a: list[object], b: list[object]) -> None:
    fill_tables(a, b)
    for query in CHECKS:
        assert bool(fetch_by_partitions(query)) is bool(CONNECTION.execute(query).fetchall()), query


@given(a=ROWS, b=ROWS)
@settings(deadline=None, max_examples=scale_examples(60))
def test_ordered_rows_are_those_of_hosts_in_order(a: list[object], b: list[object]) -> None:
    fill_tables(a, b)
    for query in ORDERED:
        assert fetch_by_partitions(query) == CONNECTION.execute(query).fetchall(), query


@given(a=KEYED_ROWS, b=KEYED_ROWS, count=st.integers(1, 4))
@settings(deadline=None, max_examples=scale_examples(60))
def test_query_yields_the_same_for_parts_of_a_key(a: list[object], b: list[object], count: int) -> None:
    fill_tables(a, b)
    conditions = [
        dialect.to_sql(Partition(key="host", number=number, count=count).build_condition()) for number in range(count)
    ]
    for query in QUERIES:
        rows = fetch_by_partitions(query, conditions)
        assert sorted(rows, key=repr) == sorted(CONNECTION.execute(query).fetchall(), key=repr), query
    for query in CHECKS:
        assert bool(fetch_by_partitions(query, conditions)) is bool(CONNECTION.execute(query).fetchall()), query
