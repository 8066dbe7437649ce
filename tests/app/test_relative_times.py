"""Test times relative to a start in the log, in runs whose other content is equal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.lang.model.package import Constant, Unit
from assay.remote.required_files import collect_required_files
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE
from tests.support.small import create_small_workspace, query_averages

DEFINITIONS = """\
let started =
      S.Constant::{
      , name = "started"
      , files = [ "start.txt", "gc*.log" ]
      , line = "start: {value}"
      , type = "instant"
      , doc = "Start of the process"
      }

let collector =
      S.Constant::{
      , name = "collector"
      , files = [ "gc*.log" ]
      , line = "[{}s] Using {value...}"
      , type = "text"
      , doc = "Garbage collector"
      }

let gc =
      S.Source::{
      , name = "gc"
      , kind = "text-lines"
      , hosts = ""
      , logs = [ "gc*.log" ]
      , time = [ "at" ]
      , body = [ "text" ]
      , lookups = [] : List S.source.Lookup
      , line = "[{at}s] {text...}"
      , timeForm = "s"
      , start = started.name
      , constants = [ started, collector ]
      , doc = "Log of the collector"
      }

let lineOf =
      \\(name : Text) ->
      \\(pattern : Text) ->
        { name
        , source = "gc"
        , forms =
          [ { names = [ { generation = "", name = pattern } ], unless = [] : List E.Unless, fields = [ fid ] } ]
        , doc = name
        } : S.Event

let began = lineOf "began" "GC({id}) begins"

let ended = lineOf "ended" "GC({id}) ends"

let byId = [ G.sameColumn id id ]

let first = picked "pause" "first" began "first" byId

let last = picked "pause" "last" ended "last" byId

let ids = relation "ids" "SELECT DISTINCT id FROM began" [ "began" ] [ id ] [ "id" ]

let pause =
      S.Grain::{
      , name = "pause"
      , relation = "ids"
      , key = [ "id" ]
      , columns = [ id ]
      , instants = [ first, last ]
      , doc = "Pause"
      }
"""
REPORT = """
let R = S.report

let length = metric "length" "pause" (S.elapsed { from = [ first ], to = last }) U.nanosecond

let pauses =
      S.Report::{
      , name = "pauses"
      , title = "Pauses"
      , intro = ""
      , label = collector.name
      , summary = "all"
      , style = "three-digits"
      , manifest = [ R.fact "Start" started R.time ]
      , sections = [ R.section "Pauses" [ length ] ]
      , charts = [] : List R.Chart
      , dictionary = [ R.group "All" [ length ] ]
      }
"""
PACKAGE = """\
sources = [ gc ]
, events = [ began, ended ]
, grains = [ pause ]
, relations = [ ids ]
, metrics = [ length ]
, reports = [ pauses ]
"""
LINES = """\
[0.005s] Using G1
[0.100s] GC(0) begins
[0.1125s] GC(0) ends
[61.000000001s] GC(1) begins
[61.020000002s] GC(1) ends
"""
LENGTHS = (12_500_000, 20_000_001)  # ns from the beginning to the end of each pause
SECOND = 1_000_000_000


def _write_run(place: Path, run: str, **files: str) -> None:
    for name, text in files.items():
        path = place / "runs" / run / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _read_instants(place: Path, run: str) -> dict[str, Any]:
    """Ingest a run; return its first and last instant, and those at which pauses begin."""
    result = run_assay("ingest", f"runs/{run}", "--all", "--cache", place / "cache", cwd=place)
    assert result.status == 0, result.err
    folder = Path(result.out.strip())
    with duckdb.connect() as connection:
        first, last = connection.execute(
            "SELECT first_ns, last_ns FROM read_parquet(?)", [f"{folder}/logs.parquet"]
        ).fetchone()
        began = connection.execute(
            "SELECT t_ns FROM read_parquet(?) ORDER BY seq", [f"{folder}/events/began/*.parquet"]
        ).fetchall()
    return {"first": first, "last": last, "began": [t_ns for (t_ns,) in began]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return create_small_workspace(tmp_path, DEFINITIONS + REPORT, PACKAGE)


def test_start_is_the_first_line_of_the_log(place: Path) -> None:
    """The log starts at 1705951200 s since 1970; its first line has no instant."""
    _write_run(place, "one", gc_log=f"start: 2024-01-22T19:20:00Z\n{LINES}")
    size, average = query_averages(place, place / "cache", "length")["length"]
    assert (size, average) == (2, sum(LENGTHS) / 2)
    start = 1_705_951_200 * SECOND
    assert _read_instants(place, "one") == {
        "first": start + 5_000_000,
        "last": start + 61 * SECOND + 20_000_002,
        "began": [start + 100_000_000, start + 61 * SECOND + 1],
    }


def test_equal_logs_of_two_runs_have_their_own_starts(place: Path) -> None:
    """The runs differ only in the document with the start, by 10 s and 1 ns, and share a cache."""
    _write_run(place, "one", gc_log=LINES, start_txt="start: 2024-01-22T19:20:00Z")
    _write_run(place, "two", gc_log=LINES, start_txt="start: 2024-01-22T19:20:10.000000001Z")
    one, two, again = (_read_instants(place, run) for run in ("one", "two", "one"))
    assert two["began"] == [t_ns + 10 * SECOND + 1 for t_ns in one["began"]]
    assert (two["first"] - one["first"], two["last"] - one["last"]) == (10 * SECOND + 1, 10 * SECOND + 1)
    assert again == one


def test_changed_start_is_noticed(place: Path) -> None:
    """A start that is corrected later shifts all instants, although the log and the specs are as before."""
    _write_run(place, "one", gc_log=LINES, start_txt="start: 2024-01-22T19:20:00Z")
    before = _read_instants(place, "one")
    _write_run(place, "one", start_txt="start: 2024-01-22T19:21:00Z")
    assert _read_instants(place, "one")["first"] == before["first"] + 60 * SECOND


def test_lineage_names_the_line_of_the_start(place: Path) -> None:
    """Instants, and what is computed from them, depend on the constant."""
    result = run_assay("lineage", "length", cwd=place)
    assert 'started  start.txt or gc*.log line "start: {value}"' in result.out
    (constant,) = run_assay("lineage", "length", "--format", "json", cwd=place).parse_json()["constants"]
    assert (constant["name"], constant["role"], constant["line"]) == ("started", "value", "start: {value}")


def test_explain_names_the_file_and_line_of_the_start(place: Path) -> None:
    _write_run(place, "one", gc_log=f"start: 2024-01-22T19:20:00Z\n{LINES}")
    command = ("explain", "length", "--run", "runs/one", "--format", "json", "--cache", place / "cache")
    (constant,) = run_assay(*command, cwd=place).parse_json()["run"]["constants"]
    assert constant["place"] == 'gc.log:1 line "start: {value}"'


def test_provenance_has_the_file_of_the_start_once(place: Path) -> None:
    """A log is among the raw files of the run; another file is a document."""
    _write_run(place, "one", gc_log=f"start: 2024-01-22T19:20:00Z\n{LINES}")
    _write_run(place, "two", gc_log=LINES, start_txt="start: 2024-01-22T19:20:10Z")
    runs = ("--run", "a=runs/one", "--run", "b=runs/two")
    built = run_assay("build", "small/pauses", *runs, "--to", "md", "-o", "out", "--cache", place / "cache", cwd=place)
    assert built.status == 0, built.err
    content = json.loads((place / "out" / "provenance.json").read_text(encoding="utf-8"))["content"]
    names = [[item["file"] for item in run.get("documents", ())] for run in content["runs"]]
    assert names == [[], ["start.txt"]]


def test_files_of_constants_in_lines_are_fetched() -> None:
    constant = Constant("x", ("gc*.log",), (), "text", Unit("dimensionless", ""), None, "X", line="Using {value}")
    source = replace(SOURCE, constants=(constant, replace(constant, files=("run.json",), path=("x",), line="")))
    required_files = collect_required_files([source])
    names = ("gc.log", "gc.1.log.gz", "gc.log.zst", "run.json", "run.json.gz", "gc.txt")
    assert [name for name in names if required_files.has(name)] == ["gc.log", "gc.1.log.gz", "gc.log.zst", "run.json"]
