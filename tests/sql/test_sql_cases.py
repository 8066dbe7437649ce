"""The questions that are asked of SQL, on the statements of `cases/`."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import sqlglot

from assay.engine.dry_run import find_inexact_sums
from assay.lang.sql_dependencies import find_reads
from assay.sql import dialect
from assay.sql.partitioning import can_check_partitions, is_partitionable, is_partitionable_in_order
from assay.sql.relations import compile_query, has_unique_key, refuse_ties
from assay.sql.row_keys import Key, Shape
from assay.util.diagnostics import AssayError, Diagnostic, Span
from tests.support.sql_cases import SqlCase, read_cases

CASES = Path(__file__).parent / "cases"
SUBJECT = "relation `r`"


def list_cases(name: str) -> list[object]:
    """Return the cases of a file as pytest parameters, each with its name."""
    return [pytest.param(case, id=str(case)[:80]) for case in read_cases(CASES / name)]


def get_underlined_text(sql: str, span: Span) -> str:
    """Return the text that an error underlines."""
    start = span.column - 1
    return sql.splitlines()[span.line - 1][start : start + span.length]


def describe_error(error: Diagnostic, sql: str) -> str:
    """Write an error and the word that it points to as the lines of a case."""
    lines = [f"error[{error.code}]: {error.message}"]
    if error.span:
        lines.append(f"at: {error.span.line}:{error.span.column} {get_underlined_text(sql, error.span)}".rstrip())
    details = {"expected": error.expected, "found": error.found}
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in details.items() if text)])


@pytest.mark.parametrize("case", list_cases("sandbox.sql"))
def test_sql_reads_its_tables_alone_or_is_refused(case: SqlCase) -> None:
    """Accepted SQL is unchanged, except for the case of declared names."""
    try:
        query = compile_query(case.sql, {}, ("slots", "blocks"), SUBJECT)
    except AssayError as error:
        (problem,) = error.diagnostics
        assert describe_error(problem, case.sql) == case.expected
    else:
        assert case.expected == "accepted"
        parsed = sqlglot.parse_one(case.sql.replace("Slots", "slots"), read=dialect.DIALECT)
        assert dialect.to_sql(query) == dialect.to_sql(parsed)


def create_event_shape(*fields: str, event: str = "") -> Shape:
    """Return the shape of a table of events, which are lines of the log where `event` names them."""
    lines = frozenset({("logs", event)} if event else ())
    return Shape(("host", "seq", "t_ns", *fields), (Key(frozenset(("host", "seq")), lines),))


TABLES = {
    "received": create_event_shape("request", event="received"),
    "sent": create_event_shape("request", "bytes", event="sent"),
    # each row of a table of records belongs to both
    "rows_a": create_event_shape("request"),
    "rows_b": create_event_shape("request"),
    "requests": Shape(("host", "request", "size"), (Key(frozenset(("host", "request"))),)),
    "summary": Shape(("host", "total"), (Key(frozenset()),)),
    "logs": Shape(("host", "lines"), (Key(frozenset(("host",))),)),
}


def check_order(sql: str) -> Diagnostic | None:
    """Compile a query over `TABLES` and return the error of an order that ties, if there is one."""
    try:
        compile_query(sql, {}, list(TABLES), SUBJECT)
        refuse_ties(sql, tuple(TABLES.items()), SUBJECT)
    except AssayError as error:
        (problem,) = error.diagnostics
        return problem
    return None


@pytest.mark.parametrize("case", list_cases("orders.sql"))
def test_order_tells_all_rows_apart(case: SqlCase) -> None:
    problem = check_order(case.sql)
    if problem is None:
        assert case.expected == "sufficient"
    else:
        assert problem.code == "sql-order"
        assert problem.span is not None
        assert get_underlined_text(case.sql, problem.span) == case.expected


def test_error_of_a_tie_hints_at_the_missing_columns() -> None:
    problem = check_order("SELECT first(bytes ORDER BY seq) AS bytes FROM sent")
    assert problem is not None
    assert problem.hint == "add `host` to its ORDER BY: rows that tie have no defined order"


def test_error_of_a_tie_points_to_its_call() -> None:
    sql = "SELECT row_number() OVER (ORDER BY host, seq) AS n,\n  row_number() OVER (ORDER BY t_ns) AS m FROM sent"
    problem = check_order(sql)
    assert problem is not None
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.span.length) == (2, 3, 10)


@pytest.mark.parametrize("case", list_cases("keys.sql"))
def test_query_yields_one_row_of_a_key(case: SqlCase) -> None:
    is_unique = has_unique_key(sqlglot.parse_one(case.sql, read="duckdb"), case.options["key"].split())
    assert is_unique is (case.expected == "unique")


@pytest.mark.parametrize("case", list_cases("partitioning.sql"))
def test_query_is_computed_for_some_hosts_at_a_time(case: SqlCase) -> None:
    assert is_partitionable(sqlglot.parse_one(case.sql, read="duckdb"), "host") is (case.expected == "yes")


@pytest.mark.parametrize("case", list_cases("ordered_partitions.sql"))
def test_ordered_rows_are_put_together_in_the_order_of_hosts(case: SqlCase) -> None:
    query = sqlglot.parse_one(case.sql, read="duckdb")
    assert is_partitionable_in_order(query, "host") is (case.expected == "yes")


@pytest.mark.parametrize("case", list_cases("checked_partitions.sql"))
def test_check_is_computed_for_some_hosts_at_a_time(case: SqlCase) -> None:
    assert can_check_partitions(sqlglot.parse_one(case.sql, read="duckdb"), "host") is (case.expected == "yes")


@pytest.mark.parametrize("case", list_cases("reads.sql"))
def test_query_names_everything_that_it_reads(case: SqlCase) -> None:
    assert (find_reads(case.sql, ["a", "b"], ["whole"]).names is None) is (case.expected == "everything")


@pytest.mark.parametrize("case", list_cases("sums.sql"))
def test_sums_of_real_numbers_in_no_order_are_recognized(case: SqlCase) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a BIGINT, x DOUBLE, f FLOAT, d DECIMAL(10, 2), k TEXT)")
        connection.execute("CREATE VIEW v AS SELECT x AS y FROM t")
        connection.execute(case.sql)
        assert " ".join(find_inexact_sums(connection, case.sql)) == case.expected.removeprefix("none")
