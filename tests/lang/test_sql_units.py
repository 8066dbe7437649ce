"""Test units of columns of SQL: a column that passes a value on unchanged has its unit."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.lang.sql_units import trace_units
from tests.support.commands import run_assay
from tests.support.small import create_small_workspace

TABLES = {"Began": ("host", "t_ns", "Took"), "ended": ("host", "t_ns", "took", "size")}
TOOK = {("began", "took", True)}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT took AS a FROM began", TOOK),
        ("SELECT b.TOOK::DOUBLE AS A FROM BEGAN AS b", TOOK),
        ("SELECT max(took) FILTER (WHERE host = 'x') AS a FROM began", TOOK),
        ("SELECT lag(took) OVER (ORDER BY t_ns) AS a FROM began", TOOK),
        ("SELECT arg_max(took, t_ns) AS a FROM began", TOOK),
        ("SELECT coalesce(nullif(took, 0), took, 0) AS a FROM began", TOOK),
        ("SELECT CASE WHEN host = 'x' THEN took ELSE 0 END AS a FROM began", TOOK),
        ("SELECT median(took) AS a FROM began", TOOK),
        ("SELECT a FROM (SELECT took AS a FROM began)", TOOK),
        ("WITH x AS (SELECT * FROM began), y (h, t, a) AS (SELECT * FROM x) SELECT y.a FROM y", TOOK),
        ("SELECT * EXCLUDE (took), took AS a FROM began", TOOK),
        ("SELECT * RENAME (took AS a) FROM began", TOOK),
        ("SELECT began.took AS a FROM ended JOIN began USING (host)", TOOK),
        ("SELECT took AS a FROM began UNION ALL SELECT took FROM ended", TOOK | {("ended", "took", True)}),
        ("SELECT b AS a FROM (SELECT took AS b FROM began UNION ALL BY NAME SELECT 1 AS c)", TOOK),
        ("SELECT $wait AS a FROM began", {("", "wait", True)}),
        ("SELECT e.t_ns - b.t_ns AS a FROM began b JOIN ended e USING (host)",
         {("began", "t_ns", False), ("ended", "t_ns", False)}),
        # columns that may have another unit
        ("SELECT took / 1000 AS a FROM began", set()),
        ("SELECT took * 2 AS a FROM began", set()),
        ("SELECT sum(took) AS a FROM began", set()),
        ("SELECT count(took) AS a FROM began", set()),
        ("SELECT t_ns - 5 AS a FROM began", set()),
        ("SELECT took AS a FROM began JOIN ended USING (host)", set()),  # ambiguous: several tables have the column
        ("WITH RECURSIVE x AS (SELECT took AS a FROM began UNION ALL SELECT a FROM x) SELECT a FROM x", set()),
        ("SELECT a FROM other", set()),
        ("SELECT len(took) AS a FROM began", set()),
    ],
)  # fmt: skip
def test_query_passes_columns_on(sql: str, expected: set[tuple[str, str, bool]]) -> None:
    assert set(trace_units(sql, TABLES).get("a", ())) == expected


SPECS = """\
let fms = E.integer "took" // { unit = U.millisecond }

let took = event "log" "began" [ fid, fms ]

let n2 = G.column "integer" "n" U.second "Number"

let beginnings =
      relation "beginnings" "SELECT began.id, began.took AS n FROM began" [ "began" ] [ id, n2 ] [ "id" ]

let apart =
      relation
        "apart"
        "SELECT a.id, max(b.t_ns - a.t_ns) AS n FROM began AS a JOIN began AS b USING (id) GROUP BY a.id"
        [ "began" ]
        [ id, n2 ]
        [ "id" ]
"""


EXPECTED_ERROR = """\
error[unit]: column `n` of relation `beginnings` is `took` of `began` unchanged, but has a different unit
  at specs/small/package.dhall:76:29
    76 | let n2 = G.column "integer" "n" U.second "Number"
       |                             ^^^
  expected: millisecond
  found:    second
  hint: convert it in the SQL, or declare the unit that it has

error[unit]: column `n` of relation `apart` is `t_ns` of `began` minus another instant, but has a different unit
  at specs/small/package.dhall:76:29
    76 | let n2 = G.column "integer" "n" U.second "Number"
       |                             ^^^
  expected: nanosecond
  found:    second
  hint: convert it in the SQL, or declare the unit that it has
"""


def run_check(place: Path, specs: str) -> tuple[int, str]:
    members = 'sources = [ source "log" ], events = [ took ], relations = [ beginnings, apart ]'
    result = run_assay("check", "--cache", place / "cache", cwd=create_small_workspace(place, specs, members))
    return result.status, result.err


def test_column_in_another_unit_is_refused(tmp_path: Path) -> None:
    status, error_text = run_check(tmp_path, SPECS)
    assert status == 1
    assert error_text == EXPECTED_ERROR


def test_column_in_its_own_unit_passes(tmp_path: Path) -> None:
    specs = SPECS.replace("began.took AS n", "(began.took / 1000)::BIGINT AS n")
    specs = specs.replace("max(b.t_ns - a.t_ns)", "(max(b.t_ns - a.t_ns) / 1e9)::BIGINT")
    assert run_check(tmp_path, specs)[0] == 0
