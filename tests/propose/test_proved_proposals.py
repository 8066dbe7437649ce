"""Test that a proposal is proved before it is written: what fails is repaired, dropped or an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assay_propose import workspace
from assay_propose.model import Proposal
from tests.support.commands import run_assay

LINES = [
    json.dumps({"time": f"2026-03-02T09:{number // 60:02}:{number % 60:02}Z", "event": "done",
                "took_ms": number % 7 + 0.5, "rows": number * 37 % 50 + 0.5})
    for number in range(200)
]  # fmt: skip


def _break_specs(monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]) -> None:
    """Let the texts of all specs be changed before they are written."""
    write = workspace.write_all_specs

    def write_changed(proposal: Proposal) -> dict[str, str]:
        return {name: change(text) for name, text in write(proposal).items()}

    monkeypatch.setattr(workspace, "write_all_specs", write_changed)


def _write_log(folder: Path, lines: list[str]) -> Path:
    log = folder / "log.jsonl"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return log


def test_malformed_lines_of_a_log_are_tolerated_and_counted(tmp_path: Path, cache: Path) -> None:
    lines = [line[: 30 if number % 10 == 0 else None] for number, line in enumerate(LINES)]
    result = run_assay("init", tmp_path / "service", "--from", _write_log(tmp_path, lines))
    assert (result.status, result.err) == (0, "")
    note = "malformed: run log: 20 of the 200 log lines are malformed, such as log.jsonl:1, byte 0: not JSON"
    assert note in result.out.splitlines()
    query = ("query", "took_ms", "--run", "runs/log", "--format", "json")
    queried = run_assay("--cache", cache, *query, cwd=tmp_path / "service")
    assert queried.status == 0, queried.err
    assert json.loads(queried.out)[0]["size"] == 180


def test_metric_that_does_not_check_is_dropped(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _break_specs(monkeypatch, lambda text: text.replace(" took_ms =\n", " took_ms = =\n"))
    result = run_assay("init", tmp_path / "service", "--from", _write_log(tmp_path, LINES))
    assert (result.status, result.err) == (0, "")
    assert "\nno metrics of took_ms: unexpected `=`\n" in result.out
    checked = run_assay("--cache", cache, "check", cwd=tmp_path / "service")
    assert (checked.status, checked.out.endswith(": no problem\n")) == (0, True)


def test_workspace_that_does_not_read_its_logs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _break_specs(monkeypatch, lambda text: text.replace('time = [ "time" ]', 'time = [ "at" ]'))
    result = run_assay("init", tmp_path / "service", "--from", _write_log(tmp_path, LINES))
    assert result.status == 1
    assert result.err.splitlines()[0] == (
        "error[unknown-format]: no specs were written, as those proposed for log.jsonl do not read the logs"
    )
    assert not (tmp_path / "service").exists()
