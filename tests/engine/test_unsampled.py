"""Test hosts without samples: they are excluded from values over hosts, or count as if their samples were 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

LOGS = {
    "h-1/log.jsonl": [(1, "began", {"id": "x", "a": 10}), (2, "began", {"id": "y", "a": 30})],
    "h-2/log.jsonl": [(1, "began", {"id": "z", "a": 40})],
    "h-3/log.jsonl": [(1, "began", {"id": "u"}), (2, "began", {"id": "v"})],
}
SPECS = """\
let M = S.metric

let place = G.column "integer" "seq" U.none "Place"

let beginnings =
      relation "beginnings" "SELECT host, seq, a AS n FROM began" [ "began" ] [ host, place, n ] [ "host", "seq" ]

let rows =
      S.Grain::{
      , name = "rows"
      , relation = "beginnings"
      , key = [ "host", "seq" ]
      , columns = [ host, place, n ]
      , doc = "rows"
      }

let ofHosts = { per = host.name, accepted = False }

let leftOut = metric "left_out" rows.name (X.column n) U.count // ofHosts

let counted = leftOut // { id = "counted", sampledOnly = False }

let negative = leftOut // { id = "none", where = X.below (X.column n) (X.natural 0) }

let twice =
      \\(m : S.Metric.Type) ->
        M.formula
          { id = "twice_${m.id}", name = m.id, doc = m.id, formula = X.times (X.natural 2) (M.value m), unit = U.count }
"""
PACKAGE = """sources = [ source "log" ], events = [ began ], relations = [ beginnings ], grains = [ rows ],
  metrics = [ leftOut, counted, negative, twice leftOut, twice counted ]"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with a run of three hosts; one of them has no samples."""
    place = create_small_workspace(tmp_path_factory.mktemp("unsampled"), SPECS, PACKAGE)
    write_logs(place, "one", LOGS)
    return place


def query_metric(place: Path, cache: Path, metric: str) -> dict[str, Any]:
    result = run_assay("query", metric, "--run", "runs/one", "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    (item,) = json.loads(result.out)
    return dict(item)


def test_host_without_samples_is_left_out(place: Path, cache: Path) -> None:
    item = query_metric(place, cache, "left_out")
    figures = {name: item[name] for name in ("size", "average", "median", "min", "max")}
    assert figures == {"size": 3, "average": 30, "median": 40, "min": 10, "max": 40}
    assert item["centiles"][0] == [0, 40, 10, 40]


def test_host_without_samples_counts_as_zero_on_request(place: Path, cache: Path) -> None:
    item = query_metric(place, cache, "counted")
    figures = {name: item[name] for name in ("size", "average", "median", "min", "max")}
    assert figures == {"size": 3, "average": 20, "median": 30, "min": 0, "max": 40}
    assert item["centiles"][0] == [0, 10, 0, 40]


def test_metric_without_any_samples_has_no_numbers(place: Path, cache: Path) -> None:
    item = query_metric(place, cache, "none")
    assert (item["size"], item["averages"], item["centiles"]) == (0, {"all": None}, [])
    assert [item[name] for name in ("average", "median", "stddev", "min", "max")] == [None] * 5


@pytest.mark.parametrize(("metric", "average"), [("left_out", 30.0), ("counted", 20.0)])
def test_formulas_use_the_same_average_in_sql(place: Path, cache: Path, metric: str, average: float) -> None:
    assert query_metric(place, cache, f"twice_{metric}")["average"] == 2 * average
    result = run_assay("sql", f"twice_{metric}", "--run", "runs/one", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    assert duckdb.execute(result.out).fetchall() == [(2 * average, average)]


@pytest.mark.parametrize(
    ("metric", "words", "head"),
    [
        ("left_out", "`host` that has samples; average", "over those n rows that have samples:"),
        ("counted", "`host` (all 0 without samples); average", "over the n rows, with 0 where a row has no samples:"),
    ],
)
def test_host_without_samples_is_a_warning(place: Path, cache: Path, metric: str, words: str, head: str) -> None:
    explanation = run_assay("explain", metric, "--cache", cache, cwd=place)
    assert f"one distribution for each {words}" in " ".join(explanation.out.split())
    assert f"a row for each host; {head}" in run_assay("sql", metric, "--cache", cache, cwd=place).out


def test_field_without_any_value_is_named(tmp_path: Path, cache: Path) -> None:
    """Missing values are no error, because the field is optional; earlier versions did not name the field."""
    create_small_workspace(tmp_path, SPECS, PACKAGE)
    messages = [
        "no sample of left_out: 2 rows of `rows`, 0 with `n`.",
        "no `began` event has a value of `a`; there are no samples of left_out, which reads it.",
    ]
    for run, second, expected_notes in (("x", {}, messages), ("y", {"a": 1}, [])):
        write_logs(tmp_path, run, {"h-1/log.jsonl": [(1, "began", {"id": "x"}), (2, "began", {"id": "y"} | second)]})
        result = run_assay(
            "explain", "left_out", "--run", f"runs/{run}", "--format", "json", "--cache", cache, cwd=tmp_path
        )
        assert result.status == 0, result.err
        assert result.parse_json()["run"]["warnings"] == expected_notes


TABLE = """\
let table =
      S.Source::{
      , name = "table"
      , kind = "csv"
      , hosts = "h-*"
      , logs = [ "*.csv" ]
      , time = [ "at" ]
      , body = [] : List Text
      , lookups = [] : List S.source.Lookup
      , doc = "table"
      }

let row =
        event "table" "row" [ E.optional (E.at [ "length" ] (E.integer "n")) ]
      // { forms =
           [ { names = [] : List E.Name
             , unless = [] : List E.Unless
             , fields = [ E.optional (E.at [ "length" ] (E.integer "n")) ]
             }
           ]
         }

let place = G.column "integer" "seq" U.none "Place"

let relation_ = relation "listed" "SELECT host, seq, n FROM row" [ "row" ] [ host, place, n ] [ "host", "seq" ]

let numbers =
      S.Grain::{
      , name = "numbers"
      , relation = "listed"
      , key = [ "host", "seq" ]
      , columns = [ host, place, n ]
      , doc = "numbers"
      }
"""


def test_missing_column_of_an_optional_field_is_named(tmp_path: Path, cache: Path) -> None:
    names = ("one", "two", "three", "four", "five")
    metrics = ", ".join(f'metric "{name}" numbers.name (X.column n) U.count' for name in names)
    create_small_workspace(
        tmp_path,
        TABLE,
        f"sources = [ table ], events = [ row ], relations = [ relation_ ], grains = [ numbers ],"
        f" metrics = [ {metrics} ]",
    )
    for run, text in (("x", "at,lenght\n1,5\n2,6\n"), ("y", "at,length\n1,5\n2,\n")):
        (tmp_path / "runs" / run / "h-1").mkdir(parents=True)
        (tmp_path / "runs" / run / "h-1" / "a.csv").write_text(text, encoding="utf-8")
    result = run_assay("query", *names, "--run", "runs/x", "--run", "runs/y", "--format", "json", "--cache", cache,
                 cwd=tmp_path)  # fmt: skip
    assert result.status == 0, result.err
    assert [(item["run"], item["size"]) for item in result.parse_json()] == [("x", 0), ("y", 1)] * len(names)
    assert result.err == (
        "warning: x: no sample of one, two, three and 2 more: 2 rows of `numbers`, 0 with `n`.\n"
        "warning: x: no `row` event has a value of `n`, which is read from `length`; there are no samples of one, two, "
        "three and 2 more, which read it.\n"
    )


def test_ingest_names_the_source_of_each_folder(tmp_path: Path, cache: Path) -> None:
    create_small_workspace(tmp_path, SPECS, PACKAGE)
    for run in ("one", "two"):
        write_logs(tmp_path, run, LOGS if run == "one" else {"h-1/log.jsonl": [(1, "began", {"id": "x"})]})
    result = run_assay("ingest", "runs/one", "runs/two", "--cache", cache, cwd=tmp_path)
    separate_ingests = [run_assay("ingest", f"runs/{run}", "--cache", cache, cwd=tmp_path) for run in ("one", "two")]
    assert result.out == "".join(item.out for item in separate_ingests)
    assert (result.err, [item.err for item in separate_ingests]) == (
        "run one, source log:\nrun two, source log:\n",
        ["", ""],
    )
