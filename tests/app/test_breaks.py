"""Breaks of metrics: commands that put values of both sides beside each other say so, and judge none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

WARNING = "warning: Waiting time, Working time: values from 2026-01-05 on are no longer comparable. New clock."
REASON = "a break lies between the runs: their values are not comparable"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init`, with a break of two metrics, and an earlier run on its other side."""
    folder = tmp_path_factory.mktemp("breaks") / "shop"
    shutil.copytree(ROOT / "starter", folder)
    breaks = '[ S.Break::{ since = "2026-01-05", doc = "New clock." } ]'
    better = 'better = "lower"'
    edit_file(folder / "specs/service/metrics.dhall", better, f"{better} with default.breaks = {breaks}")
    shutil.copytree(folder / "runs/1.0", folder / "runs/0.9")
    for log in (folder / "runs/0.9").rglob("*.jsonl"):
        log.write_text(log.read_text(encoding="utf-8").replace("2026-01-05", "2026-01-04"), encoding="utf-8")
    return folder


def run(shop: Path, cache: Path, *words: object) -> CommandResult:
    return run_assay("--cache", cache, *words, cwd=shop)


@pytest.mark.parametrize(("base", "is_crossed"), [("0.9", True), ("1.0", False)])
def test_comparison_across_a_break_is_not_judged(base: str, is_crossed: bool, shop: Path, cache: Path) -> None:
    runs = ("--run", f"runs/{base}", "--run", "runs/1.1")
    built = run(shop, cache, "build", "service/comparison", *runs, "--to", "md", "-o", f"build/{base}")
    compared = run(shop, cache, "compare", f"runs/{base}", "runs/1.1")
    results = json.loads((shop / "build" / base / "results.json").read_text(encoding="utf-8"))
    judged = results["judgement"]["metrics"]
    reasons = {name: change["reason"] for name, versions in judged.items() for change in versions.values()}
    assert [WARNING in answer.err.splitlines() for answer in (built, compared)] == [is_crossed] * 2
    assert {name for name, reason in reasons.items() if reason == REASON} == ({"wait", "work"} if is_crossed else set())
    report = (shop / "build" / base / "report.md").read_text(encoding="utf-8")
    assert (WARNING.removeprefix("warning: ") in report) == is_crossed


def test_explanation_has_the_breaks(shop: Path, cache: Path) -> None:
    text = " ".join(run(shop, cache, "explain", "wait").out.split())
    assert "Shown in values from 2026-01-05 on are no longer comparable. New clock." in text
