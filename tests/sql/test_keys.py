"""Two rows of one key of a relation are an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    assert run_assay("init", folder).status == 0
    return folder


def query_wait(place: Path, cache: Path) -> tuple[int, str]:
    result = run_assay("query", "wait", "--run", "runs/1.0", "--cache", cache, cwd=place)
    return result.status, result.err


def test_two_rows_of_one_key_are_an_error(place: Path, tmp_path: Path) -> None:
    sql = "SELECT host, request FROM request_received"
    query = place / "queries" / "service" / "requests.sql"
    query.write_text(f"{sql} UNION ALL {sql}\n", encoding="utf-8")
    status, error = query_wait(place, tmp_path / "cache")
    first, *_, hint = error.strip().splitlines()
    assert status == 1
    assert first == (
        "error[duplicate-key]: run 1.0: relation `requests` has 2 rows with the same key: host web-1, request 1-000"
    )
    assert hint == (
        "  hint: group the relation's SQL by its key, or list every column that distinguishes its rows in `key`"
    )


def test_instants_of_a_key_are_written_as_times(place: Path, tmp_path: Path) -> None:
    specs = place / "specs" / "service" / "requests.dhall"
    text = specs.read_text(encoding="utf-8")
    instant_column = 'G.column "instant" "at" S.unit.none "When"'
    for old, new in (
        ("columns = [ host, request ]", f"columns = [ host, request, {instant_column} ]"),
        ("key = [ host.name, request.name ]", 'key = [ "at" ]'),
    ):
        assert old in text
        text = text.replace(old, new)
    specs.write_text(text, encoding="utf-8")
    sql = "SELECT host, request, CAST(1767225600500000000 AS BIGINT) AS at FROM request_received"
    (place / "queries" / "service" / "requests.sql").write_text(f"{sql}\n", encoding="utf-8")
    _, error = query_wait(place, tmp_path / "cache")
    first = error.splitlines()[0]
    assert first.endswith("relation `requests` has 120 rows with the same key: at 2026-01-01T00:00:00.5Z"), error


def test_a_relation_without_a_key_has_one_row(place: Path, tmp_path: Path) -> None:
    for name, old, new in (
        ("requests", "key = [ host.name, request.name ]\n      , doc = \"All received requests\"",
         "key = [] : List Text\n      , doc = \"All received requests\""),
    ):  # fmt: skip
        specs = place / "specs" / "service" / f"{name}.dhall"
        text = specs.read_text(encoding="utf-8")
        assert old in text
        specs.write_text(text.replace(old, new, 1), encoding="utf-8")
    status, error = query_wait(place, tmp_path / "cache")
    assert status == 1
    assert error.startswith(
        "error[duplicate-key]: run 1.0: relation `requests` has 120 rows, but its key has no columns\n"
    )
