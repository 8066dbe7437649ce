"""Requests that fail at once, each with a text of its own: the time of the others is compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.support.commands import run_assay

#: share of requests that fail
RUNS = {"none": 0.0, "few": 0.02, "half": 0.5}


def write_log(path: Path, share: float) -> None:
    random, lines = Random(path.name), []
    for number in range(1000):
        record: dict[str, object] = {"ts": f"2026-03-02T09:{number // 60:02}:{number % 60:02}Z", "event": "request"}
        record["wait_ms"] = round(50 * random.lognormvariate(0, 0.1), 3)
        if random.random() < share:
            record |= {"wait_ms": round(random.uniform(1, 1.1), 3), "error": f"dial {random.random()}: refused"}
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, share in RUNS.items():
        (folder / name).mkdir()
        write_log(folder / name / "log.jsonl", share)
    logs = [folder / name for name in RUNS]
    assert run_assay("--cache", cache, "init", folder / "shop", "--from", *logs, "--each", "run").status == 0
    return folder / "shop"


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (("few", "half"), "share of request_failed "),
        (("half", "few"), "share of request_failed "),
        (("none", "half"), "request_failed true in half only; compared over the common request_failed"),
    ],
)
def test_time_is_that_of_alike_requests(shop: Path, cache: Path, runs: Sequence[str], words: str) -> None:
    places = [f"runs/{name}" for name in runs]
    compared = run_assay("--cache", cache, "compare", *places, "--format", "json", cwd=shop)
    verdicts = {item["metric"]: item["verdict"] for item in compared.parse_json()["changes"]}
    assert (verdicts["wait_ms"], verdicts["request_failed"]) == ("same", "better" if "few" in runs[1] else "worse")
    assert words in run_assay("--cache", cache, "compare", *places, cwd=shop).out


@pytest.mark.parametrize("runs", [("200", "503"), ("503", "200")])
def test_time_of_failures_only_is_not_that_of_successes(tmp_path: Path, cache: Path, runs: Sequence[str]) -> None:
    logs = [tmp_path / name for name in runs]
    for log in logs:
        log.mkdir()
        random, wait = Random(log.name), 50 if log.name == "200" else 1
        lines = [
            f"2026-03-02T09:00:{number:02}Z,{log.name},{wait * random.lognormvariate(0, 0.1):.3f}\n"
            for number in range(60)
        ]
        (log / "log.csv").write_text("".join(("time,status,wait_ms\n", *lines)), encoding="utf-8")
    assert run_assay("--cache", cache, "init", tmp_path / "shop", "--from", *logs, "--each", "run").status == 0
    places = [f"runs/{name}" for name in runs]
    compared = run_assay("--cache", cache, "compare", *places, "--format", "json", cwd=tmp_path / "shop")
    verdicts = {item["metric"]: item["verdict"] for item in compared.parse_json()["changes"]}
    expected = "better" if runs[1] == "200" else "worse"
    assert (verdicts["wait_ms"], verdicts["measured_failed"]) == ("no interval", expected)
