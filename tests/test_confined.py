"""Specs stay within their data: SQL that reaches files, the network, settings, the clock or chance is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from assay.engine.execute import connect
from assay.engine.mount import confine
from assay.spec.diagnostics import AssayError
from assay.sql.relations import compile_query
from tests.support.commands import assay
from tests.support.workspaces import edited, workspace

READS = ("slots", "blocks")


def refused(sql: str) -> str:
    with pytest.raises(AssayError) as error:
        compile_query(sql, {}, READS, "relation `r`")
    return str(error.value).split("\n")[0]


@pytest.mark.parametrize(
    ("sql", "function"),
    [
        ("SELECT * FROM read_text('/etc/passwd')", "read_text"),
        ("SELECT * FROM read_csv('x.csv')", "read_csv"),
        ("SELECT * FROM read_parquet(['x'])", "read_parquet"),
        ("SELECT * FROM glob('/etc/*')", "glob"),
        ("SELECT max(slot) FROM slots WHERE slot < (SELECT count(*) FROM read_blob('x'))", "read_blob"),
        ("SELECT getenv('HOME') AS a FROM slots", "getenv"),
        ("SELECT current_setting('TimeZone') AS a FROM slots", "current_setting"),
        ("SELECT now() AS a FROM slots", "now"),
        ("SELECT CURRENT_TIMESTAMP AS a FROM slots", "current_timestamp"),
        ("SELECT random() AS a FROM slots", "rand"),
        ("SELECT uuid() AS a FROM slots", "uuid"),
        ("SELECT * FROM query('SELECT 1')", "query"),
        ("SELECT * FROM duckdb_settings()", "duckdb_settings"),
    ],
)
def test_functions_that_read_more_than_tables(sql: str, function: str) -> None:
    """By the name that the SQL has for them."""
    text = f"error[sql-function]: the SQL of relation `r` calls `{function}`, which reads more than its tables"
    assert refused(sql) == text


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("COPY slots TO 'x.csv'", "COPY"),
        ("ATTACH 'x.db'", "ATTACH"),
        ("INSTALL httpfs", "INSTALL"),
        ("DROP TABLE slots", "DROP"),
        ("SELECT 1; DROP TABLE slots", "SELECT, DROP"),
        ("SET threads = 1", "SET"),
        ("PRAGMA database_list", "PRAGMA"),
        ("", "nothing"),
    ],
)
def test_statements_that_are_no_query(sql: str, found: str) -> None:
    """Nothing but one SELECT."""
    with pytest.raises(AssayError) as error:
        compile_query(sql, {}, READS, "relation `r`")
    first, _, said = str(error.value).split("\n")[:3]
    assert first == "error[sql-statement]: the SQL of relation `r` is not one query"
    assert said.split() == ["found:", *found.split()]


@pytest.mark.parametrize("name", ["'x.csv'", "information_schema.tables", "slot", "main.slots"])
def test_tables_that_are_not_declared(name: str) -> None:
    """A file in quotes, a catalog, a misspelt name."""
    assert refused(f"SELECT * FROM {name}").startswith(
        "error[sql-table]: the SQL of relation `r` reads a table that it does not declare: "
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.slot FROM Slots AS s INNER JOIN blocks USING (slot)",
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT n FROM a",
        "SELECT i FROM range(3) AS r(i)",
        "SELECT unnest([1, 2]) AS i",
        "SELECT x FROM slots, unnest([1, 2]) AS u(x)",
    ],
)
def test_queries_of_the_data_alone(sql: str) -> None:
    """Declared tables, tables of the query's own, tables made of numbers."""
    compile_query(sql, {}, READS, "relation `r`")


def test_a_hostile_relation_is_refused_before_anything_is_read(tmp_path: Path, cache: Path) -> None:
    """By `assay check` and by a build alike, though the run does not exist."""
    place = workspace(tmp_path / "workspace")
    edited(place / "queries/cardano/roles.sql", "SELECT", "SELECT (SELECT content FROM read_text('/etc/passwd')) AS p,")
    for command in (("check", "--system", "cardano"), ("sql", "cdfForgerLead")):
        done = assay("--cache", cache, *command, within=place)
        assert (done.status, done.out) == (1, "")
        assert "error[sql-function]: the SQL of relation `roles` calls `read_text`" in done.err


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{outside}')",
        "SELECT * FROM read_text('events/../../outside.txt')",
        "COPY (SELECT 1) TO '{outside}.csv'",
        "ATTACH '{outside}.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
    ],
)
def test_the_engine_itself_reaches_nothing_else(tmp_path: Path, sql: str) -> None:
    """Whatever SQL comes to it: its own folders can be read, and spilled to."""
    inside, outside = tmp_path / "inside", tmp_path / "outside.txt"
    (inside / "events").mkdir(parents=True)
    outside.write_text("secret", encoding="utf-8")
    (inside / "events" / "a.txt").write_text("mine", encoding="utf-8")
    with connect(1, tmp_path / "spill") as connection:
        confine(connection, [str(inside)])
        assert connection.execute(f"SELECT content FROM read_text('{inside}/events/a.txt')").fetchall() == [("mine",)]
        with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException, duckdb.IOException)):
            connection.execute(sql.format(outside=outside))
