"""Plans: how many runs show a change, by the runs of a build and by recorded runs."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from assay.app.compare.plan_runs import parse_change, plan_from_build
from assay.judgement.interval import Comparison, Version, compare
from assay.judgement.noise import count_runs_to_detect
from assay.judgement.repeats import pool_variances
from assay.judgement.verdict import Direction, Margin, Verdict, judge
from assay.util.diagnostics import AssayError
from tests.support.commands import run_assay
from tests.support.judged_results import judge_metric, write_results


@pytest.mark.parametrize("text", ["5", "0%", "five%", "-5%", ""])
def test_change_is_a_percentage(text: str) -> None:
    with pytest.raises(AssayError):
        parse_change(text)


def draw_runs(random: Random, mean: float, count: int) -> Version:
    return Version(tuple(Fraction(random.gauss(mean, 2)) for _ in range(count)))


@pytest.mark.parametrize("change", [5.0, 10.0])
def test_planned_runs_find_the_change_in_80_of_100_cases(change: float) -> None:
    """Runs vary by 2 %; without a margin, the verdict finds the change as often as planned."""
    random, runs = Random(1), count_runs_to_detect(change, 2.0)
    assert runs
    verdicts = []
    for _ in range(400):
        versions = draw_runs(random, 100, runs), draw_runs(random, 100 + change, runs)
        compared = compare(*versions, pool_variances([item.estimates for item in versions]))
        assert isinstance(compared, Comparison)
        verdicts.append(judge(compared, Margin(), Direction.LOWER).verdict)
    assert verdicts.count(Verdict.WORSE) / 400 >= 0.74


def test_plan_of_single_runs_has_the_least_numbers(tmp_path: Path) -> None:
    write_results(tmp_path, {name: judge_metric("cannot tell", 0.5) for name in "ab"})
    run_plan = plan_from_build(tmp_path, 5.0)
    assert run_plan.metrics
    assert all(item.is_least and item.runs and item.visible for item in run_plan.metrics)
    assert run_plan.runs == max(item.runs or 0 for item in run_plan.metrics)


def test_plan_by_recorded_runs(tmp_path: Path, cache: Path) -> None:
    """Four runs, each without the last requests of the one before, show by how much one run varies."""
    shop = tmp_path / "shop"
    assert run_assay("init", shop).status == 0
    plan = ("plan", "service/comparison", "--results", "results")
    assert run_assay(*plan, cwd=shop).status != 0
    for number in range(4):
        run = shop / "runs" / f"night-{number}"
        shutil.copytree(shop / "runs" / "1.0", run)
        for log in run.rglob("*.jsonl"):
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            log.write_text("".join(lines[: len(lines) - 15 * number]), encoding="utf-8")
        command = ("build", "service/comparison", f"--run=runs/{run.name}", "--to=md", "-o", f"build/{run.name}")
        assert run_assay("--cache", cache, *command, cwd=shop).status == 0
        added = run_assay("results", "add", f"build/{run.name}", "--results", "results", cwd=shop)
        assert added.status == 0, added.err
        result = run_assay(*plan, cwd=shop)
        assert result.status == 0, result.err
        assert ("fewer than 3 recorded runs are comparable" in result.out) == (number < 2)
    planned = run_assay(*plan, "--detect", "3%", "--format", "json", cwd=shop).parse_json()
    (wait,) = (item for item in planned["metrics"] if item["name"] == "Waiting time")
    assert wait["runs"] == count_runs_to_detect(3.0, wait["deviation"])
    assert "The noise is that of 4 recorded runs since the last level shift." in planned["origin"]


def test_plan_names_no_number_for_metrics_without_an_interval(tmp_path: Path) -> None:
    metrics = {"a": judge_metric("same", 0.5), "b": judge_metric("no interval", 1.0, "it is constant within each run")}
    write_results(tmp_path, metrics)
    out = run_assay("plan", tmp_path).out
    assert "\n1 of 2 metrics: at least " in out
    assert "All metrics" not in out
