"""Test queries that return the records of their values: rows of both queries, or of the first."""

from __future__ import annotations

import dataclasses

import duckdb
import pytest

from assay.lineage.column_lineage import ROWS
from assay.lineage.record_lists import get_companion_name
from assay.lineage.row_provenance import add_provenance
from assay.plan.planner import EventStep
from assay.sql import dialect
from assay.sql.codegen import Statement, build_create_sql
from assay.sql.relations import compile_query
from assay.util.diagnostics import AssayError
from tests.support.laboratory import Laboratory

VALUES = "('h', 1, 5, 'a'), ('h', 2, 5, 'a'), ('h', 3, 7, NULL), ('h', 4, 9, 'c')"
RAW = f"SELECT host, seq, v, k FROM (VALUES {VALUES}) AS t(host, seq, v, k)"
LEFT, RIGHT = "SELECT v, k FROM e WHERE seq < 4", "SELECT v, k FROM e WHERE seq IN (2, 3)"


def trace_rows(lab: Laboratory, sql: str) -> list[tuple[object, ...]]:
    """Return the rows of a query over event `e`, each with the record numbers behind `v`."""
    event = dataclasses.replace(lab.session.load_package("cardano").package.events[0], name="e")
    view = Statement("view", "e", compile_query(RAW, {}, (), "e"), EventStep(event, ("v", "k")))
    table = Statement("table", "q", compile_query(sql, {}, ("e",), "q"))
    query = dialect.select("v", "k").from_(dialect.build_table("q"))
    outcome = add_provenance([view, table], query, ["v", ROWS])
    with duckdb.connect() as connection:
        for item in outcome.statements:
            connection.execute(build_create_sql(item))
        rows = connection.execute(dialect.to_sql(outcome.query)).fetchall()
        names = [column[0] for column in connection.description or ()]
    column_index = names.index(get_companion_name("v"))
    outcome = ((row[0], row[1], [record["seq"] for record in row[column_index]]) for row in rows)
    return sorted(outcome, key=repr)


def test_rows_of_both_queries_have_records_of_the_first(lab: Laboratory) -> None:
    assert trace_rows(lab, f"{LEFT} INTERSECT {RIGHT}") == [(5, "a", [1]), (7, None, [3])]


def test_rows_of_first_query_have_its_records(lab: Laboratory) -> None:
    assert trace_rows(lab, f"{LEFT} EXCEPT SELECT v, k FROM e WHERE k IS NULL") == [(5, "a", [1])]
    assert trace_rows(lab, f"{LEFT} EXCEPT (SELECT v, k FROM e WHERE k = 'a')") == [(7, None, [3])]


def test_provenance_works_in_named_queries_and_unions(lab: Laboratory) -> None:
    sql = f"WITH some AS ({LEFT} EXCEPT {RIGHT} UNION ALL SELECT v, k FROM e WHERE seq = 4) SELECT v, k FROM some"
    assert trace_rows(lab, sql) == [(9, "c", [4])]


def test_count_has_records_of_counted_rows_only(lab: Laboratory) -> None:
    outer = "(SELECT host FROM e WHERE seq = 3) AS l LEFT JOIN e ON e.host = l.host"
    assert trace_rows(lab, f"SELECT count(*) FILTER (WHERE e.k = 'a') AS v, 'x' AS k FROM {outer}") == [
        (2, "x", [1, 2])
    ]
    query_with_edges = (
        "WITH edges AS (SELECT max(v) AS top FROM e) SELECT count(*) FILTER (WHERE seq > 2) AS v, 'x' AS k "
    )
    assert trace_rows(lab, f"{query_with_edges}FROM e CROSS JOIN edges") == [(2, "x", [3, 4])]


@pytest.mark.parametrize("word", ["EXCEPT", "INTERSECT"])
def test_untraceable_query_has_a_reason(lab: Laboratory, word: str) -> None:
    with pytest.raises(AssayError) as problem:
        trace_rows(lab, f"{LEFT} {word} ALL {RIGHT}")
    assert str(problem.value) == (
        f"error[untraceable]: the records behind rows of {word} ALL cannot be traced\n"
        "  hint: remove ALL, which merges equal rows"
    )
    assert problem.value.status == 1


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("last_value(k IGNORE NULLS)", [("a", 1, [1]), ("a", 2, [2]), ("a", 3, [2]), ("c", 4, [4])]),
        ("last_value(k RESPECT NULLS)", [("a", 1, [1]), ("a", 2, [2]), (None, 3, [3]), ("c", 4, [4])]),
        ("lag(k, 1 IGNORE NULLS)", [(None, 1, []), ("a", 2, [1]), ("a", 3, [2]), ("a", 4, [2])]),
        ("nth_value(k, 3 IGNORE NULLS)", [(None, 1, []), (None, 2, []), (None, 3, []), ("c", 4, [4])]),
        ("max(v) FILTER (WHERE k = 'a')", [(5, 1, [1]), (5, 2, [1]), (5, 3, [1]), (5, 4, [1])]),
        ("sum(v) FILTER (WHERE k = 'a')", [(5, 1, [1]), (10, 2, [1, 2]), (10, 3, [1, 2]), (10, 4, [1, 2])]),
        ("arg_max(k, v)", [("a", 1, [1]), ("a", 2, [1]), ("a", 3, [1]), ("c", 4, [4])]),
    ],
)
def test_window_has_records_by_its_rule(lab: Laboratory, function: str, expected: list[tuple[object, ...]]) -> None:
    outcome = trace_rows(lab, f"SELECT {function} OVER (ORDER BY seq) AS v, seq AS k FROM e")
    assert outcome == sorted(expected, key=repr)
