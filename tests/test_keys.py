"""Keys of relations: two rows of one key are an error, unless the SQL cannot yield any."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

from assay.sql.relations import are_unique
from tests.support.commands import assay


@pytest.mark.parametrize(
    ("sql", "key", "unique"),
    [
        ("SELECT a, count(*) AS n FROM t GROUP BY a", "a", True),
        ("SELECT a, b, count(*) AS n FROM t GROUP BY a, b", "a", False),
        ("SELECT a, b, count(*) AS n FROM t GROUP BY a, b", "b a", True),
        ("SELECT a + 1 AS a FROM t GROUP BY a", "a", False),
        ("SELECT a + 1 AS x FROM t GROUP BY a + 1", "x", True),
        ("SELECT t.a FROM t GROUP BY t.a", "a", True),
        ("SELECT a FROM t GROUP BY ROLLUP (a)", "a", False),
        ("SELECT a FROM t GROUP BY ALL", "a", False),
        ("SELECT DISTINCT a, b FROM t", "a b", True),
        ("SELECT DISTINCT a, b FROM t", "a", False),
        ("SELECT DISTINCT ON (b) a FROM t", "a", False),
        ("SELECT a FROM t", "a", False),
        ("SELECT max(a) AS a FROM t", "a", True),
        ("SELECT max(a) OVER () AS a FROM t", "a", False),
        ("SELECT 1 AS a", "a", True),
        ("SELECT max(a) AS a, (SELECT max(b) FROM u) AS b FROM t", "a", True),
        ("SELECT (SELECT max(b) FROM u) AS b FROM t", "b", False),
        ("SELECT a, unnest(list(b)) AS b FROM t GROUP BY a", "a", False),
        ("SELECT unnest([1, 1]) AS a", "a", False),
        ("SELECT unnest(list(a)) AS a FROM t", "a", False),
        ("SELECT a, generate_subscripts(list(b), 1) AS b FROM t GROUP BY a", "a", False),
        ("SELECT a, 1 AS one FROM t GROUP BY 1", "one", False),
        ("SELECT a, arg_max(b, c) AS b FROM t GROUP BY a", "a", True),
        ("SELECT a FROM t GROUP BY a UNION ALL SELECT a FROM t GROUP BY a", "a", False),
    ],
)
def test_what_cannot_yield_two_rows_of_a_key(sql: str, key: str, unique: bool) -> None:
    assert are_unique(sqlglot.parse_one(sql, read="duckdb"), key.split()) is unique


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    assert assay("init", folder).status == 0
    return folder


def _queried(place: Path, cache: Path) -> tuple[int, str]:
    done = assay("query", "wait", "--run", "runs/1.0", "--cache", cache, within=place)
    return done.status, done.err


def test_two_rows_of_one_key_are_an_error(place: Path, tmp_path: Path) -> None:
    sql = "SELECT host, request FROM request_received"
    query = place / "queries" / "service" / "requests.sql"
    query.write_text(f"{sql} UNION ALL {sql}\n", encoding="utf-8")
    status, said = _queried(place, tmp_path / "cache")
    first, *_, hint = said.strip().splitlines()
    assert status == 1
    assert first == (
        "error[duplicate-key]: run 1.0: relation `requests` has 2 rows of one key: host web-1, request 1-000"
    )
    assert hint == (
        "  hint: group the relation's SQL by its key, or name every column that tells its rows apart in `key`"
    )


def test_instants_of_a_key_are_told_as_times(place: Path, tmp_path: Path) -> None:
    specs = place / "specs" / "service" / "requests.dhall"
    text = specs.read_text(encoding="utf-8")
    at = 'G.column "instant" "at" S.unit.none "When"'
    for old, new in (
        ("columns = [ host, request ]", f"columns = [ host, request, {at} ]"),
        ("key = [ host.name, request.name ]", 'key = [ "at" ]'),
    ):
        assert old in text
        text = text.replace(old, new)
    specs.write_text(text, encoding="utf-8")
    sql = "SELECT host, request, CAST(1767225600500000000 AS BIGINT) AS at FROM request_received"
    (place / "queries" / "service" / "requests.sql").write_text(f"{sql}\n", encoding="utf-8")
    _, said = _queried(place, tmp_path / "cache")
    first = said.splitlines()[0]
    assert first.endswith("relation `requests` has 120 rows of one key: at 2026-01-01T00:00:00.5Z"), said


def test_a_relation_without_a_key_has_one_row(place: Path, tmp_path: Path) -> None:
    for name, old, new in (
        ("requests", "key = [ host.name, request.name ]\n      , doc = \"The requests that came in\"",
         "key = [] : List Text\n      , doc = \"The requests that came in\""),
    ):  # fmt: skip
        specs = place / "specs" / "service" / f"{name}.dhall"
        text = specs.read_text(encoding="utf-8")
        assert old in text
        specs.write_text(text.replace(old, new, 1), encoding="utf-8")
    status, said = _queried(place, tmp_path / "cache")
    assert status == 1
    assert said.startswith(
        "error[duplicate-key]: run 1.0: relation `requests` has 120 rows, and no key tells them apart\n"
    )
