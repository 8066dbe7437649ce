"""Test the reasons for metrics without samples, against counts that are made from the log without SQL."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

FOLDER = Path(__file__).parent
CASES: Mapping[str, Any] = tomllib.loads((FOLDER / "empty.toml").read_text("utf-8"))
PACKAGE = """sources = [ source "log" ], events = [ queued, began, ended, checked ],
  relations = [ jobs, losses, starts ], grains = [ job, loss, stall, start ], metrics, filters"""
Record = tuple[str, str, str, dict[str, object]]  # host, event, id, other fields


def iter_records(text: str) -> Iterator[Record]:
    """Yield the records that a case writes down."""
    for item in text.split(";"):
        host, event, identifier, *fields = item.split()
        name, _, number = identifier.partition("*")
        values = {key: int(value) for key, _, value in (field.partition("=") for field in fields)}
        for id_ in [f"{name}{place}" for place in range(1, int(number) + 1)] if number else [name]:
            yield host, event, id_, dict(values)


def count_records(records: list[Record]) -> dict[str, int]:
    """Return the counts that the messages of the cases name."""
    keys = {
        name: {(host, id_) for host, event, id_, _ in records if event == name}
        for name in ("queued", "began", "ended", "checked")
    }
    rows = keys["queued"]
    ok = [(host, id_) for host, event, id_, fields in records if event == "checked" and fields["code"] == 0]
    with_amount = {(host, id_) for host, event, id_, fields in records if event == "began" and "a" in fields}
    counts = {name: sum(event == name for _, event, _, _ in records) for name in keys}
    matched_counts = {
        f"known_{name}": sum(event == name and (host, id_) in rows for host, event, id_, _ in records) for name in keys
    }
    return counts | matched_counts | {
        "rows": len(rows),
        "started": len(rows & keys["began"]),
        "finished": len(rows & keys["ended"]),
        "both": len(rows & keys["began"] & keys["ended"]),
        "passed": len(rows & set(ok)),
        "amount": len(rows & with_amount),
        "ok": len(ok),
        "known_ok": sum(key in rows for key in ok),
    }  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a run for each case."""
    place = create_small_workspace(
        tmp_path_factory.mktemp("empty"), (FOLDER / "empty_system.dhall").read_text("utf-8"), PACKAGE
    )
    for name, case in CASES.items():
        logs: dict[str, list[tuple[float, str, dict[str, object]]]] = {}
        for host, event, id_, fields in iter_records(case["log"]):
            log = logs.setdefault(f"h-{host}/log.jsonl", [])
            log.append((len(log) + 1, event, {"id": id_, **fields}))
        write_logs(place, name, logs)
    return place


@pytest.mark.parametrize("name", CASES)
def test_query_says_which_step_leaves_no_sample(place: Path, cache: Path, name: str) -> None:
    case = CASES[name]
    result = run_assay(
        *("query", *case["query"], "--run", f"x=runs/{name}", "--format", "json", "--cache", cache), cwd=place
    )
    assert result.status == 0, result.err
    counts = count_records(list(iter_records(case["log"])))
    empty_metrics = {item["metric"] for item in json.loads(result.out) if not item["size"]}
    (message,) = re.findall("^warning: (?:x|x:late): (no sample of .*)$", result.err, re.MULTILINE)
    assert message == case["says"].format(**counts)
    assert set(message.removeprefix("no sample of ").partition(":")[0].split(", ")) == empty_metrics
