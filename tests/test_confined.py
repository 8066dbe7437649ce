"""Specs stay within their data: SQL that reaches files, the network, settings, the clock or chance is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import sqlglot

from assay.engine.executor import connect
from assay.engine.mount import confine
from assay.sql import dialect
from assay.sql.relations import compile_query
from assay.util.diagnostics import AssayError
from tests.support.commands import assay
from tests.support.workspaces import edited, workspace

READS = ("slots", "blocks")


def refused(sql: str) -> str:
    with pytest.raises(AssayError) as error:
        compile_query(sql, {}, READS, "relation `r`")
    return str(error.value).split("\n")[0]


def test_functions_that_tell_of_the_engine() -> None:
    """The hash of a host was another one where hosts are numbers to the engine."""
    for function in ("hash", "typeof", "vector_type"):
        text = f"error[sql-function]: the SQL of relation `r` calls `{function}`, which tells of the engine and not of"
        assert refused(f"SELECT {function}(slot) AS a FROM slots").startswith(text)


def test_functions_that_estimate() -> None:
    """Of a million rows they told another median each time."""
    for function in ("approx_quantile", "reservoir_quantile"):
        said = refused(f"SELECT {function}(slot, 0.5) AS a FROM slots")
        assert said.endswith(f"the SQL of relation `r` calls `{function}`, which estimates, another value each time")
        for by_name in ("list_aggregate", "array_aggr", "aggregate"):
            named = refused(f"SELECT {by_name}([slot], '{function.upper()}', 0.5) AS a FROM slots")
            assert named == said
    unnamed = refused("SELECT list_aggr([slot], 'approx' || '_quantile', 0.5) AS a FROM slots")
    assert unnamed.endswith("the SQL of relation `r` calls by `list_aggr` a function that it does not name")
    compile_query("SELECT list_aggregate([slot], 'max') AS a FROM slots", {}, READS, "relation `r`")


OF_A_GROUP = "is of the rows of a group in no order"
OF_A_WINDOW = "is of places in a window that has no order"
BY_THE_SAME = "takes one row of a group by what is the same in all"
SOME = "takes some rows of no order"


@pytest.mark.parametrize(
    ("sql", "word", "said"),
    [
        ("SELECT slot FROM slots LIMIT 3", "LIMIT", SOME),
        ("SELECT slot FROM slots OFFSET 3", "OFFSET", SOME),
        ("SELECT slot FROM (SELECT slot FROM slots ORDER BY slot) LIMIT 3", "LIMIT", SOME),
        ("SELECT slot FROM slots UNION ALL SELECT slot FROM blocks LIMIT 3", "LIMIT", SOME),
        ("SELECT max(slot) OVER () AS s FROM slots LIMIT 3", "LIMIT", SOME),
        ("SELECT DISTINCT ON (slot) slot, host FROM slots", "DISTINCT", "takes one row of several that have no order"),
        ("SELECT slot FROM slots ORDER BY slot NULLS FIRST LIMIT (SELECT first(slot) FROM slots)", "first", OF_A_GROUP),
        ("SELECT last(slot) FILTER (WHERE slot > 1) FROM slots", "last", OF_A_GROUP),
        ("SELECT string_agg(host, ', ') FROM slots", "string_agg", OF_A_GROUP),
        ("SELECT any_value(host) FROM slots GROUP BY slot", "any_value", OF_A_GROUP),
        ("SELECT any_value(host) OVER (PARTITION BY slot) FROM slots", "any_value", OF_A_WINDOW),
        ("SELECT ARBITRARY(host) FROM slots", "ARBITRARY", OF_A_GROUP),
        ("SELECT list(host)[1] FROM slots", "list", OF_A_GROUP),
        ("SELECT array_agg(host) FILTER (WHERE slot > 1) FROM slots", "array_agg", OF_A_GROUP),
        ("SELECT list(DISTINCT host) FROM slots", "list", OF_A_GROUP),
        ("SELECT list_aggregate(list(host), 'first') FROM slots", "list", OF_A_GROUP),
        ("SELECT list(host) OVER (PARTITION BY slot) FROM slots", "list", OF_A_WINDOW),
        ("SELECT json_group_array(host) FROM slots", "json_group_array", OF_A_GROUP),
        ("SELECT lttb(slot, slot, 9) FROM slots", "lttb", OF_A_GROUP),
        ("SELECT variant_group_array(host) FROM slots", "variant_group_array", OF_A_GROUP),
        ("SELECT mode(host) FROM slots", "mode", OF_A_GROUP),
        ("SELECT max_by(host, 1) FROM slots", "max_by", BY_THE_SAME),
        ("SELECT arg_min(host, 'x') FROM slots", "arg_min", BY_THE_SAME),
        ("SELECT row_number() OVER (PARTITION BY host) FROM slots", "row_number", OF_A_WINDOW),
        ("SELECT lag(slot IGNORE NULLS) OVER () FROM slots", "lag", OF_A_WINDOW),
        ("SELECT first_value(slot) OVER w FROM slots WINDOW w AS (PARTITION BY host)", "first_value", OF_A_WINDOW),
    ],
)
def test_what_takes_any_of_several_rows(sql: str, word: str, said: str) -> None:
    with pytest.raises(AssayError) as error:
        compile_query(sql, {}, READS, "relation `r`")
    (found,) = error.value.diagnostics
    assert (found.code, found.expected) == ("sql-order", "ORDER BY with what tells the rows apart")
    assert found.message == (
        f"the SQL of relation `r` has a `{word}` that {said}: the engine may take others each time"
    )
    assert found.span is not None
    start = found.span.column - 1
    assert sql[start : start + found.span.length] == word
    assert word != "first" or sql[start:].startswith("first(")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT slot FROM slots ORDER BY slot LIMIT 3",
        "SELECT max(slot) AS slot FROM slots LIMIT 1",
        "SELECT slot FROM slots WHERE EXISTS (SELECT 1 FROM blocks LIMIT 1)",
        "SELECT DISTINCT ON (slot) slot, host FROM slots ORDER BY slot, host",
        "SELECT first(slot ORDER BY host) AS slot FROM slots",
        "SELECT string_agg(DISTINCT host, ', ' ORDER BY host) AS hosts FROM slots",
        "SELECT row_number() OVER (ORDER BY host) AS n FROM slots",
        "SELECT row_number() OVER (w ORDER BY host) AS n FROM slots WINDOW w AS (PARTITION BY slot)",
        "SELECT first_value(slot) OVER w AS slot FROM slots WINDOW w AS (ORDER BY host)",
        "SELECT any_value(slot ORDER BY host) AS slot, list(host ORDER BY host) AS hosts FROM slots",
        "SELECT len(list(host)) AS n, list_sort(list(host) FILTER (WHERE slot > 1)) AS hosts FROM slots",
        "SELECT list(slot) OVER (PARTITION BY host ORDER BY slot) AS slots FROM slots",
        "SELECT count(*) OVER () AS n, arg_max(slot, host) OVER (PARTITION BY host) AS slot FROM slots",
    ],
)
def test_what_says_an_order_or_needs_none(sql: str) -> None:
    compile_query(sql, {}, READS, "relation `r`")


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
        ("SELECT h FROM LATERAL json_execute_serialized_sql('x') AS t (h)", "json_execute_serialized_sql"),
        ("SELECT * FROM slots, LATERAL duckdb_settings()", "duckdb_settings"),
        ("SELECT * FROM LATERAL histogram(other, secret)", "histogram"),
        ("SELECT json_serialize_plan('SELECT 1') FROM slots", "json_serialize_plan"),
        ("SELECT version() FROM slots", "current_version"),
        ("SELECT current_schema FROM slots", "current_schema"),
        ("SELECT age(slot) FROM slots", "age"),
        ("SELECT ago(slot) FROM slots", "ago"),
        ("SELECT sleep_ms(1000) FROM slots", "sleep_ms"),
        ("SELECT in_search_path('a', 'b') FROM slots", "in_search_path"),
        ("SELECT * FROM slots USING SAMPLE 3", "tablesample"),
        ("SELECT * FROM slots TABLESAMPLE 10%", "tablesample"),
    ],
)
def test_functions_that_read_more_than_tables(sql: str, function: str) -> None:
    """By the name that the SQL has for them."""
    text = f"error[sql-function]: the SQL of relation `r` calls `{function}`, which reads more than its tables"
    assert refused(sql) == text


def test_a_constant_that_there_is_not_stands_where_its_sign_does_and_not_at_a_column_of_its_name() -> None:
    with pytest.raises(AssayError) as error:
        compile_query("SELECT slot\nFROM slots WHERE slot > $slot", {"slots": 1}, READS, "relation `r`")
    (problem,) = error.value.diagnostics
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.hint) == (2, 26, "did you mean `slots`?")


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


@pytest.mark.parametrize(
    "sql",
    [
        "WITH d AS (DELETE FROM slots RETURNING slot) SELECT * FROM d",
        "WITH d AS (UPDATE slots SET slot = 1 RETURNING slot) SELECT * FROM d",
        "SELECT * FROM (WITH d AS (DELETE FROM slots RETURNING slot) SELECT * FROM d)",
    ],
)
def test_no_part_of_a_query_changes_anything(sql: str) -> None:
    assert refused(sql) == "error[sql-statement]: the SQL of relation `r` holds what is no query"


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("SELECT * FROM (WITH other AS (SELECT 1) SELECT * FROM other) AS a, other", "other"),
        ("SELECT * FROM (WITH sqlite_master AS (SELECT 1) SELECT 1) AS a, sqlite_master", "sqlite_master"),
        ('SELECT * FROM (WITH "/etc/x.csv" AS (SELECT 1) SELECT 1) AS a, "/etc/x.csv"', "/etc/x.csv"),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a", "b"),
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", "a"),
        ("SELECT * FROM slots, LATERAL (SELECT * FROM other) AS t", "other"),
    ],
)
def test_names_of_queries_count_where_they_are_known(sql: str, table: str) -> None:
    said = "error[sql-table]: the SQL of relation `r` reads a table that it does not declare:"
    assert refused(sql) == f"{said} `{table}`"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s.slot FROM Slots AS s INNER JOIN blocks USING (slot)",
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT n FROM a",
        "SELECT i FROM range(3) AS r(i)",
        "SELECT unnest([1, 2]) AS i",
        "SELECT x FROM slots, unnest([1, 2]) AS u(x)",
        "WITH a AS (SELECT * FROM slots), b AS (SELECT * FROM a) SELECT * FROM b, a",
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT * FROM a",
        "WITH a AS (SELECT 1) SELECT * FROM (WITH b AS (SELECT * FROM a) SELECT * FROM b), a",
        "WITH slots AS (SELECT * FROM slots) SELECT * FROM slots",
        "SELECT * FROM slots, LATERAL (SELECT slots.slot) AS t, UNNEST([1]) AS u (n)",
        "SELECT age(a, b), slots.current_slot FROM slots",
    ],
)
def test_what_reads_the_data_alone_stays(sql: str) -> None:
    """Declared tables, in any case, tables of the query's own, tables made of numbers."""
    found = compile_query(sql, {}, READS, "relation `r`")
    assert dialect.text(found) == dialect.text(sqlglot.parse_one(sql.replace("Slots", "slots"), read=dialect.DIALECT))


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT 'abc", "does not parse"),
        ("SELECT $$abc", "does not parse"),
        ("SELECT /* abc", "does not parse"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "is nested too deep"),
    ],
)
def test_a_text_that_is_no_sql_is_told(sql: str, said: str) -> None:
    assert refused(sql).startswith(f"error[sql]: the SQL of relation `r` {said}")
