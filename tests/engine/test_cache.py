"""Test that cached results are used only for the same question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.compare_reference import CARDANO, load_json
from tests.support.commands import build, run_assay
from tests.support.laboratory import ROOT
from tests.support.runs import change_json, change_log, copy_run, format_line
from tests.support.small import create_small_workspace
from tests.support.workspaces import copy_workspace, edit_file

OTHER = [format_line(30.0 + place, "Other.Thing", {}) for place in range(5)]
EVENT = """\
    , otherThing = event "other_thing" "Something else" [ same "Other.Thing" ([] : List S.Field) ]
    , blockSent =
"""


def read_manifest(out: Path) -> Any:
    """Return the facts of the only run of a report."""
    return load_json(out / "results.json")["manifest"]["run"]


def build_manifest(run: Path, out: Path, cache: Path, root: Path) -> Any:
    """Build one run without filters; return its manifest."""
    result = build([f"run={run}"], out, cache, "--no-filters", cwd=root)
    assert result.status == 0, result.err
    return read_manifest(out)


def test_new_event_is_counted_in_cached_logs(tmp_path: Path, cache: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    change_log(run / "node-2", lambda lines: [*lines, *OTHER])
    before, after = copy_workspace(tmp_path / "before"), copy_workspace(tmp_path / "after")
    edit_file(after / "specs" / "cardano" / "events.dhall", "    , blockSent =\n", EVENT)
    edit_file(
        after / "specs" / "cardano" / "package.dhall",
        "      , e.blockSent\n",
        "      , e.blockSent\n      , e.otherThing\n",
    )
    first = build_manifest(run, tmp_path / "first", cache, before)
    second = build_manifest(run, tmp_path / "second", cache, after)
    assert second["recognised_total"] == first["recognised_total"] + len(OTHER)
    assert build_manifest(run, tmp_path / "third", cache, before) == first


def test_runs_of_same_logs_have_their_own_constants(tmp_path: Path, cache: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    first = build_manifest(run, tmp_path / "first", cache, ROOT)
    change_json(run / "genesis-shelley.json", lambda document: document.update(epochLength=10))
    change_json(run / "meta.json", lambda document: document["meta"].update(ident="renamed"))
    second = build_manifest(run, tmp_path / "second", cache, ROOT)
    assert {name: value for name, value in second.items() if first[name] != value} == {"ident": "renamed"}
    (entry,) = load_json(tmp_path / "second" / "results.json")["runs"]
    assert (entry["id"], entry["label"]) == ("run", "run")  # as the user named it
    sql = load_json(tmp_path / "second" / "sql" / "constants.json")
    assert sql["run"]["epoch_length"] == 10


def test_earlier_reads_change_no_counts(tmp_path: Path, cache: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    broken_line = format_line(31.0, "TxSubmission.TxInbound.Collected", {"count": "many"})
    change_log(run / "node-2", lambda lines: [*lines, broken_line])
    expected_manifest = build_manifest(run, tmp_path / "alone", tmp_path / "other cache", ROOT)
    full_ingest = run_assay("ingest", str(run), "--all", "--cache", str(cache))
    assert full_ingest.status == 0, full_ingest.err
    (folder,) = full_ingest.out.split()
    (quarantined_count,) = duckdb.execute(
        f"SELECT count(*) FROM read_parquet('{folder}/quarantine.parquet')"
    ).fetchall()
    assert quarantined_count == (1,)
    assert build_manifest(run, tmp_path / "after", cache, ROOT) == expected_manifest


def test_runs_of_same_logs_are_read_once(tmp_path: Path, cache: Path) -> None:
    runs = [copy_run("tiny/plain", tmp_path / name) for name in ("one", "two", "three")]
    result = run_assay("ingest", *map(str, runs), "--cache", str(cache))
    assert result.status == 0, result.err
    assert len(set(result.out.split())) == 1


def test_sql_that_splits_host_names_runs_as_checked(tmp_path: Path) -> None:
    """The engine stores hosts as numbers, which some text functions refuse."""
    edited_condition = "WHERE recognised > 0 AND host[1:5] = 'node-'"
    space = copy_workspace(tmp_path / "ws", ("queries/cardano/openings.sql", "WHERE recognised > 0", edited_condition))
    query = ("query", "CentiCpu", "--run", CARDANO / "tiny" / "plain" / "run", "--format", "json", "--no-filters")
    expected_answer = run_assay(*query, "--cache", tmp_path / "usual")
    result = run_assay(*query, "--cache", tmp_path / "cache", cwd=space)
    assert (expected_answer.status, result.status) == (0, 0), result.err
    assert result.parse_json() == expected_answer.parse_json() != []


SPECS = """\
let place = G.column "integer" "seq" U.none "Place"

let beginnings =
      relation "beginnings" "SELECT host, seq, a + 100 * (t_ns // 1000000000 % 60) AS n FROM began" [ "began" ]
        [ host, place, n ] [ "host", "seq" ]
      // { checks =
           [ S.Check::{
             , code = "greatest"
             , sql = "SELECT max(n) AS n FROM beginnings"
             , message = "the greatest is {n}"
             , severity = "warning"
             }
           ]
         }

let rows =
      S.Grain::{
      , name = "rows", relation = "beginnings", key = [ "host", "seq" ], columns = [ host, place, n ], doc = "rows" }

let by = \\(key : Text) -> \\(generation : Text) -> { path = [ key ], inBody = False, drop = "", generation }

let odd =
      event "log" "odd" [ fid ]
      // { forms =
           [ { names = [ { generation = "v0", name = "ended" } ], unless = [] : List E.Unless, fields = [ fid ] } ]
         }

"""
PACKAGE = """sources = [ source "log" // { %s lookups = [ %s ] } ], events = [ began %s ],
  relations = [ beginnings ], grains = [ rows ], metrics = [ metric "n" rows.name (X.column n) U.count ]"""
LOOKUPS = 'by "kind" "v0", by "event" "v1"'
RECORDS = [
    {"time": 1, "done": 5, "event": "began", "kind": "began", "data": {"a": 10}, "other": {"a": 20}},
    {"time": 2, "done": 6, "event": "began", "kind": "ended", "data": {"a": 30}, "other": {"a": 40}},
]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(('body = [ "other" ],', LOOKUPS, ""), (2, 180, 240), id="another body"),
        pytest.param(('time = [ "done" ],', LOOKUPS, ""), (2, 570, 630), id="another time"),
        pytest.param(("", 'by "kind" "v1"', ""), (1, 110, 110), id="another lookup"),
        pytest.param(("", LOOKUPS, ", odd"), (1, 110, 110), id="another event, which is recognised before"),
    ],
)
def test_results_are_computed_again_when_recognition_changes(
    tmp_path: Path, changes: tuple[str, str, str], expected: tuple[int, float, int]
) -> None:
    before = create_small_workspace(tmp_path / "before", SPECS, PACKAGE % ("", LOOKUPS, ""))
    after = create_small_workspace(tmp_path / "after", SPECS, PACKAGE % changes)
    for place in (before, after):
        log = place / "runs" / "one" / "h-1" / "log.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text("".join(f"{json.dumps(_record(number))}\n" for number in range(2)), encoding="utf-8")
    former = _query_metric(before, tmp_path / "cache")
    assert former == (2, 170, "warning: one: the greatest is 230\n")
    *numbers, greatest = expected
    message = f"warning: one: the greatest is {greatest}\n"
    assert _query_metric(after, tmp_path / "cache") == (*numbers, message)
    assert _query_metric(before, tmp_path / "cache") == former


def _query_metric(place: Path, cache: Path) -> tuple[int, float, str]:
    """Return size and average of the metric, and the warnings."""
    result = run_assay("query", "n", "--run", "runs/one", "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    (item,) = json.loads(result.out)
    (greatest,) = (line for line in result.err.splitlines(True) if "the greatest" in line)
    return item["size"], item["average"], greatest


def _record(number: int) -> dict[str, object]:
    """Return a record with two times, names and bodies."""
    fields: dict[str, Any] = dict(RECORDS[number])
    times = {name: f"2026-01-01T00:00:{fields[name]:02}Z" for name in ("time", "done")}
    bodies = {name: {"id": "x", **fields[name]} for name in ("data", "other")}
    return {**fields, **times, **bodies}
