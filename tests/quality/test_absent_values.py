"""Test the findings on fields that many records of one run lack, and hardly any of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

SPECS = """
let took = E.optional (E.integer "took")
let done = event "log" "done" [ took ]
let readings = G.eachRecord { name = "readings", event = done, doc = "A sample", fields = [ took ] }
let metrics =
      [ metric "took" "readings" (X.asUnit U.millisecond (X.column (G.columnOf took))) U.millisecond ]
"""
PACKAGE = """sources = [ source "log" ], events = [ done ], relations = [ readings.relation ],
  grains = [ readings.grain ], metrics"""
RECORDS = 200
#: records without the field in base and other run, and those that are named
ABSENT = {
    "none": (0, 0, ""),
    "few": (0, 8, ""),
    "in-both": (60, 80, ""),
    "in-other": (0, 30, "30"),
    "in-base": (150, 4, "150"),
}


@pytest.mark.parametrize("name", ABSENT)
def test_values_that_one_run_lacks_are_named(tmp_path: Path, cache: Path, name: str) -> None:
    *numbers, named = ABSENT[name]
    place = create_small_workspace(tmp_path, SPECS, PACKAGE)
    for run, number in zip("ab", numbers, strict=True):
        records = [
            (index / 10, "done", {} if index < number else {"took": 50 + index * 7 % 11}) for index in range(RECORDS)
        ]
        write_logs(place, run, {"h-1/log.jsonl": records})
    result = run_assay(
        "compare", "a=runs/a", "b=runs/b", "--format", "json", "--metric", "took", "--cache", cache, cwd=place
    )
    assert result.status == 0, result.err
    (change,) = result.parse_json()["changes"]
    message = f"{named} of {RECORDS} rows of `readings` have no value, in "
    assert (message in result.err, change["verdict"] == "data lost") == (bool(named), bool(named)), result.err
