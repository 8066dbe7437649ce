"""Two rows of one key of a relation are an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import edit_file


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    assert run_assay("init", folder).status == 0
    return folder


def query_wait(place: Path, cache: Path) -> tuple[int, str]:
    result = run_assay("query", "wait", "--run", "runs/1.0", "--cache", cache, cwd=place)
    return result.status, result.err


def change_relation(place: Path, fields: str) -> None:
    """Replace fields of the relation of the starter."""
    package = place / "specs" / "service" / "package.dhall"
    edit_file(package, "relations = [ request.relation ]", f"relations = [ request.relation // {{ {fields} }} ]")


def test_two_rows_of_one_key_are_an_error(place: Path, tmp_path: Path) -> None:
    sql = "SELECT host, request FROM request_received"
    change_relation(place, f'sql = "{sql} UNION ALL {sql}"')
    status, error = query_wait(place, tmp_path / "cache")
    first, *_, hint = error.strip().splitlines()
    assert status == 1
    assert first == (
        "error[duplicate-key]: run 1.0: relation `request_keys` has 2 rows with the same key: host web-1, request 1-000"
    )
    assert hint == (
        "  hint: group the relation's SQL by its key, or list every column that distinguishes its rows in `key`"
    )


def test_instants_of_a_key_are_written_as_times(place: Path, tmp_path: Path) -> None:
    sql = "SELECT host, request, CAST(1767225600500000000 AS BIGINT) AS at FROM request_received"
    instant_column = 'S.grain.column "instant" "at" S.unit.none "When"'
    columns = f"request.relation.columns # [ {instant_column} ]"
    change_relation(place, f'sql = "{sql}", key = [ "at" ], columns = {columns}')
    package = place / "specs" / "service" / "package.dhall"
    edit_file(package, "[ request.grain ]", f'[ request.grain // {{ key = [ "at" ], columns = {columns} }} ]')
    _, error = query_wait(place, tmp_path / "cache")
    first = error.splitlines()[0]
    assert first.endswith("relation `request_keys` has 120 rows with the same key: at 2026-01-01T00:00:00.5Z"), error


def test_a_relation_without_a_key_has_one_row(place: Path, tmp_path: Path) -> None:
    change_relation(place, "key = [] : List Text")
    status, error = query_wait(place, tmp_path / "cache")
    assert status == 1
    assert error.startswith(
        "error[duplicate-key]: run 1.0: relation `request_keys` has 120 rows, but its key has no columns\n"
    )
