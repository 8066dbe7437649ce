"""Whatever happens to a command, the next one makes what an undisturbed one would have made, and nothing lies about."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import assay_process
from tests.support.laboratory import DATE, ROOT

KILLS = 50
SEED = 20261122
RUNS = ("--run", "1.0=runs/1.0", "--run", "1.1=runs/1.1")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace as `assay init` makes it."""
    folder = tmp_path_factory.mktemp("faults") / "place"
    done = assay_process("init", str(folder))
    assert done.status == 0, done.err
    return folder


def command(out: Path, cache: Path) -> list[str]:
    return ["build", "service/comparison", *RUNS, "-o", str(out), "--cache", str(cache), "--date", DATE]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def undisturbed(place: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], set[str]]:
    """The output of a build that nothing happened to, and the files of its cache."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = assay_process(*command(folder / "out", folder / "cache"), within=place)
    assert done.status == 0, done.err
    return content(folder / "out"), set(content(folder / "cache"))


def killed(times: Sequence[float], words: Sequence[str], place: Path, plan: Path) -> int:
    """How many of the commands were killed before they ended by themselves."""
    plan.write_text(json.dumps({"times": times, "command": words}), encoding="utf-8")
    around = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'compiler'}"}
    program = [sys.executable, "-m", "tests.support.killed", str(plan)]
    done = subprocess.run(program, cwd=place, env=around, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return sum(os.WIFSIGNALED(status) for status in json.loads(done.stdout))


def test_a_build_that_is_killed_at_any_moment_leaves_nothing_behind(
    place: Path, undisturbed: tuple[dict[str, bytes], set[str]], tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    number = 0
    while number < KILLS:
        out, cache = tmp_path / "out", tmp_path / "cache"
        times = [chance.uniform(0.02, 0.25) * (1 + place_) for place_ in range(5)]
        number += killed(times, command(out, cache), place, tmp_path / "plan.json")
        done = assay_process(*command(out, cache), within=place)
        assert (done.status, done.err) == (0, ""), f"after {times}"
        assert content(out) == undisturbed[0], f"after {times}"
        assert set(content(cache)) == undisturbed[1], f"after {times}"
        shutil.rmtree(out)
        shutil.rmtree(cache)
