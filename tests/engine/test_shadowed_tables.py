"""Queries whose parts (`WITH`) have the names of tables: they read their parts, and all results are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.mixed import create_mixed_workspace

SQL = "WITH step AS (SELECT host, job, prio FROM enqueued) SELECT host, job, prio FROM step\n"


def _answer(workspace: Path, cache: Path) -> list[str]:
    """Return the answers of commands about metrics of jobs and of steps, and an article with both and with series."""
    commands = (
        ("query", "wait", "step_cpu", "--run", "runs/v1"),
        ("build", "mix/story", "--run", "runs/v1", "-o", "out", "--to", "md"),
        ("trace", "out", "Steps/0/CPU of a step, ms"),
    )
    results = [run_assay("--cache", cache, *command, cwd=workspace) for command in commands]
    assert [result.status for result in results] == [0, 0, 0], results
    trace = [line for line in results[2].out.splitlines() if "definition" not in line]
    parts = (workspace / "out" / "report.md").read_text(encoding="utf-8").split('<a id="dictionary">')
    return [results[0].out, parts[0], *trace]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> list[str]:
    return _answer(create_mixed_workspace(tmp_path_factory.mktemp("mixed") / "shop"), cache)


def test_part_of_a_relation_may_have_the_name_of_a_grain(expected: list[str], tmp_path: Path, cache: Path) -> None:
    workspace = create_mixed_workspace(tmp_path / "shop")
    (workspace / "queries" / "mix" / "jobs.sql").write_text(SQL, encoding="utf-8")
    assert _answer(workspace, cache) == expected


def test_grain_may_have_the_name_of_a_part_of_series(expected: list[str], tmp_path: Path, cache: Path) -> None:
    workspace = create_mixed_workspace(
        tmp_path / "shop",
        ("grains.dhall", 'name = "step", relation', 'name = "steps", relation'),
        ("metrics.dhall", 'doc = "CPU", grain = "step"', 'doc = "CPU", grain = "steps"'),
        ("metrics.dhall", 'doc = "Users", grain = "step"', 'doc = "Users", grain = "steps"'),
    )
    assert _answer(workspace, cache) == expected
