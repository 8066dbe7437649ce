"""Hosts without samples: left out of what is said over hosts, or counted as if their samples were 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.support.commands import assay
from tests.support.small import logged, small

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
    """A workspace with a run of three hosts, one of which has no samples."""
    place = small(tmp_path_factory.mktemp("unsampled"), SPECS, PACKAGE)
    logged(place, "one", LOGS)
    return place


def found(place: Path, cache: Path, metric: str) -> dict[str, Any]:
    done = assay("query", metric, "--run", "runs/one", "--format", "json", "--cache", cache, within=place)
    assert done.status == 0, done.err
    (item,) = json.loads(done.out)
    return dict(item)


def test_host_without_samples_is_left_out(place: Path, cache: Path) -> None:
    item = found(place, cache, "left_out")
    told = {name: item[name] for name in ("size", "average", "median", "min", "max")}
    assert told == {"size": 3, "average": 30, "median": 40, "min": 10, "max": 40}
    assert item["centiles"][0] == [0, 40, 10, 40]


def test_host_without_samples_counts_as_zero_on_request(place: Path, cache: Path) -> None:
    item = found(place, cache, "counted")
    told = {name: item[name] for name in ("size", "average", "median", "min", "max")}
    assert told == {"size": 3, "average": 20, "median": 30, "min": 0, "max": 40}
    assert item["centiles"][0] == [0, 10, 0, 40]


def test_metric_without_any_samples_has_no_numbers(place: Path, cache: Path) -> None:
    assert found(place, cache, "none")["size"] == 0


@pytest.mark.parametrize(("metric", "average"), [("left_out", 30.0), ("counted", 20.0)])
def test_formulas_use_the_same_average_in_sql(place: Path, cache: Path, metric: str, average: float) -> None:
    assert found(place, cache, f"twice_{metric}")["average"] == 2 * average
    done = assay("sql", f"twice_{metric}", "--run", "runs/one", "--cache", cache, within=place)
    assert done.status == 0, done.err
    assert duckdb.execute(done.out).fetchall() == [(2 * average, average)]


@pytest.mark.parametrize(
    ("metric", "words", "head"),
    [
        ("left_out", "`host` that has samples; average", "over those n rows that have samples:"),
        ("counted", "`host` (all 0 without samples); average", "over the n rows, with 0 where a row has no samples:"),
    ],
)
def test_host_without_samples_is_a_warning(place: Path, cache: Path, metric: str, words: str, head: str) -> None:
    explained = assay("explain", metric, "--cache", cache, within=place)
    assert f"one distribution for each {words}" in " ".join(explained.out.split())
    assert f"a row for each host; {head}" in assay("sql", metric, "--cache", cache, within=place).out


def test_field_without_any_value_is_named(tmp_path: Path, cache: Path) -> None:
    """It is no error, for the field may be missing; nothing told which one it was."""
    small(tmp_path, SPECS, PACKAGE)
    told = {"x": "no `began` event has a value of `a`; there are no samples of left_out, which reads it."}
    for run, second, lacking in (("x", {}, [told["x"]]), ("y", {"a": 1}, [])):
        logged(tmp_path, run, {"h-1/log.jsonl": [(1, "began", {"id": "x"}), (2, "began", {"id": "y"} | second)]})
        done = assay(
            "explain", "left_out", "--run", f"runs/{run}", "--format", "json", "--cache", cache, within=tmp_path
        )
        assert done.status == 0, done.err
        assert done.json()["run"]["warnings"] == lacking


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
    small(tmp_path, TABLE, f"sources = [ table ], events = [ row ], relations = [ relation_ ], grains = [ numbers ],"
          f" metrics = [ {metrics} ]")  # fmt: skip
    for run, text in (("x", "at,lenght\n1,5\n2,6\n"), ("y", "at,length\n1,5\n2,\n")):
        (tmp_path / "runs" / run / "h-1").mkdir(parents=True)
        (tmp_path / "runs" / run / "h-1" / "a.csv").write_text(text, encoding="utf-8")
    done = assay("query", *names, "--run", "runs/x", "--run", "runs/y", "--format", "json", "--cache", cache,
                 within=tmp_path)  # fmt: skip
    assert done.status == 0, done.err
    assert [(item["run"], item["size"]) for item in done.json()] == [("x", 0), ("y", 1)] * len(names)
    assert done.err == (
        "warning: x: no `row` event has a value of `n`, which is read from `length`; there are no samples of one, two, "
        "three and 2 more, which read it.\n"
    )


def test_ingest_names_the_source_of_each_folder(tmp_path: Path, cache: Path) -> None:
    small(tmp_path, SPECS, PACKAGE)
    for run in ("one", "two"):
        logged(tmp_path, run, LOGS if run == "one" else {"h-1/log.jsonl": [(1, "began", {"id": "x"})]})
    done = assay("ingest", "runs/one", "runs/two", "--cache", cache, within=tmp_path)
    alone = [assay("ingest", f"runs/{run}", "--cache", cache, within=tmp_path) for run in ("one", "two")]
    assert done.out == "".join(item.out for item in alone)
    assert (done.err, [item.err for item in alone]) == ("run one, source log:\nrun two, source log:\n", ["", ""])
