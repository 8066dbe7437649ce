"""Test metrics of grains without rows: they have no samples and a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.workspaces import edit_file, write_rows_of_requests

SEEN_GRAIN = """\
    , grains =
      [ request.grain
      , S.Grain::{
        , name = "seen"
        , relation = request.relation.name
        , key = request.relation.key
        , columns = request.relation.columns
        , doc = "A request that came in"
        }
      ]
    , filters =
      [ S.Filter::{
        , name = "answered"
        , doc = "There was a response"
        , conditions = [ { grain = "request", holds = S.x.present (S.grain.instant (request.at e.sent)) } ]
        }
      ]
    , metrics =
      [ m.wait // { per = "host" }
      , m.work
      , m.size
      , S.Metric::{
        , id = "seen_requests"
        , name = "Seen"
        , doc = "Requests that came in"
        , grain = "seen"
        , measure = S.x.natural 1
        , unit = S.unit.count
        , per = "host"
        }
      ]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Create a workspace with metrics per host, and a run whose logs have no received request."""
    folder = tmp_path_factory.mktemp("empty")
    assert run_assay("--cache", cache, "init", "ws", cwd=folder).status == 0
    package = folder / "ws/specs/service/package.dhall"
    write_rows_of_requests(folder / "ws", "SELECT DISTINCT host, request FROM request_received")
    edit_file(package, "    , grains = [ request.grain ]\n    , metrics = S.metrics (toMap m)\n", SEEN_GRAIN)
    for log in (folder / "ws/runs/1.0").glob("web-*/log.jsonl"):
        log.write_text("".join(line for line in log.read_text().splitlines(True) if "received" not in line))
    return folder / "ws"


def test_metric_per_host_of_empty_grain_has_no_samples(place: Path, cache: Path) -> None:
    result = run_assay(
        "query", "wait", "seen_requests", "--run", "runs/1.0", "--format", "csv", "--cache", cache, cwd=place
    )
    assert (result.status, result.out) == (
        0,
        "metric,run,unit,size,average,median,stddev,min,max\nwait,1.0,ms,0,,,,,\nseen_requests,1.0,,0,,,,,\n",
    )


def test_explain_says_why_grain_has_no_rows(place: Path, cache: Path) -> None:
    warnings = {
        name: run_assay(
            *("explain", name, "--run", "runs/1.0", "--filter", "answered", "--format", "json", "--cache", cache),
            cwd=place,
        ).parse_json()["run"]["warnings"]
        for name in ("wait", "seen_requests")
    }
    reason = "no sample of {}: 0 rows of `{}` (the run has no `request_received` record)."
    assert warnings == {
        "wait": [reason.format("wait", "request")],
        "seen_requests": [reason.format("seen_requests", "seen")],
    }
