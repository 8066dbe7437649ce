"""Test instants that are read from data: the first or last row that meets a condition."""

from __future__ import annotations

import duckdb
import pytest

from assay.lang.model.expression import parse_expression
from assay.lang.model.vocabulary import Cut
from assay.sql import dialect, grains

ROWS = [("old", 30), ("new", 20), ("old", 10), ("new", 40), ("old", 50)]


@pytest.mark.parametrize(
    ("pick", "condition", "expected"),
    [
        ("first", "", 10),
        ("last", "", 50),
        ("first", 'equals(field version, "new")', 20),
        ("last", 'equals(field version, "new")', 40),
        ("first", "equals(field version, constant wanted)", 20),
        ("last", 'equals(field version, "none")', None),
    ],
)
def test_instant_is_that_of_the_first_or_last_row(pick: str, condition: str, expected: int | None) -> None:
    """Rows are ordered by time; without a row there is no instant."""
    condition_expression = parse_expression(condition) if condition else None
    query = dialect.to_sql(
        grains.select_cut_instant(Cut("upgrade", "", "told", "t_ns", pick, condition_expression, ""), {"wanted": "new"})
    )
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE told (version TEXT, t_ns BIGINT)")
        connection.executemany("INSERT INTO told VALUES (?, ?)", [list(row) for row in ROWS])
        assert connection.execute(query).fetchall() == [(expected,)]
