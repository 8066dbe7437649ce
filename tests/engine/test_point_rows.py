"""Test rows that are cached as Parquet and held by column."""

from __future__ import annotations

import math
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from assay.engine.point_rows import PointRows, cache_points, get_column, list_distinct, load_points
from assay.engine.result_cache import Store
from assay.engine.table_cache import ROWS, TABLES_KIND
from assay.sql import dialect

KEY = "0123456789abcdef"
TYPED = """
    SELECT * FROM (VALUES
      (1::BIGINT, -0.0::DOUBLE, 'a ü'::ENUM('b', 'a ü'), 170141183460469231731687::HUGEINT, TRUE, 18446744073709551615::UBIGINT),
      (2, 'nan'::DOUBLE, 'b', -5, NULL, 7),
      (NULL, '-inf'::DOUBLE, NULL, NULL, FALSE, NULL)
    ) AS typed(whole, real, "a name", large, truth, unsigned)
    ORDER BY whole
"""  # noqa: E501
NUMBERED = "SELECT host, n, n / 7 AS value FROM numbered ORDER BY host, n"


def parse_query(text: str) -> exp.Select:
    query = sqlglot.parse_one(text, dialect=dialect.DIALECT)
    assert isinstance(query, exp.Select)
    return query


def store_and_load(connection: duckdb.DuckDBPyConnection, folder: Path, text: str) -> PointRows:
    store = Store(folder)
    cache_points(store, KEY, parse_query(text), lambda sql, _bound=True: connection.execute(sql))
    rows = load_points(store, KEY, connection)
    assert rows is not None
    return rows


def describe_values(rows: list[dict[str, object]]) -> list[dict[str, str]]:
    """Return values that can be compared, also NaN and negative zero."""
    return [{name: f"{type(value).__name__} {value!r}" for name, value in row.items()} for row in rows]


def test_rows_are_those_of_the_engine(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        rows = store_and_load(connection, tmp_path, TYPED)
        result = connection.execute(TYPED)
        names = [item[0] for item in result.description]
        expected = [dict(zip(names, values, strict=True)) for values in result.fetchall()]
    assert describe_values(list(map(dict, rows))) == describe_values(expected)
    assert describe_values([dict(rows[index]) for index in range(len(rows))]) == describe_values(expected)
    assert [row["whole"] for row in rows[1:]] == [2, None]
    assert math.copysign(1, float(str(rows[0]["real"]))) == -1


def test_columns_are_those_of_the_rows(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        rows = store_and_load(connection, tmp_path, "SELECT n // 3 AS third, n FROM range(7) AS seven(n) ORDER BY n")
    plain = [dict(row) for row in rows]
    for either in (rows, plain):
        assert list(get_column(either, "n")) == [*range(7)]
        assert list_distinct(either, ("third",)) == ((0,), (1,), (2,))
    assert sum(len(values) for values in rows.columns.values()) == 14


def test_statement_without_rows_has_columns(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        rows = store_and_load(connection, tmp_path, "SELECT n AS number, 'x' AS text FROM range(0) AS none(n)")
    assert (len(rows), list(rows), list(rows.columns)) == (0, [], ["number", "text"])


def test_damaged_file_is_not_read(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        rows = store_and_load(connection, tmp_path, "SELECT 1 AS number")
        content = rows.file.read_bytes()
        rows.file.write_bytes(content[:-9] + b"x" + content[-8:])
        assert load_points(Store(tmp_path), KEY, connection) is None


def test_file_in_use_is_not_replaced(tmp_path: Path) -> None:
    """Runs of equal content compute the same rows at the same time."""
    with duckdb.connect() as connection:
        first = store_and_load(connection, tmp_path, "SELECT 1 AS number")
        number = first.file.stat().st_ino
        second = store_and_load(connection, tmp_path, "SELECT 1 AS number")
        assert (second.file, second.file.stat().st_ino) == (first.file, number)
        first.file.write_bytes(b"damaged")
        assert list(store_and_load(connection, tmp_path, "SELECT 1 AS number")) == [{"number": 1}]
    assert [path.name for path in (tmp_path / TABLES_KIND).iterdir()] == [KEY]


@pytest.mark.parametrize("has_host_type", [False, True], ids=["texts", "enumeration"])
def test_bytes_do_not_depend_on_threads(has_host_type: bool, tmp_path: Path) -> None:
    contents = set()
    for threads, is_reversed in ((1, False), (4, False), (4, True)):
        folder = tmp_path / f"{threads}{is_reversed}"
        with duckdb.connect(config={"threads": threads}) as connection:
            connection.execute("CREATE TYPE host_name AS ENUM ('c', 'b', 'a', 'unused')")
            host = "host::host_name" if has_host_type else "host"
            connection.execute(
                f"CREATE TABLE numbered AS SELECT {host} AS host, n FROM range(400_000) AS numbers(n),"
                f" (VALUES ('a'), ('b'), ('c')) AS hosts(host) ORDER BY n {'DESC' if is_reversed else 'ASC'}"
            )
            store_and_load(connection, folder, NUMBERED)
        contents.add((folder / TABLES_KIND / KEY / ROWS).read_bytes())
    assert len(contents) == 1


def test_bytes_depend_on_the_rows_alone(tmp_path: Path) -> None:
    """The engine reads tables of several files in more and smaller pieces than those in memory."""
    files = []
    with duckdb.connect() as connection:
        for part in range(4):
            source = f"SELECT i % 3 AS host, i AS n FROM range(40) AS numbers(i) WHERE i % 4 = {part}"
            connection.execute(f"COPY ({source}) TO '{tmp_path}/{part}.parquet'")
        for name, table in (
            ("files", f"VIEW numbered AS FROM '{tmp_path}/*.parquet'"),
            ("memory", "TABLE numbered AS SELECT i % 3 AS host, i AS n FROM range(40) AS numbers(i)"),
        ):
            connection.execute(f"CREATE {table}")
            store_and_load(connection, tmp_path / name, NUMBERED)
            connection.execute(f"DROP {table.split()[0]} numbered")
            files.append((tmp_path / name / TABLES_KIND / KEY / ROWS).read_bytes())
    assert files[0] == files[1]
