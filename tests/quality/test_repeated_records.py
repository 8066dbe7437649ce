"""Test the note on records that no metric reads, since instants pick one of each key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

SPECS = """
let pairs = [ { column = "host", field = "host" }, { column = "id", field = "id" } ]
let records = G.eachRecord { name = "records", event = ended, fields = [ fid ], doc = "Record of an end" }
let latest = \\(grain : Text) -> \\(end : S.Instant.Type) ->
      S.Instant::{ name = "at_began", grain, pick = "latest before", before = end.name, of = began.name, on = pairs
      , doc = "It began" }
let each = records.grain // { instants = [ records.at, latest "records" records.at ] }
let at = { ended = picked "job" "at_ended" ended "last" pairs }
let job =
      S.Grain::{ name = "job", relation = "jobs", key = [ "host", "id" ], columns = [ host, id ]
      , instants = [ at.ended, latest "job" at.ended ], doc = "Job" }
let jobs = relation "jobs" "SELECT DISTINCT host, id FROM ended" [ "ended" ] [ host, id ] [ "host", "id" ]
let version = S.Constant::{ name = "version", files = [ "meta.json" ], path = [ "version" ], type = "text"
      , doc = "Version" }
let log = source "log" // { constants = [ version ] }
let R = S.report
let of_each = metric "of_each" "records"
      (G.elapsed { from = [ latest "records" records.at ], to = records.at }) U.second
let of_job = metric "of_job" "job" (G.elapsed { from = [ latest "job" at.ended ], to = at.ended }) U.second
let report = \\(m : S.Metric.Type) ->
      S.Report::{ name = m.id, title = "Jobs", intro = "", label = version.name, summary = "all", style = "prefixed"
      , manifest = [ R.fact "Version" version (R.text 0) ], sections = [ R.section "All" [ m ] ]
      , charts = [ R.cdf m ], dictionary = [ R.group "All" [ m ] ] }
"""
PACKAGE = """sources = [ log ], events = [ began, ended ], relations = [ jobs, records.relation ],
  grains = [ job, each ], metrics = [ of_each, of_job ], reports = [ report of_each, report of_job ]"""


@pytest.mark.parametrize(
    ("metric", "size", "note"),
    [
        ("of_each", 4, ""),
        (
            "of_job",
            2,
            "records without use, as one of each key counts: 2 of 4 `ended` by `id`, 2 of 4 `began` by `id`.",
        ),
    ],
)
def test_records_of_rows_that_read_one_each_have_a_use(
    metric: str, size: int, note: str, tmp_path: Path, cache: Path
) -> None:
    """Each of two jobs runs twice."""
    records = [(float(place), event, {"id": f"j{place % 4 // 2}"})
               for place, event in enumerate(["began", "ended"] * 4)]  # fmt: skip
    create_small_workspace(tmp_path, SPECS, PACKAGE)
    write_logs(tmp_path, "one", {"h-1/log.jsonl": records})
    (tmp_path / "runs/one/meta.json").write_text('{"version": "1"}', encoding="utf-8")
    words = ("build", f"small/{metric}", "--run", "runs/one", "--to", "md", "-o", "out", "--cache", cache)
    result = run_assay(*words, cwd=tmp_path)
    assert result.status == 0, result.err
    results = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))
    assert results["metrics"][metric]["runs"]["one"]["size"] == size
    text = (tmp_path / "out/report.md").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if "without use" in line] == ([f"- 1: {note}"] if note else [])
