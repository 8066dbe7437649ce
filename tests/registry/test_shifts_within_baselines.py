"""A median of runs before and after a level shift, and of runs on other numbers of hosts: the gate says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.nights import write_night

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
