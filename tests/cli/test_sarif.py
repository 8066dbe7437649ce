"""SARIF of `assay check` and `assay gate`: valid by the schema of OASIS, with places in the repository."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.commands import run_assay
from tests.support.judged_results import CAUTION, judge_metric, write_results
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

SCHEMA = json.loads((ROOT / "tests/support/schemas/sarif-2.1.0.json").read_text(encoding="utf-8"))
METRICS = "specs/service/metrics.dhall"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Copy the shop of `assay init` into a folder of a repository."""
    shutil.copytree(ROOT / "starter", tmp_path / "shop 1")
    (tmp_path / ".git").mkdir()
    return tmp_path / "shop 1"


def read_results(file: Path) -> list[tuple[str, str, str, str, tuple[int, ...]]]:
    """Return rule, level, message, file and region of each result of a valid SARIF file."""
    document: Any = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA, jsonschema.Draft4Validator)
    (run,) = document["runs"]
    results = []
    for result in run["results"]:
        assert {"id": result["ruleId"]} in run["tool"]["driver"]["rules"]
        (location,) = (item["physicalLocation"] for item in result["locations"])
        region = tuple(location.get("region", {}).values())
        address = location["artifactLocation"]["uri"]
        results.append((result["ruleId"], result["level"], result["message"]["text"], address, region))
    return results


def find_text(file: Path, text: str) -> tuple[int, int, int]:
    """Return line, first column and end column of a text, counted from 1."""
    lines = file.read_text(encoding="utf-8").split("\n")
    number, line = next((number, line) for number, line in enumerate(lines, 1) if text in line)
    return number, line.index(text) + 1, line.index(text) + 1 + len(text)


def test_check_locates_problems_in_the_repository(place: Path, cache: Path) -> None:
    file = place / "check.sarif"
    definition = place / METRICS
    edit_file(definition, 'id = "work"', 'id = "wörk it"')
    result = run_assay("check", "--sarif", file, "--cache", cache, cwd=place)
    assert result.status == 1
    results = read_results(file)
    assert results
    assert ("error", f"shop%201/{METRICS}") in [(level, address) for _, level, _, address, _ in results]
    assert find_text(definition, '"wörk it"') in [region for *_, region in results]
    assert all(message.split("\n")[0] in result.err for _, _, message, _, _ in results)


def test_check_of_good_specs_has_no_result(place: Path, cache: Path) -> None:
    assert run_assay("check", "--sarif", place / "check.sarif", "--cache", cache, cwd=place).status == 0
    assert read_results(place / "check.sarif") == []


CHANGES = {
    "wait": judge_metric("worse", 0.0001, percent=2),
    "work": judge_metric("worse", percent=2),
    "rare": judge_metric("worse", percent=2),
    "even": judge_metric("same", percents=(0.0, -0.3, 0.3), percent=2),
}


def test_gate_locates_what_is_worse_at_its_definition(place: Path, cache: Path) -> None:
    folder = place / "build"
    folder.mkdir()
    write_results(folder, CHANGES)
    result = run_assay("--cache", cache, "gate", folder, "--sarif", folder / "gate.sarif", cwd=place)
    assert result.status == 4, result.err
    text = "Metric {} is worse in 1.1 than in 1.0: +10 % (+8 … +12), margin 2 %"
    definitions = {name: find_text(place / METRICS, f'"{name}"') for name in ("wait", "work")}
    assert read_results(folder / "gate.sarif") == [
        ("closed-gate", "error", text.format("wait"), f"shop%201/{METRICS}", definitions["wait"]),
        ("worse", "warning", text.format("work"), f"shop%201/{METRICS}", definitions["work"]),
        ("worse", "warning", text.format("rare"), "shop%201/build/results.json", ()),
    ]


def test_gate_warns_of_missing_data(place: Path, cache: Path) -> None:
    changes = {
        "wait": judge_metric("data lost", 1.0, "a run has no samples, though another has"),
        "work": judge_metric("same", 0.6),
    }
    folder = write_results(place, changes, hosts=(2, 1), findings=(0, 3))
    file = place / "gate.sarif"
    result = run_assay("--cache", cache, "gate", folder, "--sarif", file, "--allow-missing", cwd=place)
    assert result.status == 0, result.err
    assert [(rule, level, text) for rule, level, text, *_ in read_results(file)] == [
        (
            "no-interval",
            "warning",
            "Metric wait has no verdict in 1.1: data lost, a run has no samples, though another has",
        ),
        ("suspect-comparison", "warning", CAUTION),
        ("incomplete-data", "warning", "Data: 1.1: gap 1, gap 2, gap 3, under Data quality."),
    ]


@pytest.mark.parametrize(("option", "status", "level"), [("pass", 0, "note"), ("fail", 1, "error")])
def test_gate_lists_undecided_metrics(option: str, status: int, level: str, place: Path, cache: Path) -> None:
    changes = {
        "wait": judge_metric("cannot tell", 0.6, percents=(1.0, -3.0, 5.0), percent=2),
        "work": judge_metric("cannot tell", 0.6, "the run is too short", percent=2),
        "even": judge_metric("cannot tell", 0.6, percents=(0.0, -3.0, 1.0), percent=2),
    }
    folder, file = write_results(place, changes), place / "gate.sarif"
    result = run_assay("--cache", cache, "gate", folder, "--sarif", file, "--undecided", option, cwd=place)
    assert result.status == status, result.err
    text = "Metric {} may be worse in 1.1 than in 1.0 by more than its margin: {}"
    assert [item[:3] for item in read_results(file)] == [
        ("undecided", level, text.format("wait", "+1.0 % (-3 … +5), margin 2 %")),
        ("undecided", level, text.format("work", "the run is too short")),
    ]
    assert read_results(file)[0][4] == find_text(place / METRICS, '"wait"')


def test_gate_without_specs_locates_in_the_results(tmp_path: Path, cache: Path) -> None:
    folder = write_results(tmp_path, CHANGES)
    result = run_assay("--cache", cache, "gate", folder, "--sarif", folder / "gate.sarif", cwd=tmp_path)
    assert result.status == 4, result.err
    assert {address for *_, address, _ in read_results(folder / "gate.sarif")} == {
        (tmp_path / "results.json").resolve().as_uri()
    }


def test_undecided_gate_writes_no_sarif(tmp_path: Path) -> None:
    folder = write_results(tmp_path, CHANGES, demanded=3)
    assert run_assay("gate", folder, "--sarif", tmp_path / "gate.sarif").status == 1
    assert not (tmp_path / "gate.sarif").exists()


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = write_results(tmp_path, CHANGES)
    result = run_assay("gate", folder, "--sarif", tmp_path / "no" / "gate.sarif")
    assert (result.status, "the file cannot be written" in result.err) == (1, True)
