"""Test workspaces proposed for records that name the units of their numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay


def _write_results(path: Path, units: tuple[str, str]) -> None:
    """Write ten results each of two benchmarks, of 3000 and 700,000 ns, in these units."""
    factors = {"ns": 1, "us": 1e3, "ms": 1e6, "fortnights": 1}
    results = [
        {"name": name, "run_type": "iteration", "iterations": 9, "real_time": time, "cpu_time": time, "time_unit": unit}
        for name, nanoseconds, unit in (("copy", 3000, units[0]), ("sort", 700_000, units[1]))
        for time in ((nanoseconds + number) / factors[unit] for number in range(10))
    ]
    path.mkdir(parents=True)
    (path / "out.json").write_text(json.dumps({"context": {}, "benchmarks": results}), encoding="utf-8")


@pytest.mark.parametrize("units", [("ns", "us"), ("ns", "ns"), ("ms", "ms")])
def test_a_unit_that_switches_changes_no_number(units: tuple[str, str], tmp_path: Path, cache: Path) -> None:
    _write_results(tmp_path / "old", ("us", "us"))
    _write_results(tmp_path / "new", units)
    place = tmp_path / "service"
    assert run_assay("--cache", cache, "init", place, "--from", tmp_path / "old", tmp_path / "new").status == 0
    runs = ("--run", place / "runs/old", "--run", place / "runs/new")
    answer = run_assay("--cache", cache, "query", "real_time", *runs, "--format", "json", cwd=place)
    assert answer.status == 0, answer.err
    old, new = json.loads(answer.out)
    assert (old["unit"], new["unit"]) == (("ns", "ns") if units[1] == "ns" else ("µs", "µs"))
    assert old["average"] == pytest.approx(new["average"], rel=1e-12)
    assert new["average"] == pytest.approx(351_504.5 if units[1] == "ns" else 351.5045, rel=1e-12)


def test_a_unit_that_is_none_is_never_read_as_a_number(tmp_path: Path, cache: Path) -> None:
    _write_results(tmp_path / "old", ("us", "us"))
    place = tmp_path / "service"
    assert run_assay("--cache", cache, "init", place, "--from", tmp_path / "old").status == 0
    _write_results(tmp_path / "later", ("us", "fortnights"))
    (run,) = (place / "runs").iterdir()
    (run / "out.json").write_bytes((tmp_path / "later/out.json").read_bytes())
    answer = run_assay("--cache", cache, "query", "real_time", "--run", run, "--format", "json", cwd=place)
    assert [row["size"] for row in json.loads(answer.out)] == [10]
    assert 'expected a unit in time_unit that converts to microsecond, found "fortnights"' in answer.err
