"""Test that the cells of metrics are the same when they are computed for some hosts at a time, in stages."""

from __future__ import annotations

from dataclasses import replace

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from assay.lang.model.expression import Expression
from assay.lang.model.package import Reduction
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql
from assay.sql.sample_cells import build_cells
from assay.sql.staged_cells import MOST_METRICS, stage_cells
from tests.sql.test_cells import GRAIN, PER_HOST
from tests.support.deep import scale_examples

METRICS = (
    replace(PER_HOST, id="sampled"),
    replace(PER_HOST, id="all", sampled_only=False),
    replace(PER_HOST, id="later", measure=Expression("column", name="y"), sampled_only=False),
    replace(PER_HOST, id="greatest", reduction=Reduction(("slot",), "max", 0.0)),
)
PORTIONS = (("a",), ("b", "c"))
CONNECTION = duckdb.connect()
VALUES = st.one_of(st.none(), st.integers(-9, 9))
ROWS = st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.sampled_from("abc"), VALUES, VALUES), max_size=12)


def create(name: str, query: exp.Select) -> None:
    """Create a temporary table of a query."""
    CONNECTION.execute(build_create_sql(Statement("table", name, query)))


def restrict(hosts: tuple[str, ...]) -> None:
    """Restrict the grain to some hosts."""
    names = ", ".join(f"'{host}'" for host in hosts)
    CONNECTION.execute(f"CREATE OR REPLACE TEMP VIEW g AS SELECT * FROM memory.main.g WHERE host IN ({names})")


@given(rows=ROWS, spread=st.sampled_from([1, 40]), integral=st.booleans())
@settings(deadline=None, max_examples=scale_examples(40))
def test_cells_in_stages_equal_cells_at_once(rows: list[tuple[object, ...]], spread: int, integral: bool) -> None:
    """Each row is repeated `spread` times. With the greater spread, places are shares of the time."""
    CONNECTION.execute("CREATE OR REPLACE TABLE g (slot BIGINT, host TEXT, x BIGINT, y BIGINT)")
    for row in rows:
        values = "INSERT INTO g SELECT $1 * $5 + i, $2, $3, $4 + i FROM range($5) AS numbers(i)"
        CONNECTION.execute(values, [*row, spread])
    query = build_cells(METRICS, GRAIN, dict.fromkeys((item.id for item in METRICS), 0 if integral else 9), {})
    expected = CONNECTION.execute(dialect.to_sql(query)).fetchall()
    stages = stage_cells(query, "cells g")
    assert stages is not None
    try:
        for number, hosts in enumerate(PORTIONS):
            restrict(hosts)
            create(f"part {number}", stages.times)
        CONNECTION.execute('CREATE TEMP TABLE "cells g times" AS FROM "part 0" UNION ALL FROM "part 1"')
        for name, merged in stages.merged.items():
            create(name, merged)
        actual = []
        for hosts in PORTIONS:
            restrict(hosts)
            actual += CONNECTION.execute(dialect.to_sql(stages.cells)).fetchall()
    finally:
        CONNECTION.execute("DROP VIEW temp.main.g")
        for name in ("part 0", "part 1", "cells g times", *stages.merged):
            CONNECTION.execute(f'DROP TABLE IF EXISTS temp.main."{name}"')
    assert sorted(actual, key=lambda row: (stages.metrics.index(row[0]), row[1], row[2])) == expected


def test_metrics_beyond_the_bits_of_an_integer_have_no_stages() -> None:
    metrics = [replace(PER_HOST, id=f"m{number}") for number in range(MOST_METRICS + 1)]
    decimals = dict.fromkeys((item.id for item in metrics), 0)
    assert stage_cells(build_cells(metrics, GRAIN, decimals, {}), "cells") is None
    assert stage_cells(build_cells(metrics[:MOST_METRICS], GRAIN, decimals, {}), "cells") is not None
