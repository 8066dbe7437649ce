"""Test the ratio of totals that a proposed workspace has as a comment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay

ROWS = [(1000 + 37 * index % 800, 20 + 7 * index % 30) for index in range(40)]


def test_ratio_of_a_size_and_a_time_is_a_comment_that_works(tmp_path: Path, cache: Path) -> None:
    records = (
        {"time": f"2026-03-02T09:00:{index:02}Z", "msg": "sent", "sent_bytes": size, "took_ms": time}
        for index, (size, time) in enumerate(ROWS)
    )
    log, place = tmp_path / "log.jsonl", tmp_path / "place"
    log.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    created = run_assay("--cache", cache, "init", place, "--from", log)
    assert created.status == 0, created.err
    assert "  metrics took_ms, sent_bytes\n" in created.out  # each has a verdict, their ratio none
    package = place / "specs" / "place" / "package.dhall"
    lines = package.read_text(encoding="utf-8").splitlines()
    begin = next(index for index, line in enumerate(lines) if line.lstrip().startswith("-- # [ S.metric.ratio"))
    end = next(index for index, line in enumerate(lines) if index > begin and line.strip() == "--   ]")
    lines[begin : end + 1] = [line.replace("-- ", "", 1) for line in lines[begin : end + 1]]
    package.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run_assay("--cache", cache, "check", cwd=place).status == 0
    query = ("query", "sent_bytes_per_second", "--run", "runs/log", "--format", "json")
    (row,) = run_assay("--cache", cache, *query, cwd=place).parse_json()
    assert row["unit"] == "B/s"
    assert row["average"] == pytest.approx(sum(size for size, _ in ROWS) / sum(time for _, time in ROWS) * 1000)
