"""What is asked for by its name: of several systems, by what it is printed as, twice, and what is of another kind."""

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


def asked(here: Path, cache: Path, *arguments: str | Path) -> Done:
    """What a command answers."""
    return assay(*arguments, "--cache", cache, within=here)


@pytest.mark.parametrize("command", [("query", "wait", "--run", "runs/v1"), ("sql", "wait"), ("explain", "wait")])
def test_a_metric_of_two_systems_is_ambiguous_to_every_command(
    here: Path, cache: Path, command: tuple[str, ...]
) -> None:
    done = asked(here, cache, *command)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error[ambiguous-metric]: `wait` is a metric of `mix` and `mox`\n  hint: name the system with --system\n"
    )


def test_a_metric_of_two_systems_is_had_of_the_one_named(here: Path, cache: Path) -> None:
    done = asked(here, cache, "query", "wait", "--system", "mox", "--run", "runs/v1", "--format", "json")
    assert (done.status, [item["metric"] for item in done.json()]) == (0, ["wait"])


def test_a_list_of_several_systems_says_whose_each_thing_is(here: Path, cache: Path) -> None:
    found = asked(here, cache, "list", "metrics", "--format", "json").json()
    assert [item["system"] for item in found if item["id"] == "wait"] == ["mix", "mox"]
    assert "system" not in asked(here, cache, "list", "metrics", "--system", "mox", "--format", "json").json()[0]
    assert "system" not in asked(here, cache, "list", "reports", "--format", "json").json()[0]


def test_a_metric_is_had_by_its_printed_name(here: Path, cache: Path) -> None:
    done = asked(here, cache, "query", "Passed", "--run", "runs/v1", "--format", "csv")
    assert (done.status, done.out.splitlines()[1].split(",")[:2]) == (0, ["passed", "v1"])


@pytest.mark.parametrize("command", [("query", "--run", "runs/v1"), ("sql",)])
def test_a_series_is_no_metric(here: Path, cache: Path, command: tuple[str, ...]) -> None:
    name, *options = command
    done = asked(here, cache, name, "queue_length", "--system", "mix", *options)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error[not-a-metric]: `queue_length` is a series: it has no samples of its own, and articles draw it\n"
        "  hint: `assay explain queue_length --run DIR` tells what it comes to in a run\n"
    )


def test_what_is_asked_for_twice_is_told_once(here: Path, cache: Path) -> None:
    twice = ("--filter", "high", "--filter", "high")
    done = asked(here, cache, "query", "passed", "Passed", "passed", "--run", "runs/v1", *twice, "--format", "json")
    (found,) = json.loads(done.out)
    assert (found["metric"], found["filters"]) == ("passed", ["high"])


def test_an_unknown_metric_outside_of_a_workspace_says_whose_specs_these_are(tmp_path: Path, cache: Path) -> None:
    done = assay("query", "cdfForgerTiked", "--run", tmp_path, "--cache", cache, within=tmp_path)
    assert (done.status, done.err) == (
        2,
        "error[unknown-metric]: there is no metric `cdfForgerTiked`\n"
        "  note: no folder here or above has specs/, so these are the specs that come with Assay\n"
        "  hint: did you mean `cdfForgerTicked`?\n",
    )


def test_a_metric_of_another_system_is_told_with_that(cache: Path) -> None:
    done = assay("query", "CentiCpu", "--system", "cometbft", "--run", "nowhere", "--cache", cache)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "error[unknown-metric]: there is no metric `CentiCpu`\n  hint: `cardano` has it: name that one with --system\n"
    )
