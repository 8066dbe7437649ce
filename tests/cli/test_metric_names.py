"""Metrics by name: of several systems, by the printed name, twice."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Done, assay
from tests.support.mixed import mixed
from tests.support.workspaces import edited


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of two systems that have the same metrics."""
    place = mixed(tmp_path_factory.mktemp("two") / "here")
    other = shutil.copytree(place / "specs" / "mix", place / "specs" / "mox")
    edited(other / "package.dhall", 'system = "mix"', 'system = "mox"')
    edited(other / "metrics.dhall", 'id = "took", name = "At the proxy"', 'id = "passed", name = "Passed"')
    return place


def run_in(here: Path, cache: Path, *arguments: str | Path) -> Done:
    """What a command answers."""
    return assay(*arguments, "--cache", cache, within=here)


def test_metric_of_two_systems_is_that_of_the_one_named(here: Path, cache: Path) -> None:
    done = run_in(here, cache, "query", "wait", "--system", "mox", "--run", "runs/v1", "--format", "json")
    assert (done.status, [item["metric"] for item in done.json()]) == (0, ["wait"])


def test_list_of_several_systems_names_the_system_of_each(here: Path, cache: Path) -> None:
    found = run_in(here, cache, "list", "metrics", "--format", "json").json()
    assert [item["system"] for item in found if item["id"] == "wait"] == ["mix", "mox"]
    assert "system" not in run_in(here, cache, "list", "metrics", "--system", "mox", "--format", "json").json()[0]
    assert "system" not in run_in(here, cache, "list", "reports", "--format", "json").json()[0]


def test_metric_is_found_by_its_printed_name(here: Path, cache: Path) -> None:
    done = run_in(here, cache, "query", "Passed", "--run", "runs/v1", "--format", "csv")
    assert (done.status, done.out.splitlines()[1].split(",")[:2]) == (0, ["passed", "v1"])


def test_metric_named_twice_is_answered_once(here: Path, cache: Path) -> None:
    twice = ("--filter", "high", "--filter", "high")
    done = run_in(here, cache, "query", "passed", "Passed", "passed", "--run", "runs/v1", *twice, "--format", "json")
    (found,) = json.loads(done.out)
    assert (found["metric"], found["filters"]) == ("passed", ["high"])
