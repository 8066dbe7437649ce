"""`assay compare` on the logs of a load test in which few requests fail: from log lines to verdicts."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

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
        (15, 8, "cannot tell"),
        (8, 15, "cannot tell"),
        (6, 1, "cannot tell"),
        (15, 50, "worse"),
        (50, 15, "better"),
        (3, 100, "worse"),
        (0, 100, "worse"),
        (100, 0, "better"),
        (0, 2, "cannot tell"),
        (2, 0, "cannot tell"),
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
    if base:
        assert -100 <= change["low"] <= change["percent"] < change["high"]
    else:
        assert (change["low"], change["percent"], change["high"]) == (None, None, None)
        assert change["difference_low"] < change["difference"] == change["value"] < change["difference_high"]


@pytest.mark.parametrize(("base", "other", "verdict"), [(15, 50, "worse"), (50, 15, "better"), (15, 16, "cannot tell")])
def test_share_of_successes_is_judged_like_failures(tmp_path: Path, base: int, other: int, verdict: str) -> None:
    """The margin of the report is of the lesser part; one of the metric is of the share itself."""
    place = tmp_path / "k6"
    shutil.copytree(WORKSPACE, place, ignore=shutil.ignore_patterns("runs"))
    share = 'S.Metric::{ grain = outcomes.grain.name, unit = U.percent, better = "higher", name = "P", doc = ""'
    measure = "measure = X.minus (X.natural 1) (G.valueOf field.failed)"
    edit_file(
        place / "specs/k6/package.dhall",
        "      , failed =\n",
        f'      , passed = {share}, id = "passed", {measure} }}\n'
        f'      , wide = {share}, id = "wide", {measure}, margin = Some (S.metric.percent "2") }}\n'
        "      , failed =\n",
    )
    runs = [f"{name}={write_run(tmp_path / name, failed)}" for name, failed in (("old", base), ("new", other))]
    names = ("failed_share", "passed", "wide")
    options = [word for name in names for word in ("--metric", name)]
    result = run_assay("compare", *runs, *options, "--format", "json", "--cache", tmp_path / "cache", cwd=place)
    assert result.status == 0, result.err
    changes = {item["metric"]: item for item in result.parse_json()["changes"]}
    assert [changes[name]["verdict"] for name in names] == [verdict, verdict, "same"]
    assert changes["passed"]["margin"] == f"{2 * base / (REQUESTS - base):g} %"


def test_no_failed_request_in_either_run_is_the_same(tmp_path: Path) -> None:
    runs = [f"{name}={write_run(tmp_path / name, 0)}" for name in ("old", "new")]
    result = run_assay("compare", *runs, "--metric", "failed_share", "--cache", tmp_path / "cache", cwd=WORKSPACE)
    assert "  Failed requests  0 %     0 %      —  exact          same     3200\n" in result.out


def test_failed_requests_after_none_close_the_gate(tmp_path: Path) -> None:
    """The interval of a change from 0 is that of the difference, in all forms."""
    runs = [f"--run={name}={write_run(tmp_path / name, failed)}" for name, failed in (("old", 0), ("new", 100))]
    build = tmp_path / "build"
    options = ("--to", "md", "--to", "html", "--cache", tmp_path / "cache", "-o", build)
    summary = run_assay("build", "k6/comparison", *runs, *options, cwd=WORKSPACE)
    assert summary.status == 0, summary.err
    gate = run_assay("gate", build, "--once", cwd=WORKSPACE)
    assert gate.status == 4, gate.err
    assert (
        "  Failed requests  0 → 3.12 %      —          (Δ +2.3 … +4.0 %)  margin 2 %  worse  Holm p < 0.001\n"
        in gate.out
    )
    comment = run_assay("gate", build, "--once", "--format", "markdown", cwd=WORKSPACE)
    assert "Δ +2.3 … +4.0 %" in comment.out
    page = (build / "report.md").read_text(encoding="utf-8")
    assert "0 → 3.12 % (Δ +2.3 … +4.0 %)" in page
