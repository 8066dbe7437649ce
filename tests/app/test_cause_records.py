"""What the logs say of a change: names of records that differ, and the lines of rows of the cause."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load_json
from tests.support.commands import run_assay


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a starter workspace whose newer run has a new name of records, and none of an old one."""
    folder = tmp_path_factory.mktemp("records") / "shop"
    assert run_assay("init", folder).status == 0
    for run, name, number in (("1.0", "cache.flush", 8), ("1.1", "lock.wait", 20), ("1.1", "rare", 2)):
        log = folder / "runs" / run / "web-1" / "log.jsonl"
        time = json.loads(log.read_text(encoding="utf-8").splitlines()[0])["time"]
        with log.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"time": time, "event": name, "data": {}}) + "\n" for _ in range(number))
    return folder


@pytest.fixture(scope="module")
def explained(shop: Path, cache: Path) -> dict[str, Any]:
    """Return the explanation of a metric between the two runs."""
    result = run_assay("--cache", cache, "why", "work", "runs/1.0", "runs/1.1", "--format", "json", cwd=shop)
    assert result.status == 0, result.err
    (version,) = json.loads(result.out)["versions"]
    return dict(version)


def test_new_and_lost_names_have_their_first_line(explained: dict[str, Any]) -> None:
    records = {item["name"]: item for item in explained["records"]}
    assert {name: item["presence"] for name, item in records.items()} == {"lock.wait": "new", "cache.flush": "gone"}
    assert [records["lock.wait"][name] for name in ("base_records", "records", "percent")] == [0, 20, None]
    assert records["lock.wait"]["first"]["file"] == "web-1/log.jsonl"
    assert '"lock.wait"' in records["lock.wait"]["first"]["text"]
    assert '"cache.flush"' in records["cache.flush"]["first"]["text"]


def test_rows_of_the_cause_have_their_log_lines(shop: Path, explained: dict[str, Any]) -> None:
    rows = {item["run"]: item for item in explained["cause_rows"]}
    assert [*rows] == ["1.0", "1.1"]
    for run, item in rows.items():
        times = _read_times(shop / "runs" / run)
        values = sorted(end - begin for begin, end in times.values())
        assert item["worst"]["value"] == pytest.approx(values[-1], abs=1e-6)
        assert item["typical"]["value"] == pytest.approx(values[len(values) // 2], abs=1e-6)
        request = item["worst"]["keys"]["request"]
        assert all(f'"{request}"' in line["text"] for line in item["worst"]["lines"])


def _read_times(run: Path) -> dict[str, tuple[float, float]]:
    """Return the begin and the end of the work on each request, in ms of its minute."""
    times: dict[str, dict[str, float]] = {}
    for log in run.glob("*/log.jsonl"):
        for line in log.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if "request" in record["data"]:
                minutes, seconds = record["time"].removesuffix("Z").split(":")[1:]
                milliseconds = 60_000 * int(minutes) + 1000 * float(seconds)
                times.setdefault(record["data"]["request"], {})[record["event"]] = milliseconds
    return {key: (item["work.started"], item["response.sent"]) for key, item in times.items() if len(item) > 2}


def test_first_page_names_new_and_lost_records(shop: Path, cache: Path, tmp_path: Path) -> None:
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    options = (*runs, "--to", "md", "--out", tmp_path)
    result = run_assay("--cache", cache, "build", "service/comparison", *options, cwd=shop)
    assert result.status == 0, result.err
    (answer,) = load_json(tmp_path / "document.json")["answers"]
    assert answer["causes"][-1] == "Records: lock.wait (20) is new; cache.flush (8) is gone."


def test_text_names_them_below_the_steps(shop: Path, cache: Path) -> None:
    result = run_assay("--cache", cache, "why", "work", "runs/1.0", "runs/1.1", cwd=shop)
    lines = result.out.splitlines()
    place = lines.index("Records that are new, gone, or written at another rate, both per row and per second:")
    assert [line.split()[:4] for line in lines[place + 2 : place + 4]] == [
        ["lock.wait", "0", "20", "new"], ["cache.flush", "8", "0", "gone"],
    ]  # fmt: skip


def test_runs_of_one_log_differ_in_no_name(shop: Path, cache: Path) -> None:
    copy = shop / "runs" / "copy"
    shutil.copytree(shop / "runs" / "1.0", copy)
    result = run_assay("--cache", cache, "why", "work", "a=runs/1.0", "b=runs/copy", cwd=shop)
    assert result.status == 0
    assert "Records that" not in result.out
