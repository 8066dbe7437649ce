"""Test the findings on samples that cannot be, or stand for a missing value."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

CASES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("implausible.toml").read_text("utf-8"))
METRICS = ("took", "heap", "hit", "cpu", "errors", "rows", "delta")
SPECS = """
let value = \\(name : Text) -> E.optional (E.integer name)
let fields = { took = value "took", heap = value "heap", hit = value "hit", cpu = value "cpu", errors = value "errors"
      , rows = E.count (value "rows"), delta = value "delta" }
let all = [ fields.took, fields.heap, fields.hit, fields.cpu, fields.errors, fields.rows, fields.delta ]
let sampled = event "log" "sampled" all
let readings = G.eachRecord { name = "readings", event = sampled, doc = "A sample", fields = all }
let read = \\(unit : U.Unit) -> \\(f : S.Field) ->
      metric f.name "readings" (X.asUnit unit (X.column (G.columnOf f))) unit // { better = "lower" }
let took = metric "took" "readings" (X.asUnit U.millisecond (X.column (G.columnOf fields.took))) U.second
let hit = read U.percent fields.hit // { quantity = "share" }
let metrics =
      [ took, read U.byte fields.heap, hit, read U.percent fields.cpu, read U.count fields.errors
      , read U.none fields.rows, read U.none fields.delta ]
"""
PACKAGE = """sources = [ source "log" ], events = [ sampled ], relations = [ readings.relation ],
  grains = [ readings.grain ], metrics"""
#: runs whose heap is compared: samples of the base and of the other, and whether these are judged
COMPARED = {
    "measured-and-switched-off": ("1000*20 1010*20", "0*40", False),
    "switched-off-and-measured": ("0*40", "1000*20 1010*20", False),
    "never-measured": ("0*40", "0*40", True),
    "sometimes-0": ("0*10 1000*30", "0*40", True),
    "less": ("1000*20 1010*20", "500*20 510*20", True),
}
#: runs of which some have samples below 0 or for missing values: few, and so many that averages are wrong
NEGATIVE = {
    "measured": "50*20 51*20",
    "set-back": "50*19 -10*1 51*20",
    "often-set-back": "50*15 -900*10 51*15",
    "sometimes-set-back": "50*17 -10*3 51*20",
    "missing": "50*18 -1*4 51*18",
    "greatest": "50*18 2147483647*4 51*18",
    "zeros": "50..64 0*30 51..63",
    "in-microseconds": "50000*20 51000*20",
}


def expand_values(text: str) -> list[int]:
    values: list[int] = []
    for item in text.split():
        first, _, last = item.partition("..")
        value, _, count = item.partition("*")
        values += range(int(first), int(last) + 1) if last else [int(value)] * int(count)
    return values


def write_run(place: Path, name: str, values: Mapping[str, str]) -> None:
    columns = zip_longest(*map(expand_values, values.values()))
    records = [
        (number / 10, "sampled", {name: value for name, value in zip(values, row, strict=True) if value is not None})
        for number, row in enumerate(columns)
    ]
    write_logs(place, name, {"h-1/log.jsonl": records})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a run for each case, and two for each comparison."""
    place = create_small_workspace(tmp_path_factory.mktemp("implausible"), SPECS, PACKAGE)
    for name, case in CASES.items():
        write_run(place, name, case["values"])
    for name, (base, other, _) in COMPARED.items():
        write_run(place, f"{name}-1", {"heap": base})
        write_run(place, f"{name}-2", {"heap": other})
    for name, values in NEGATIVE.items():
        write_run(place, name, {"took": values})
    return place


@pytest.mark.parametrize("name", CASES)
def test_query_warns_of_implausible_samples(place: Path, cache: Path, name: str) -> None:
    metrics = [item for item in METRICS if item in CASES[name]["values"]]
    result = run_assay("query", *metrics, "--run", f"x=runs/{name}", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    lines = [line.removeprefix("warning: x: ") for line in result.err.splitlines() if line.startswith("warning: x:")]
    assert lines == CASES[name]["says"]


@pytest.mark.parametrize("name", COMPARED)
def test_metric_that_is_0_in_one_run_only_is_not_judged(place: Path, cache: Path, name: str) -> None:
    *_, is_judged = COMPARED[name]
    runs = [f"{label}=runs/{name}-{number}" for number, label in enumerate(("base", "other"), 1)]
    result = run_assay("compare", *runs, "--metric", "heap", "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    (change,) = result.parse_json()["changes"]
    assert (change["verdict"] not in ("no interval", "data lost")) == is_judged, change
    assert ("all 40 samples are 0, in" in result.err) != is_judged, result.err
    assert is_judged or result.err.count("samples are 0") == 1, result.err


@pytest.mark.parametrize("name", NEGATIVE)
def test_metric_with_a_wrong_average_is_not_judged(place: Path, cache: Path, name: str) -> None:
    is_judged = name in ("measured", "set-back")
    runs = ("a=runs/measured", f"b=runs/{name}")
    result = run_assay("compare", *runs, "--metric", "took", "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    (change,) = result.parse_json()["changes"]
    assert (change["verdict"] not in ("no interval", "data lost")) == is_judged, change
    assert ("(took)" in result.err) == (name != "measured"), result.err


@pytest.mark.parametrize("heap", ["0*40", "1000*40"])
def test_counts_beside_sizes_that_were_not_measured_are_not_judged(place: Path, cache: Path, heap: str) -> None:
    """Without the sizes, no error may have happened."""
    write_run(place, "counted", {"heap": "1000*20 1010*20", "errors": "0*10 1..30"})
    write_run(place, f"counted-{heap[0]}", {"heap": heap, "errors": "0*40"})
    words = ("compare", "a=runs/counted", f"b=runs/counted-{heap[0]}", "--metric", "errors", "--metric", "heap")
    result = run_assay(*words, "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    change = next(item for item in result.parse_json()["changes"] if item["metric"] == "errors")
    assert (change["verdict"] == "no interval") == (heap == "0*40")
    assert ("(errors): nor were heap of the same records measured." in result.err) == (heap == "0*40"), result.err
