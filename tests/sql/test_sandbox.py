"""Specs stay within their data: SQL that reaches files, the network, settings, the clock or chance is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from assay.engine.executor import connect
from assay.engine.mount import confine
from assay.sql.relations import compile_query
from assay.util.diagnostics import AssayError
from tests.support.commands import assay
from tests.support.workspaces import edited, workspace

READS = ("slots", "blocks")


def test_unknown_constant_is_underlined_at_its_sign() -> None:
    with pytest.raises(AssayError) as error:
        compile_query("SELECT slot\nFROM slots WHERE slot > $slot", {"slots": 1}, READS, "relation `r`")
    (problem,) = error.value.diagnostics
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.hint) == (2, 26, "did you mean `slots`?")


def test_hostile_relation_is_refused_before_it_reads(tmp_path: Path, cache: Path) -> None:
    """`assay check` and `assay sql` both refuse it."""
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
    """The engine may read its own folders and spill to them, whatever the SQL."""
    inside, outside = tmp_path / "inside", tmp_path / "outside.txt"
    (inside / "events").mkdir(parents=True)
    outside.write_text("secret", encoding="utf-8")
    (inside / "events" / "a.txt").write_text("mine", encoding="utf-8")
    with connect(1, tmp_path / "spill") as connection:
        confine(connection, [str(inside)])
        assert connection.execute(f"SELECT content FROM read_text('{inside}/events/a.txt')").fetchall() == [("mine",)]
        with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException, duckdb.IOException)):
            connection.execute(sql.format(outside=outside))


def test_sql_that_is_nested_too_deep_is_an_error() -> None:
    with pytest.raises(AssayError, match=r"^error\[sql\]: the SQL of relation `r` is nested too deep"):
        compile_query("SELECT " + "(" * 3000 + "1" + ")" * 3000, {}, READS, "relation `r`")
