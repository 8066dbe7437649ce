"""Test that the first record of a key, which nothing precedes, does not count as incomplete."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

SPECS = """
let pairs = [ { column = "host", field = "host" }, { column = "id", field = "id" } ]
let records = G.eachRecord { name = "records", event = ended, fields = [ fid ], doc = "Record of an end" }
let latest = \\(of : S.Event) -> S.Instant::{ name = "before_${of.name}", grain = "records", pick = "latest before"
      , before = records.at.name, of = of.name, on = pairs, doc = "The record before" }
let each = records.grain // { instants = [ records.at, latest ended, latest began ] }
let interval = metric "interval" "records" (G.elapsed { from = [ latest ended ], to = records.at }) U.second
let duration = metric "duration" "records" (G.elapsed { from = [ latest began ], to = records.at }) U.second
"""
PACKAGE = """sources = [ source "log" ], events = [ began, ended ], relations = [ records.relation ], grains = [ each ],
  metrics = [ interval, duration ]"""
REMEDY = "If such rows are complete, declare it in `coverage` with `S.onSomeRows`."
#: ids of records on each of two hosts (empty: unknown), the metric -> findings
CASES = {
    "firsts": ("a b a b a", "interval", []),
    "one-record-of-a-key": ("a a a b", "interval", []),
    "other-event": ("a a", "duration", ["2 of 4 rows of `records` have no `before_began` (duration)."]),
}


@pytest.mark.parametrize("name", CASES)
def test_first_record_of_a_key_lacks_nothing(name: str, tmp_path: Path, cache: Path) -> None:
    ids, metric, findings = CASES[name]
    records = [(float(place), "ended", {"id": f"j{text}"}) for place, text in enumerate(ids.split(), 2)]
    if metric == "duration":  # between the records of both
        records.insert(1, (2.5, "began", {"id": "ja"}))
    create_small_workspace(tmp_path, SPECS, PACKAGE)
    write_logs(tmp_path, "one", {f"h-{host}/log.jsonl": records for host in (1, 2)})
    result = run_assay("query", metric, "--run", "x=runs/one", "--cache", cache, cwd=tmp_path)
    assert result.status == 0, result.err
    assert [line for line in result.err.splitlines() if "rows of" in line] == [
        f"warning: x: {finding} {REMEDY}" for finding in findings
    ]
