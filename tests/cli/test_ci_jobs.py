"""Jobs of continuous integration: the steps of the GitHub Action and of the GitLab example, run by a shell.

Only what comes from the code hosts is replaced: their variables, and the server that has the comments.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.code_hosts import CodeHost, serve_comments
from tests.support.commands import build_environment, run_assay
from tests.support.documentation import parse_page
from tests.support.laboratory import ROOT
from tests.support.nights import write_night

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "integrations/gitlab/assay.gitlab-ci.yml").read_text(encoding="utf-8"))["assay-gate"]
EXPRESSION = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Copy the shop of `assay init`: its run 1.1 is faster than its run 1.0."""
    shutil.copytree(ROOT / "starter", tmp_path / "shop")
    return tmp_path / "shop"


def list_variables(host: CodeHost, folder: Path, cache: Path) -> dict[str, str]:
    """Return environment variables of a job, in which a real `assay` is on PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    event = folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}), encoding="utf-8")
    files = {name: str(folder / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    names = {"GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": host.address, "GITHUB_EVENT_PATH": str(event)}
    return build_environment(PATH=path, XDG_CACHE_HOME=str(cache), **files, **names)


def run_step(name: str, inputs: Mapping[str, str], variables: Mapping[str, str], cwd: Path) -> int:
    """Run a step of the action as GitHub does; return its exit status."""
    values = {key: item.get("default", "") for key, item in ACTION["inputs"].items()} | dict(inputs)
    step: dict[str, Any] = next(item for item in ACTION["runs"]["steps"] if item.get("name") == name)
    assert "${{" not in step["run"], "a script would contain the text of an input"
    env = {key: EXPRESSION.sub(lambda match: values[match[1]], text) for key, text in step["env"].items()}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=cwd, env={**variables, **env}, check=False).returncode


def run_action(shop: Path, inputs: Mapping[str, str], variables: Mapping[str, str]) -> int:
    """Build and gate; return the exit status of the gate."""
    values = {"report": "service/comparison", "token": "secret", **inputs}
    assert run_step("Build", values, variables, shop) == 0
    return run_step("Gate", values, variables, shop)


CASES = {
    "passes": (
        {"base": "runs/1.0\n\n", "candidate": "runs/1.1\n", "once": "true"},
        0,
        "**Gate passes, but cannot tell for 1 of 2 ",
    ),
    "fails": ({"base": "runs/1.1", "candidate": "runs/1.0", "margin": "1%", "once": "true"}, 4, "**Gate fails: 1 "),
    "undecided": ({"base": "runs/1.0", "candidate": "runs/1.1"}, 1, "**Gate does not decide: too few runs "),
}


@pytest.mark.parametrize("state", CASES)
def test_action_builds_gates_and_comments(shop: Path, cache: Path, tmp_path: Path, state: str) -> None:
    inputs, status, start = CASES[state]
    with serve_comments() as host:
        variables = list_variables(host, tmp_path, cache)
        assert run_action(shop, inputs, variables) == status
        assert run_step("Gate", {"token": "secret", **inputs}, variables, shop) == status
        (comment,) = host.comments
    summary = (tmp_path / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8")
    text = comment.partition("\n")[2]
    assert text.startswith(start)
    assert summary == f"{text}\n" * 2
    outputs = (tmp_path / "GITHUB_OUTPUT").read_text(encoding="utf-8").splitlines()
    decided = state != "undecided"
    assert outputs[-2 if decided else -1 :] == [f"gate={state}", *["sarif=./build/gate/gate.sarif"] * decided]
    assert (shop / "build/gate/report/report.html").is_file()
    assert (shop / "build/gate/gate.xml").is_file()


def test_job_of_the_page_gates(shop: Path, cache: Path, tmp_path: Path) -> None:
    """The steps write the facts of runs, which the script of the benchmark does not."""
    (block,) = (block for block in parse_page("docs/ci.md").blocks if block.language == "yaml")
    steps = yaml.safe_load(block.body)["jobs"]["benchmark"]["steps"]
    (inputs,) = (step["with"] for step in steps if step.get("id") == "assay")
    for number, run in enumerate(f"{inputs['base']}{inputs['candidate']}".split()):
        write_night(shop / "runs/1.0", shop / "logs" / run, number, 1.3 if run.startswith("new") else 1.0)
        (shop / "logs" / run / "meta.json").unlink()
    script = shop / "run-benchmark.sh"
    script.write_text('#!/bin/sh\nfor run; do mkdir -p "$run"; cp -r "logs/$run/." "$run"; done\n')
    script.chmod(0o755)
    with serve_comments() as host:
        variables = list_variables(host, tmp_path, cache)
        for step in steps:
            if "run" in step:
                subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=shop, env=variables, check=True)
        assert run_action(shop, inputs, variables) == 4
    assert "\nservice/comparison: candidate against base\n" in host.comments[0]


def test_jobs_record_no_results(shop: Path, cache: Path, tmp_path: Path) -> None:
    """A candidate that is recorded would be an earlier run of the next pull request."""
    with (shop / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('results = "results"\n')
    inputs = {"report": "service/comparison", "base": "runs/1.0", "candidate": "runs/1.1"}
    with serve_comments() as host:
        variables = list_variables(host, tmp_path, cache)
        assert run_step("Build", inputs, variables, shop) == 0
        shutil.rmtree(shop / "build")
        script, runs = "\n".join(["set -e", *GITLAB["script"][:-1]]), {"BASE": "runs/1.0", "CANDIDATE": "runs/1.1"}
        subprocess.run(["sh", "-c", script], cwd=shop, env={**variables, **GITLAB["variables"], **runs}, check=True)
    assert (shop / "build/gate/report.md").is_file()
    assert not list(shop.rglob("results/figures"))


@pytest.fixture(scope="module")
def recorded_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record three nights with the tag main; the folder `candidate` has the next one, with longer times."""
    folder = tmp_path_factory.mktemp("recorded") / "shop"
    shutil.copytree(ROOT / "starter", folder)
    with (folder / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('results = "results"\n')
    for night in range(3):
        name = f"night-{night}"
        write_night(folder / "runs/1.0", folder / name, night)
        for words in (["build", "--run", name, "--to", "md", "-o", "out"], ["runs", "add", name, "--tag", "main"]):
            assert run_assay(*words, cwd=folder).status == 0
    write_night(folder / "runs/1.0", folder / "candidate", 3, 1.3)
    return folder


RECORDED = {
    "median": ({"baseline": "median:3:main"}, "candidate against median:3:main"),
    "registered": ({"base": "last:main", "once": "true"}, "candidate against base"),
}


@pytest.mark.parametrize("kind", RECORDED)
def test_action_compares_with_recorded_runs(recorded_shop: Path, cache: Path, tmp_path: Path, kind: str) -> None:
    inputs, subject = RECORDED[kind]
    with serve_comments() as host:
        variables = list_variables(host, tmp_path, cache)
        assert run_action(recorded_shop, {"candidate": "candidate", **inputs}, variables) == 4
    assert f"\nservice/comparison: {subject}\n" in host.comments[0]


def test_gitlab_job_compares_with_recorded_runs(recorded_shop: Path, cache: Path, tmp_path: Path) -> None:
    shutil.rmtree(recorded_shop / "build", ignore_errors=True)
    with serve_comments() as host:
        variables = list_variables(host, tmp_path, cache)
        runs = {"BASE": "", "CANDIDATE": "candidate", "BASELINE": "median:3:main"}
        script, env = "\n".join(["set -e", *GITLAB["script"]]), {**variables, **GITLAB["variables"], **runs}
        assert subprocess.run(["sh", "-c", script], cwd=recorded_shop, env=env).returncode == 4
    assert "against median:3:main" in ElementTree.parse(recorded_shop / "build/gate.xml").getroot()[0].attrib["name"]


def test_refused_comment_leaves_the_decision(shop: Path, cache: Path, tmp_path: Path) -> None:
    inputs, status, start = CASES["passes"]
    with serve_comments() as host:
        host.status, host.answer = 403, {}
        assert run_action(shop, inputs, list_variables(host, tmp_path, cache)) == status
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8").startswith(start)


def test_action_passes_inputs_as_data(shop: Path, cache: Path, tmp_path: Path) -> None:
    (shop / "runs" / "1.1").rename(shop / "runs" / "$(touch hacked) `x`; 'y")
    inputs = {"base": "runs/1.0", "candidate": "runs/$(touch hacked) `x`; 'y", "once": "true", "comment": "false"}
    with serve_comments() as host:
        assert run_action(shop, inputs, list_variables(host, tmp_path, cache)) == 0
        assert host.requests == []
    assert not list(tmp_path.rglob("hacked"))


def test_gitlab_job_builds_gates_and_comments(shop: Path, cache: Path, tmp_path: Path) -> None:
    with serve_comments() as host:
        variables = {key: value for key, value in list_variables(host, tmp_path, cache).items() if "GITHUB" not in key}
        job = {"CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "7", "CI_API_V4_URL": host.address, "GITLAB_TOKEN": "s"}
        runs = {"BASE": "runs/1.0", "CANDIDATE": "runs/1.1"}
        script = "\n".join(["set -e", *GITLAB["script"]])
        done = subprocess.run(["sh", "-c", script], cwd=shop, env={**variables, **GITLAB["variables"], **job, **runs})
        assert done.returncode == 1
        assert "**Gate does not decide: too few runs " in host.comments[0]
    assert ElementTree.parse(shop / "build/gate.xml").find("testsuite/testcase/error") is not None
    assert GITLAB["artifacts"]["reports"]["junit"] == "build/gate.xml"


def test_gate_of_gitlab_job_writes_its_artifacts(shop: Path, cache: Path, tmp_path: Path) -> None:
    with serve_comments() as host:
        variables = list_variables(host, tmp_path, cache)
        script = "\n".join(["set -e", *GITLAB["script"][:-1], f"{GITLAB['script'][-1]} --once"])
        runs = {"BASE": "runs/1.0", "CANDIDATE": "runs/1.1"}
        done = subprocess.run(["sh", "-c", script], cwd=shop, env={**variables, **GITLAB["variables"], **runs})
    assert done.returncode == 0
    assert ElementTree.parse(shop / "build/gate.xml").getroot().tag == "testsuites"
