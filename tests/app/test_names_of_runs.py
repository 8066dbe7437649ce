"""Test that reports call runs by the names that the user chooses, and say what the runs call themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.number_styles.row import RunResults
from assay.report.run_parameters import build_parameters_table
from assay.report.run_results import Choices, RunFigures
from tests.support.commands import run_assay
from tests.support.documents import list_charts
from tests.support.laboratory import CARDANO, Laboratory
from tests.support.runs import change_json


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init`, with a third run that calls itself 1.1, too."""
    folder = tmp_path_factory.mktemp("names") / "place"
    assert run_assay("init", folder).status == 0
    run_assay("init", folder.parent / "other")
    (folder.parent / "other" / "runs" / "1.1").rename(folder / "runs" / "twin")
    return folder


def build(place: Path, cache: Path, *runs: str) -> dict[str, Any]:
    """Build the report of runs as Markdown; return its document."""
    options = [f"--run={run}" for run in runs]
    result = run_assay("--cache", cache, "build", "--to=md", "-o", "out", *options, cwd=place)
    assert result.status == 0, result.err
    document: dict[str, Any] = json.loads((place / "out" / "document.json").read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize(
    ("runs", "labels", "own_names"),
    [
        (["runs/1.0", "runs/1.1"], ["1.0", "1.1"], ["1.0", "1.1"]),
        (["main branch=runs/1.0", "my fix (v2)=runs/1.1"], ["main branch", "my fix (v2)"], ["1.0", "1.1"]),
        (["a=runs/1.1", "b=runs/twin"], ["a", "b"], ["1.1", "1.1"]),
        (["runs/1.1", "runs/twin"], ["1.1 (1.1)", "1.1 (twin)"], ["1.1", "1.1"]),
        (["1.1=runs/1.0", "runs/1.1"], ["1.1", "1.1 (runs-1.1)"], ["1.0", "1.1"]),
        (["new=runs/1.1", "new=runs/twin", "runs/1.0"], ["new (1)", "new (2)", "1.0"], ["1.1", "1.1", "1.0"]),
        (["new=runs/1.0", "new=runs/1.1", "1.0=runs/twin"], ["new (1)", "new (2)", "1.0"], ["1.0", "1.1", "1.1"]),
        (["1.0=runs/1.1"], ["1.0"], ["1.1"]),
        (["twin"], ["1.1"], None),  # a folder of runs-directory, whose name the user did not choose
        (["old=twin"], ["old"], ["1.1"]),
    ],
)
def test_name_of_the_user_is_the_label(
    place: Path, cache: Path, runs: list[str], labels: list[str], own_names: list[str] | None
) -> None:
    manifest = build(place, cache, *runs)["manifest"]
    assert manifest["header"] == ["", *labels]
    assert manifest["rows"] == ([["Version", *own_names]] if own_names else [])
    results = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))
    assert [item["label"] for item in results["runs"]] == labels
    verified = run_assay("--cache", cache, "verify", "out", cwd=place)
    assert (verified.status, verified.out.partition(": ")[2]) == (0, "all the same bytes\n")


def test_all_texts_have_the_name_of_the_user(place: Path, cache: Path) -> None:
    document = build(place, cache, "main branch=runs/1.0", "my fix (v2)=runs/1.1")
    (answer,) = document["answers"]
    assert (answer["base"], answer["run"]) == ("main branch", "my fix (v2)")
    assert answer["differing"] == [["Version", "1.0", "1.1"]]
    assert document["title"].endswith("my fix (v2) against main branch")
    assert {series["run"] for chart in list_charts(document) for series in chart["series"]} == {
        answer["base"],
        answer["run"],
    }
    gate = run_assay("--cache", cache, "gate", "out", "--once", cwd=place)
    assert gate.out.startswith("my fix (v2) against main branch: ")
    cells = [f"Times/Waiting time, ms/my fix (v2){end}" for end in ("", " Δ", " Verdict")]
    for cell in (*cells, "Times/Waiting time, ms/Δ"):
        trace = run_assay("--cache", cache, "trace", "out", cell, cwd=place)
        assert trace.status == 0, trace.err
        assert "\nRun        my fix (v2), runs/1.1\n" in trace.out


def test_provenance_without_named_runs_keeps_their_own_names(place: Path, cache: Path) -> None:
    build(place, cache, "old=runs/1.0", "runs/1.1")
    path = place / "out" / "provenance.json"
    assert [run.pop("named", False) for run in json.loads(path.read_text())["content"]["runs"]] == [True, False]
    change_json(path, lambda data: data["content"]["runs"][0].pop("named"))
    verified = run_assay("--cache", cache, "verify", "out", cwd=place)
    assert verified.status == 3
    assert "against 1.0" in verified.out


def test_parameters_name_runs_that_no_row_names(lab: Laboratory) -> None:
    report = next(item for item in lab.package.package.reports if item.name == "comparison")
    report = replace(report, manifest=())
    choices = Choices("prefixed", "", (), "")

    def list_rows(run: str, *, is_named: bool) -> tuple[tuple[str, ...], ...]:
        figures = RunFigures(run, {report.label: "10.5"}, RunResults({}, {}, (), ()), 1, is_named=is_named)
        return build_parameters_table(report, [figures], [run], choices).rows

    assert list_rows("mine", is_named=True) == (("Name in the data", "10.5"),)
    assert list_rows("10.5", is_named=True) == ()
    assert list_rows("mine", is_named=False) == ()


def test_article_names_runs_and_finds_claims_by_their_own_names(cache: Path, tmp_path: Path) -> None:
    folder = CARDANO.parent / "cometbft" / "published"
    runs = [f"--run={name}={folder / case}" for name, case in (("old node", "v034"), ("0.38", "v038"))]
    out = tmp_path / "out"
    result = run_assay(
        "--cache", cache, "build", "cometbft/published", *runs, "--date=2026-01-01", "--to=md", "-o", out
    )
    assert result.status == 0, result.err
    document = json.loads((out / "document.json").read_text(encoding="utf-8"))
    assert document["manifest"]["header"] == ["", "old node", "0.38"]
    assert document["manifest"]["rows"] == [["Name in the data", "v0.34", "v0.38"]]
    claims = json.loads((out / "results.json").read_text(encoding="utf-8"))["claims"]
    assert {item["claimed_of"]: item["run"] and item["run"]["label"] for item in claims} == {
        "v0.38": "0.38", "v0.37": None,
    }  # fmt: skip
