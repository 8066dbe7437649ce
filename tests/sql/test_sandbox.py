"""Specs stay within their data: SQL that reaches files, the network, settings, the clock or chance is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from assay.engine.executor import connect
from assay.engine.mount import confine_connection
from assay.sql.relations import compile_query
from assay.util.diagnostics import AssayError
from tests.support.commands import run_assay
from tests.support.workspaces import copy_workspace, edit_file

READS = ("slots", "blocks")


def test_unknown_constant_is_underlined_at_its_sign() -> None:
    with pytest.raises(AssayError) as error:
        compile_query("SELECT slot\nFROM slots WHERE slot > $slot", {"slots": 1}, READS, "relation `r`")
    (problem,) = error.value.diagnostics
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.hint) == (2, 26, "did you mean `slots`?")


def test_hostile_relation_is_refused_before_it_reads(tmp_path: Path, cache: Path) -> None:
    """`assay check` and `assay sql` both refuse it."""
    place = copy_workspace(tmp_path / "workspace")
    edit_file(
        place / "queries/cardano/roles.sql", "SELECT", "SELECT (SELECT content FROM read_text('/etc/passwd')) AS p,"
    )
    for command in (("check", "--system", "cardano"), ("sql", "cdfForgerLead")):
        result = run_assay("--cache", cache, *command, cwd=place)
        assert (result.status, result.out) == (1, "")
        assert "error[sql-function]: the SQL of relation `roles` calls `read_text`" in result.err


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
def test_engine_reads_only_its_own_folders(tmp_path: Path, sql: str) -> None:
    """The engine may read its own folders and spill to them, whatever the SQL."""
    inner_folder, outer_file = tmp_path / "inside", tmp_path / "outside.txt"
    (inner_folder / "events").mkdir(parents=True)
    outer_file.write_text("secret", encoding="utf-8")
    (inner_folder / "events" / "a.txt").write_text("mine", encoding="utf-8")
    with connect(1, tmp_path / "spill") as connection:
        confine_connection(connection, [str(inner_folder)])
        assert connection.execute(f"SELECT content FROM read_text('{inner_folder}/events/a.txt')").fetchall() == [
            ("mine",)
        ]
        with pytest.raises((duckdb.PermissionException, duckdb.InvalidInputException, duckdb.IOException)):
            connection.execute(sql.format(outside=outer_file))


def test_sql_that_is_nested_too_deep_is_an_error() -> None:
    with pytest.raises(AssayError, match=r"^error\[sql\]: the SQL of relation `r` is nested too deeply"):
        compile_query("SELECT " + "(" * 3000 + "1" + ")" * 3000, {}, READS, "relation `r`")
