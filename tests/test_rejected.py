"""What a report says where filters leave nothing of a run."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import assay
from tests.support.workspaces import edited

FILTERS = """\
    , filters =
      [ S.Filter::{
        , name = "unanswered"
        , doc = "There was no response"
        , conditions = [ { grain = "request", holds = S.x.absent (S.grain.instant requests.at.sent) } ]
        }
      , S.Filter::{
        , name = "received"
        , doc = "The request came in"
        , conditions = [ { grain = "request", holds = S.x.present (S.grain.instant requests.at.received) } ]
        }
      ]
    , metrics ="""


def test_metrics_that_filters_leave_no_samples_of_name_the_filters(tmp_path: Path, cache: Path) -> None:
    assert assay("--cache", cache, "init", "ws", within=tmp_path).status == 0
    edited(tmp_path / "ws/specs/service/package.dhall", "    , metrics =", FILTERS)
    asked = ("build", "service/comparison", "--run", "runs/1.0", "--filter", "unanswered", "--filter", "received")
    done = assay(*asked, "-o", "out", "--cache", cache, within=tmp_path / "ws")
    assert (done.status, done.err) == (
        0,
        "warning: 1.0: there are no samples of Waiting time, Working time, Size of the response; "
        "filter unanswered rejected 120 of 120 of `request`.\n",
    )
    asked = ("query", "wait", "work", "--run", "runs/1.0", "--filter", "unanswered")
    done = assay(*asked, "--cache", cache, within=tmp_path / "ws")
    assert done.err.splitlines() == [
        "warning: 1.0: there are no samples of wait, work; filter unanswered rejected 120 of 120 of `request`.",
        "filters: unanswered; average: requests",
    ]
