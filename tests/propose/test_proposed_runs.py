"""Test which logs become runs of their own, by their names: `proposed_runs.csv` has the runs and globs of each set."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay

TABLE = Path(__file__).parent / "proposed_runs.csv"
ROWS = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
LINE = '{"time":"2026-01-05T09:00:00Z","latency_ms":4}\n'


@pytest.mark.parametrize("row", ROWS, ids=[row["logs"] for row in ROWS])
def test_runs_follow_from_the_names_of_logs(row: dict[str, str], tmp_path: Path) -> None:
    """Each log is in the run of its set, and the globs of the source match the logs and not the facts of the run."""
    names = row["logs"].split()
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(LINE if not name.endswith(".csv") else "time,latency_ms\n2026-01-05T09:00:00Z,4\n")
    place = tmp_path / "service"
    logs = [tmp_path / name for name in names]
    result = run_assay("init", place, "--from", *logs, "--format", "json")
    assert (result.status, result.err) == (0, "")
    proposal = json.loads(result.out)
    runs = [f"{run['name']}:{'+'.join(run['files'])}" for run in proposal["runs"]]
    globs = [glob for source in proposal["sources"] for glob in source["logs"]]
    assert (runs, globs) == (row["runs"].split(), row["globs"].split())
    for run in proposal["runs"]:
        assert json.loads((place / "runs" / run["name"] / "meta.json").read_text()) == {"version": run["name"]}
        assert all((place / "runs" / run["name"] / file).is_file() for file in run["files"])
