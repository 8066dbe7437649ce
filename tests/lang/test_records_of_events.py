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
