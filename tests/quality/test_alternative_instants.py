"""Test that an instant with alternatives is missing only in rows that have none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

SPECS = """
let queued = event "log" "queued" [ fid ]
let pairs = [ { column = "host", field = "host" }, { column = "id", field = "id" } ]
let bind = \\(of : S.Event) -> picked "job" of.name of "first" pairs
let at = { queued = bind queued, began = bind began, ended = bind ended }
let first =
      S.Instant::{ name = "first_sign", grain = "job", pick = "computed", doc = "First sign"
      , value = X.orElse (G.instant at.queued) (G.instant at.began) }
let job =
      S.Grain::{ name = "job", relation = "jobs", key = [ "host", "id" ], columns = [ host, id ]
      , instants = [ at.queued, at.began, at.ended, first ], doc = "Job" }
let jobs = relation "jobs" "SELECT DISTINCT host, id FROM noted" [ "noted" ] [ host, id ] [ "host", "id" ]
let elapsed = metric "elapsed" "job" (G.elapsed { from = [ at.queued, at.began ], to = at.ended }) U.second
let computed = metric "computed" "job" (X.minus (G.instant at.ended) (G.instant first)) U.second
let direct = metric "direct" "job" (G.elapsed { from = [ at.began ], to = at.ended }) U.second
"""
PACKAGE = """sources = [ source "log", source "notes" ], events = [ queued, began, ended, noted ], relations = [ jobs ],
  grains = [ job ], metrics = [ elapsed, computed, direct ], coverage = [ S.onSomeHosts queued, S.onSomeHosts began ]"""
REMEDY = "If such rows are complete, declare it in `coverage` with `S.onSomeRows`."
#: events of each job -> metrics of the query -> findings
CASES = {
    "one-of-two": (["queued ended", "began ended", "began ended"], "elapsed,computed", []),
    "both": (["queued began ended", "began ended"], "elapsed,computed", []),
    "none-of-two": (
        ["queued ended", "began ended", "ended", "queued began ended"],
        "elapsed,computed",
        ["1 of 4 rows of `job` lack each of `queued`, `began` (elapsed, computed)."],
    ),
    "needed": (
        ["queued ended", "began ended"],
        "elapsed,direct",
        ["1 of 2 rows of `job` have no `began` (direct)."],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_replaced_instant_is_not_missing(name: str, tmp_path: Path, cache: Path) -> None:
    jobs, metrics, findings = CASES[name]
    records = [(float(place), event, {"id": f"j{job}"}) for job, events in enumerate(jobs)
               for place, event in enumerate(events.split(), 1)]  # fmt: skip
    notes = [(0.0, "noted", {"id": f"j{job}"}) for job in range(len(jobs))]
    create_small_workspace(tmp_path, SPECS, PACKAGE)
    write_logs(tmp_path, "one", {"h-1/log.jsonl": records, "h-1/notes.jsonl": notes})
    result = run_assay("query", *metrics.split(","), "--run", "x=runs/one", "--cache", cache, cwd=tmp_path)
    assert result.status == 0, result.err
    assert [line for line in result.err.splitlines() if "rows of" in line] == [
        f"warning: x: {finding} {REMEDY}" for finding in findings
    ]
