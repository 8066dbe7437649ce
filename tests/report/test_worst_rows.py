"""Worst rows: they are those that plain Python finds in the log lines, and lead to these lines."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay

RUNS = ("--run", "runs/1.0", "--run", "runs/1.1")
TITLE = "Slowest requests"
PART = 'B.worst "Slowest requests" m.wait 10'


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a workspace whose report also has the requests with the least bytes, if more were better."""
    folder = tmp_path_factory.mktemp("worst") / "service"
    assert run_assay("--cache", cache, "init", folder).status == 0
    specs = folder / "specs" / "service"
    edit(specs / "reports.dhall", PART, f'{PART} # B.worst "Smallest" m.size 3')
    edit(specs / "metrics.dhall", "unit = S.unit.byte", 'unit = S.unit.byte, better = "higher"')
    result = run_assay("--cache", cache, "build", "service/comparison", *RUNS, "-o", "out", "--to", "md", cwd=folder)
    assert result.status == 0, result.err
    return folder


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def read_requests(folder: Path) -> list[tuple[str, str, str, float, int]]:
    """Return run, host, request, waiting time in ms and bytes of each request of both runs."""
    requests = []
    for run in ("1.0", "1.1"):
        for log in sorted((folder / "runs" / run).glob("*/log.jsonl")):
            instants: defaultdict[str, dict[str, Any]] = defaultdict(dict)
            for line in log.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                if "request" in record.get("data", {}):
                    instants[record["data"]["request"]] |= {
                        record["event"]: datetime.fromisoformat(record["time"]), **record["data"]
                    }  # fmt: skip
            for name, item in instants.items():
                if "work.started" in item and "bytes" in item:
                    wait = (item["work.started"] - item["request.received"]).total_seconds() * 1000
                    requests.append((run, log.parent.name, name, wait, item["bytes"]))
    return requests


def read_tables(folder: Path) -> list[dict[str, Any]]:
    (part,) = (
        part
        for part in json.loads((folder / "out" / "document.json").read_text(encoding="utf-8"))["parts"]
        if part["title"] == TITLE
    )
    return list(part["tables"])


def test_rows_are_the_worst_of_all_runs(service: Path) -> None:
    slowest, smallest = read_tables(service)
    requests = read_requests(service)
    worst = sorted(requests, key=lambda item: -item[3])[:10]
    assert [tuple(row[:3]) for row in slowest["rows"]] == [item[:3] for item in worst]
    assert [float(row[3]) for row in slowest["rows"]] == pytest.approx([item[3] for item in worst], rel=0.01)
    assert (slowest["title"], smallest["title"]) == ("", "Smallest")
    least = sorted(requests, key=lambda item: item[4])[:3]
    assert [tuple(row[:3]) for row in smallest["rows"]] == [item[:3] for item in least]


def test_value_of_a_worst_row_leads_to_its_log_lines(service: Path, cache: Path) -> None:
    row = read_tables(service)[0]["rows"][0]
    cell = f"{TITLE}/{', '.join(row[:3])}/Waiting time, ms"
    result = run_assay("--cache", cache, "trace", "out", cell, "--format", "json", cwd=service)
    assert result.status == 0, result.err
    assert row[2] in result.out
    assert "work.started" in result.out
