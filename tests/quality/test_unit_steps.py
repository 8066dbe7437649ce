"""Test the finding on samples that become a thousandfold within a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Unit
from assay.quality.unit_steps import find_unit_steps
from tests.support.commands import run_assay


def build_cells(averages: Sequence[float]) -> list[dict[str, int]]:
    return [{"place": place, "total": round(10 * item), "size": 10} for place, item in enumerate(averages)]


WAIT = Metric(
    "wait", "Wait", "", "calls", Expression("column", name="wait"), None, True, None, "",
    Unit("millisecond", "ms"), "lower", 4,
)  # fmt: skip
MS, S = [9000.0, 11000.0, 10000.0, 9500.0], [9.0, 11.0, 10.0, 12.0]


@pytest.mark.parametrize(
    ("averages", "message"),
    [
        ([*MS, *S], "after 50 % of the run, the samples are 1000 times as small as before: the unit may have changed"),
        ([*S, *MS], "after 50 % of the run, the samples are 1000 times as large as before: the unit may have changed"),
        ([*MS, 4000.0, *S], "after 56 % of the run, the samples are 1000 times as small as before"),
        ([*MS, *MS], ""),
        ([*MS, *[item / 30 for item in MS]], ""),  # no power of 1000
        ([*MS, S[0], *MS], ""),  # a single part
        ([9000.0, 9.0] * 5, ""),
        ([*MS, *[0.0] * 4], ""),
        ([*MS[:2], *S[:2]], ""),  # too few parts
    ],
)
def test_step_of_a_thousandfold_is_a_finding(averages: Sequence[float], message: str) -> None:
    findings = find_unit_steps({"wait": build_cells(averages)}, [WAIT])
    assert [item.message.startswith(message) for item in findings] == ([True] if message else [])


def test_metric_that_changes_its_unit_is_not_judged(tmp_path: Path, cache: Path) -> None:
    for run in ("a", "b"):
        random = Random(run)
        (tmp_path / run).mkdir()
        with (tmp_path / run / "log.jsonl").open("w", encoding="utf-8") as file:
            for number in range(240):
                factor = 0.001 if run == "b" and number >= 120 else 1
                record = {"time": f"2026-03-02T09:{number // 60:02}:{number % 60:02}Z", "event": "call",
                          "latency_ms": round(50 * random.lognormvariate(0, 0.1) * factor, 6)}  # fmt: skip
                file.write(json.dumps(record) + "\n")
    runs = [tmp_path / "a", tmp_path / "b"]
    assert run_assay("--cache", cache, "init", tmp_path / "shop", "--from", *runs, "--each", "run").status == 0
    words = ("compare", "runs/a", "runs/b", "--format", "json")
    compared = run_assay("--cache", cache, *words, cwd=tmp_path / "shop")
    (change,) = compared.parse_json()["changes"]
    assert change["verdict"] == "no interval"
    assert "1000 times as small as before" in compared.err
