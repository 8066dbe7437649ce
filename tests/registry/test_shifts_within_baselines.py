"""A median of runs before and after a level shift, and of runs on other numbers of hosts: the gate says so."""

from __future__ import annotations

import datetime
import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.nights import FIRST_DAY, write_night
from tests.support.workspaces import edit_file

NIGHTS, SHIFT, LOST = 9, 5, 8
"""The number of nights, the first one with longer times, and the one without its second host."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with builds of all nights."""
    folder = tmp_path_factory.mktemp("shifts") / "shop"
    assert run_assay("init", folder).status == 0
    with (folder / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('results = "results"\ncache = "cache"\nto = ["md"]\n')
    for night in range(NIGHTS):
        run = folder / f"night-{night}"
        write_night(folder / "runs" / "1.0", run, night, 1.2 if night >= SHIFT else 1.0)
        if night == LOST:
            shutil.rmtree(run / "web-2")
        if night < SHIFT:
            assert run_assay("runs", "add", run.name, "--name", run.name, "--tag", "good", cwd=folder).status == 0
        assert run_assay("build", "--run", run.name, "-o", f"build/{night}", cwd=folder).status == 0
    return folder


@pytest.mark.parametrize(
    ("night", "baseline", "status", "caution"),
    [
        (4, "median:4", 0, ""),
        (5, "median:5", 4, ""),
        (7, "median:5", 0, "Level shift at night-5 within the base: Waiting time, Working time."),
        (6, "median:5", 0, "Level shift at night-5 within the base: Waiting time, Working time."),
        (5, "median:5:good", 4, ""),
        (6, "median:5:good", 4, ""),
        (7, "median:5:good", 4, ""),
        (7, "median:3", 0, "Level shift at night-5 within the base: Waiting time, Working time."),
        (8, "median:5", 1, "The number of hosts (2, 1) differs"),
    ],
)
def test_gate_tells_of_unlike_runs_in_its_base(
    shop: Path, night: int, baseline: str, status: int, caution: str
) -> None:
    answer = run_assay("gate", f"build/{night}", "--baseline", baseline, cwd=shop)
    assert answer.status == status, answer.err
    text = answer.out + answer.err
    assert caution in text
    assert ("Level shift" in text or "suspect" in text) == bool(caution)
    compared = run_assay("compare", baseline, f"night-{night}", cwd=shop).out
    assert caution in compared
    assert ("Level shift" in compared) == ("Level shift" in text)


def test_accepted_shift_divides_the_base(shop: Path, tmp_path: Path) -> None:
    """Runs before it do not count for its metric: neither does the gate fail, nor is there a caution."""
    place = tmp_path / "shop"
    shutil.copytree(shop, place)
    shutil.rmtree(place / "results/figures" / f"night-{LOST}")
    assert run_assay("shifts", "accept", "wait", f"night-{SHIFT}", "--reason", "codec", cwd=place).status == 0
    text = "Runs before an accepted level shift do not count for Waiting time."
    for night, baseline, status in ((6, "median:5:good", 4), (7, "median:5", 0)):
        answer = run_assay("gate", f"build/{night}", "--baseline", baseline, cwd=place)
        assert (answer.status, text in answer.out) == (status, True)
        assert "Waiting time: no interval: fewer than 3 earlier runs" in answer.out
    assert run_assay("shifts", "accept", "work", f"night-{SHIFT}", "--reason", "codec", cwd=place).status == 0
    answer = run_assay("gate", "build/6", "--baseline", "median:5:good", cwd=place)
    assert (answer.status, answer.err.split(":")[0]) == (1, "error[nothing-judged]")
    answer = run_assay("gate", "build/7", "--baseline", "median:5", cwd=place)
    assert "Level shift" not in answer.out + answer.err


@pytest.fixture(scope="module", params=[4, 5])
def broken_shop(
    request: pytest.FixtureRequest, shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """Return a copy of the workspace in which the waiting time has a break at a night, and this night."""
    folder = tmp_path_factory.mktemp("breaks") / "shop"
    shutil.copytree(shop, folder)
    day = FIRST_DAY + datetime.timedelta(days=request.param)
    text = f'with default.breaks = [ S.Break::{{ since = "{day}", doc = "New clock." }} ]'
    edit_file(folder / "specs/service/metrics.dhall", 'better = "lower"', f'better = "lower" {text}')
    return folder, request.param


def test_median_has_no_runs_before_a_break(broken_shop: tuple[Path, int]) -> None:
    """Of the five nights before night 7, three (or two, too few) are on its side of the break."""
    shop, night = broken_shop
    compared = run_assay("compare", "median:5", "night-7", cwd=shop)
    (wait,) = (line.split() for line in compared.out.splitlines() if "Waiting time  " in line)
    (size,) = (line for line in compared.out.splitlines() if "Size of the response  " in line)
    assert size.endswith("600 / 120")
    sentence = (
        "3 of these 5 runs count for Waiting time, Working time: values from 2026-03-05 on are no longer comparable"
    )
    reason = "Waiting time, Working time (a break lies between the runs: their values are not comparable)"
    assert [sentence in compared.out, reason in compared.out] == [night == 4, night == 5]
    assert wait[-3:] == [str(120 * (7 - night)), "/", "120"]
    waits = [row["average"] for row in export(shop) if row["metric"] == "wait"][night:7]
    assert wait[2] == f"{statistics.median(waits):.3g}"
    assert run_assay("gate", "build/7", "--baseline", "median:5", cwd=shop).status == (0 if night == 4 else 1)


def export(shop: Path) -> list[dict[str, Any]]:
    answer = run_assay("results", "export", "--to", "json", cwd=shop)
    assert (answer.status, answer.err) == (0, "")
    rows: list[dict[str, Any]] = json.loads(answer.out)
    return rows


def test_exported_rows_have_the_last_break_before_them(broken_shop: tuple[Path, int], shop: Path) -> None:
    folder, night = broken_shop
    day = (FIRST_DAY + datetime.timedelta(days=night)).isoformat()
    marks = {(row["metric"], row["run"]): row["since_break"] for row in export(folder)}
    broken = {key for key, mark in marks.items() if mark}
    assert broken == {(name, f"night-{number}") for name in ("wait", "work") for number in range(night, NIGHTS)}
    assert {marks[key] for key in broken} == {day}
    assert not any(row["since_break"] for row in export(shop))
    metrics = run_assay("results", "export", "--to", "openmetrics", cwd=folder).out
    assert f'since_break="{day}"' in metrics


def test_export_with_wrong_specs_warns_that_breaks_are_missing(broken_shop: tuple[Path, int], tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shutil.copytree(broken_shop[0], shop)
    edit_file(shop / "specs/service/metrics.dhall", "e.started e.sent", "e.started e.sen")
    answer = run_assay("results", "export", cwd=shop)
    assert answer.status == 0
    reason = "unknown field `sen` in `e`"
    assert answer.err == f"warning: breaks of metrics of `service` are not marked, as its specs have errors: {reason}\n"
