"""`assay compare` on the logs of a load test in which few requests fail: from log lines to verdicts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

WORKSPACE = ROOT / "examples" / "k6"
REQUESTS = 3200
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def write_run(folder: Path, failed: int) -> Path:
    """Write the results of a run in which so many of 3200 requests fail, at random times."""
    folder.mkdir()
    (folder / "meta.json").write_text(json.dumps({"version": folder.name, "script": "shop.js"}), encoding="utf-8")
    failures = set(Random(f"{folder.name} {failed}").sample(range(REQUESTS), failed))
    with (folder / "results.json").open("w", encoding="utf-8") as file:
        for number in range(REQUESTS):
            time = START + timedelta(milliseconds=250 * number)
            tags = {"name": "https://shop.test/login", "status": "503" if number in failures else "200"}
            for metric, value in (("http_req_duration", 80 + number % 7), ("http_req_failed", int(number in failures))):
                data = {"time": time.isoformat(), "value": value, "tags": tags}
                file.write(json.dumps({"metric": metric, "type": "Point", "data": data}) + "\n")
    return folder


@pytest.mark.parametrize(
    ("base", "other", "verdict"),
    [
        (15, 8, "open"),
        (8, 15, "open"),
        (6, 1, "open"),
        (15, 50, "worse"),
        (50, 15, "better"),
        (3, 100, "worse"),
        (8, 0, "not judged"),
        (0, 8, "not judged"),
    ],
)
def test_verdict_on_few_failed_requests(tmp_path: Path, base: int, other: int, verdict: str) -> None:
    runs = [f"{name}={write_run(tmp_path / name, failed)}" for name, failed in (("old", base), ("new", other))]
    options = ("--metric", "failed_share", "--format", "json", "--cache", tmp_path / "cache")
    result = run_assay("compare", *runs, *options, cwd=WORKSPACE)
    assert result.status == 0, result.err
    (change,) = result.parse_json()["changes"]
    assert (change["base_value"], change["value"]) == pytest.approx((100 * base / REQUESTS, 100 * other / REQUESTS))
    assert change["verdict"] == verdict
    assert change["low"] is None or -100 < change["low"] < change["percent"] < change["high"]
