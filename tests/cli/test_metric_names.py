"""Metrics by name: of several systems, by the printed name, twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import CommandResult, run_assay
from tests.support.mixed import create_mixed_workspace
from tests.support.workspaces import edit_file


@pytest.fixture(scope="module")
def two_systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace of two systems that have the same metrics."""
    place = create_mixed_workspace(tmp_path_factory.mktemp("two") / "workspace")
    other = shutil.copytree(place / "specs" / "mix", place / "specs" / "mox")
    edit_file(other / "package.dhall", 'system = "mix"', 'system = "mox"')
    edit_file(other / "metrics.dhall", 'id = "took", name = "At the proxy"', 'id = "passed", name = "Passed"')
    return place


def run_in_folder(folder: Path, cache: Path, *arguments: str | Path) -> CommandResult:
    """Run a command in a folder."""
    return run_assay(*arguments, "--cache", cache, cwd=folder)


def test_metric_of_two_systems_is_selected_by_system(two_systems: Path, cache: Path) -> None:
    result = run_in_folder(
        two_systems, cache, "query", "wait", "--system", "mox", "--run", "runs/v1", "--format", "json"
    )
    assert (result.status, [item["metric"] for item in result.parse_json()]) == (0, ["wait"])


def test_list_of_several_systems_names_the_system_of_each(two_systems: Path, cache: Path) -> None:
    metrics = run_in_folder(two_systems, cache, "list", "metrics", "--format", "json").parse_json()
    assert [item["system"] for item in metrics if item["id"] == "wait"] == ["mix", "mox"]
    assert (
        "system"
        not in run_in_folder(two_systems, cache, "list", "metrics", "--system", "mox", "--format", "json").parse_json()[
            0
        ]
    )
    assert "system" not in run_in_folder(two_systems, cache, "list", "reports", "--format", "json").parse_json()[0]


def test_metric_is_found_by_its_printed_name(two_systems: Path, cache: Path) -> None:
    result = run_in_folder(two_systems, cache, "query", "Passed", "--run", "runs/v1", "--format", "csv")
    assert (result.status, result.out.splitlines()[1].split(",")[:2]) == (0, ["passed", "v1"])


def test_repeated_metric_is_printed_once(two_systems: Path, cache: Path) -> None:
    repeated_filter = ("--filter", "high", "--filter", "high")
    result = run_in_folder(
        two_systems,
        cache,
        "query",
        "passed",
        "Passed",
        "passed",
        "--run",
        "runs/v1",
        *repeated_filter,
        "--format",
        "json",
    )
    (metric,) = json.loads(result.out)
    assert (metric["metric"], metric["filters"]) == ("passed", ["high"])
