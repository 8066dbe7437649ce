"""A query yields the same rows when only the columns that it reads exist."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator
from random import Random

import duckdb
import pytest

from assay.lang.sql_dependencies import Reads, find_reads

FIELDS = {"began": {"id": "'x'", "a": "10", "b": "NULL"}, "ended": {"id": "'x'", "c": "3"}}
SOURCES = [
    "began AS t",
    "(FROM began) AS t",
    "(SELECT * FROM began) AS t",
    "(TABLE began) AS t",
    "(SELECT * EXCLUDE (seq) FROM began) AS t",
    "(SELECT q.* FROM began AS q) AS t",
    "(SELECT unnest(began) FROM began) AS t",
    "(SELECT began.* FROM (SELECT began FROM began)) AS t",
    "(SELECT COLUMNS(*) FROM began) AS t",
    "(SELECT COLUMNS('host|id|a') FROM began) AS t",
    "(SELECT HOST, A, id FROM began) AS t",
    "(SELECT #1 AS host, #5 AS a FROM began) AS t",
    "(SELECT host, a FROM (SELECT DISTINCT * EXCLUDE (t_ns, seq) FROM began) GROUP BY ALL) AS t",
    "(WITH began AS (FROM began) SELECT began.* FROM began) AS t",
    "(WITH q(host, a, id) AS (SELECT host, a, id FROM began) FROM q) AS t",
    "(SELECT host, a, id FROM began UNION ALL BY NAME (FROM began)) AS t",
    "(SELECT w.z AS a, w.x AS host, 1 AS id FROM began AS w(x, y, q, p, z)) AS t",
    "began AS t NATURAL LEFT JOIN (SELECT DISTINCT HOST, ID FROM ended)",
    "(SELECT a, host, id FROM began NATURAL JOIN ended) AS t",
    "began AS t LEFT JOIN (SELECT DISTINCT host, Id FROM ended) AS e USING (HOST, ID)",
    "began AS t SEMI JOIN ended USING (\"Id\")",
    "began AS t WHERE (SELECT count(DISTINCT ended) FROM ended) > 0",
]  # fmt: skip
VALUES = [
    "length(to_json(t)::VARCHAR)",
    "length(t.to_json()::VARCHAR)",
    "length(t::VARCHAR)",
    "length(struct_pack(r := t)::VARCHAR)",
    "length({'r': t}::VARCHAR)",
    "length([t]::VARCHAR)",
    "length(array_to_string([COLUMNS(t.*)::VARCHAR], ' '))",
    "T.A",
    'coalesce("A", 0)',
    "(t).a",
    "struct_extract(t, 'a')",
    "t['a']",
    "(SELECT max(q.A) FROM Began AS q WHERE q.HOST = t.host)",
]


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """Create the tables with all their fields, and in the schema `less` only with those that a query reads."""
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA less")
        for name, fields in FIELDS.items():
            connection.execute(_build_view(name, fields))
        yield connection


def _build_view(name: str, fields: Collection[str]) -> str:
    columns = "".join(
        f", {value} AS {field}" for field, value in FIELDS[name.split(".")[-1]].items() if field in fields
    )
    return f"CREATE OR REPLACE VIEW {name} AS SELECT 'h' AS host, 1 AS seq, 2 AS t_ns{columns}"


def _query_rows(engine: duckdb.DuckDBPyConnection, sql: str, schema: str) -> list[tuple[object, ...]]:
    engine.execute(f"USE {schema}")
    return engine.execute(sql).fetchall()


def _randomize_case(sql: str, random: Random) -> str:
    """Return a query with letters of random case, except in texts and quoted names."""
    parts = re.split(r"""('[^']*'|"[^"]*")""", sql)
    return "".join(
        part if index % 2 else "".join(random.choice((letter.lower(), letter.upper())) for letter in part)
        for index, part in enumerate(parts)
    )


@pytest.mark.parametrize("source", SOURCES)
def test_query_yields_the_same_rows_of_what_it_reads(engine: duckdb.DuckDBPyConnection, source: str) -> None:
    for number, value in enumerate(VALUES):
        plain_query = f"SELECT t.host, sum({value})::BIGINT AS n FROM {source} GROUP BY t.host"
        for sql in (plain_query, _randomize_case(plain_query, Random(number))):
            reads = find_reads(sql, FIELDS, ())
            for name, fields in FIELDS.items():
                engine.execute(_build_view(f"less.{name}", reads.filter_columns(fields)))
            expected_rows = _query_rows(engine, sql, "main")
            assert expected_rows[0][0] == "h"
            assert _query_rows(engine, sql, "less") == expected_rows, sql


def test_not_every_form_of_query_reads_everything() -> None:
    reads = [find_reads(f"SELECT {value} FROM {source}", FIELDS, ()).names for source, value in
             itertools.product(SOURCES, VALUES)]  # fmt: skip
    assert 0 < sum(names is not None for names in reads) < len(reads)


def test_columns_and_constants_of_a_query_are_named() -> None:
    reads = find_reads(
        "SELECT max(X) /* y */, 'z' FROM a JOIN b USING (\"W\") WHERE v > $limit -- $other\n", ["a", "b"], ()
    )
    assert reads.filter_columns(["v", "w", "x", "y", "z"]) == {"v", "w", "x"}
    assert reads.constants == {"limit"}
    assert find_reads("SELECT $one FROM", ["a"], ()) == Reads(frozenset({"one"}), None)
