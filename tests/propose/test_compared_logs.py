"""Test what is concluded from the logs of two runs: `compared_logs.toml` has the values of each."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay

CASES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("compared_logs.toml").read_text("utf-8"))
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
NO_VALUE = "-"


def _write_log(path: Path, fields: Mapping[str, Sequence[object]], count: int) -> None:
    path.parent.mkdir()
    lines = []
    for number in range(count):
        record = {"ts": (START + timedelta(seconds=number)).isoformat(), "event": "request"}
        values = {name: row[number % len(row)] for name, row in fields.items()}
        lines.append(json.dumps(record | {name: value for name, value in values.items() if value != NO_VALUE}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_logs_of_two_runs_are_concluded(name: str, tmp_path: Path, cache: Path) -> None:
    case = CASES[name]
    for label in ("old", "new"):
        _write_log(tmp_path / label / "log.jsonl", case[label], case.get("records", 120))
    place = tmp_path / "service"
    result = run_assay("--cache", cache, "init", place, "--from", tmp_path / "old", tmp_path / "new", "--each", "run")
    assert (result.status, result.err) == (0, "")
    checked = run_assay("--cache", cache, "check", "--accept", cwd=place)
    assert checked.status == 0, checked.err
    compared = run_assay("--cache", cache, "compare", "runs/old", "runs/new", cwd=place)
    assert compared.out.splitlines()[0] == f"new against old: {case['counts']}"
    built = run_assay("--cache", cache, "build", "--run=runs/old", "--run=runs/new", "--to=md", "-o", "out", cwd=place)
    assert built.status == 0, built.err
    gate = run_assay("gate", "out", "--once", cwd=place)
    report = (place / "out/report.md").read_text(encoding="utf-8")
    printed = compared.out + gate.out + gate.err + report
    assert [text for text in case["says"] if text not in printed] == []
    assert gate.status == case["gate"]
