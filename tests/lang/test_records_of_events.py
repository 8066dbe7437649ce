"""Test grains with a row for each record of several events: a metric over all of them, split by event."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

SPECS = """
let took = E.inUnit U.millisecond (E.integer "duration_ms")
let stage = \\(name : Text) -> event "log" name [ fid, took ]
let stages = [ stage "load_done", stage "train_done", stage "save_done" ]
let all = G.eachRecordOf { name = "stages", events = stages, fields = [ took ], doc = "A stage" }
let time = metric "stage_time" all.grain.name (X.column (G.columnOf took)) U.millisecond // { better = "lower" }
"""
PACKAGE = """sources = [ source "log" ], events = stages, relations = [ all.relation ], grains = [ all.grain ],
  metrics = [ time ]"""
STAGES = {"load_done": [10, 14], "train_done": [100, 120, 140], "save_done": [3]}


def create_workspace(place: Path) -> None:
    create_small_workspace(place, SPECS, PACKAGE)
    records = [
        (float(number), name, {"id": name, "duration_ms": took})
        for name, times in STAGES.items()
        for number, took in enumerate(times, 1)
    ]
    write_logs(place, "one", {"h-1/log.jsonl": records, "h-2/log.jsonl": records[:1]})


def test_metric_over_events_splits_by_event(tmp_path: Path, cache: Path) -> None:
    create_workspace(tmp_path)
    words = ("query", "stage_time", "--by", "event", "--run", "runs/one", "--format", "json", "--cache", cache)
    result = run_assay(*words, cwd=tmp_path)
    assert result.status == 0, result.err
    assert {item["metric"]: (item["size"], item["average"]) for item in json.loads(result.out)} == {
        "stage_time": (7, (10 + 14 + 100 + 120 + 140 + 3 + 10) / 7),
        "stage_time[event=train_done]": (3, 120),
        "stage_time[event=load_done]": (3, 34 / 3),
        "stage_time[event=save_done]": (1, 3),
    }


def test_sample_of_several_events_leads_to_its_record(tmp_path: Path, cache: Path) -> None:
    create_workspace(tmp_path)
    words = ("explain", "stage_time", "--run", "runs/one", "--format", "json", "--cache", cache)
    result = run_assay(*words, cwd=tmp_path)
    assert result.status == 0, result.err
    assert '"duration_ms\\": 140' in result.out
    assert "log.jsonl:5" in result.out or '"line": 5' in result.out


def test_one_event_of_several_names_has_its_name_as_a_field(tmp_path: Path, cache: Path) -> None:
    specs = """
let took = E.inUnit U.millisecond (E.at [ "data", "duration_ms" ] (E.integer "duration_ms"))
let stage = E.at [ "event" ] (E.text "stage")
let log = source "log" // { body = [] : List Text, lookups = [ S.source.nameAt [ "event" ] ] }
let done =
      E.event { name = "done", source = log.name, names = [ "load_done", "train_done", "save_done" ]
              , fields = [ stage, took ], doc = "End of a stage" }
let all = G.eachRecord { name = "stages", event = done, fields = [ stage, took ], doc = "A stage" }
let time = metric "stage_time" all.grain.name (X.column (G.columnOf took)) U.millisecond
"""
    create_workspace(tmp_path / "several")
    create_small_workspace(
        tmp_path / "one",
        specs,
        """sources = [ log ], events = [ done ], relations = [ all.relation ],
           grains = [ all.grain // { dimensions = [ stage.name ] } ], metrics = [ time ]""",
    )
    (tmp_path / "several" / "runs").rename(tmp_path / "one" / "runs")
    words = ("query", "stage_time", "--by", "stage", "--run", "runs/one", "--format", "json", "--cache", cache)
    result = run_assay(*words, cwd=tmp_path / "one")
    assert result.status == 0, result.err
    assert {item["metric"]: item["average"] for item in json.loads(result.out)}["stage_time[stage=train_done]"] == 120


BEFORE = """
let configured = event "log" "configured" [ E.integer "a" ]
let before =
      S.Instant::{
      , name = "before"
      , grain = all.grain.name
      , pick = "latest before"
      , before = all.at.name
      , of = configured.name
      , on = [ G.sameColumn all.host all.host ]
      , fields = [ "a" ]
      , doc = "The configuration"
      }
let since = metric "since_configured" all.grain.name (S.elapsed { from = [ before ], to = all.at }) U.second
let number = metric "configured_a" all.grain.name (G.taken before (E.integer "a")) U.none
"""


def test_record_of_several_events_has_the_latest_before_it(tmp_path: Path, cache: Path) -> None:
    package = """sources = [ source "log" ], events = [ configured ] # stages, relations = [ all.relation ],
      grains = [ all.grain // { instants = [ all.at, before ] } ], metrics = [ since, number ]"""
    create_small_workspace(tmp_path, SPECS + BEFORE, package)
    took = {"id": "x", "duration_ms": 1}
    records = [
        (1.0, "load_done", took),
        (2.0, "configured", {"a": 7}),
        (4.0, "load_done", took),
        (5.0, "configured", {"a": 8}),
        (5.0, "save_done", took),
        (9.0, "train_done", took),
    ]
    write_logs(tmp_path, "one", {"h-1/log.jsonl": records, "h-2/log.jsonl": records[:1]})
    words = ("query", "since_configured", "configured_a", "--run", "runs/one", "--format", "json")
    result = run_assay(*words, "--cache", cache, cwd=tmp_path)
    assert result.status == 0, result.err
    values = [(item["size"], item["min"], item["median"], item["max"]) for item in json.loads(result.out)]
    assert values == [(3, 0, 2, 4), (3, 7, 8, 8)]


def test_records_of_several_sources_have_no_order(tmp_path: Path, cache: Path) -> None:
    specs = SPECS.replace("let stages = [", 'let stages = [ event "notes" "noted_done" [ fid, took ],') + BEFORE
    package = """sources = [ source "log", source "notes" ], events = [ configured ] # stages,
      relations = [ all.relation ], grains = [ all.grain // { instants = [ all.at, before ] } ], metrics = [ since ]"""
    create_small_workspace(tmp_path, specs, package)
    result = run_assay("check", "--cache", cache, cwd=tmp_path)
    assert result.status == 1
    assert "is the latest before `at`, but records of different sources have no order\n" in result.err
    assert "  expected: `stages_records` with records of one source, instead of log, notes\n" in result.err
    assert "  found:    `configured` of log\n" in result.err
