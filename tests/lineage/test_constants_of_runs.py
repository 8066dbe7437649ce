"""Test numbers of constants of runs: they are explained, have a lineage, and are traced to their documents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

HARNESS = ROOT / "golden" / "antelope" / "harness"
ROW = "Verdict/Result/node_01, yes, met, met, yes, pass"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build the report of the harness from a run without the first and last block of its test."""
    folder = tmp_path_factory.mktemp("harness")
    shutil.copytree(HARNESS, folder / "run")
    command = ("build", "antelope/harness", "--run", folder / "run", "-o", folder / "report", "--to", "md")
    result = run_assay(*command, "--cache", cache)
    assert result.status == 0, result.err
    return folder


def read_run_document(folder: Path) -> dict[str, Any]:
    """Return the document of the run that has its constants."""
    document: dict[str, Any] = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
    return document


def trace_cell(build_folder: Path, column: str, cache: Path) -> dict[str, Any]:
    result = run_assay("trace", build_folder / "report", f"{ROW}/{column}", "--format", "json", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    (traced_run,) = result.parse_json()["runs"]
    return dict(traced_run)


def test_explain_names_document_and_key_of_a_constant(built: Path, cache: Path) -> None:
    expected_value = read_run_document(built)["targetTPS"]
    text = run_assay("explain", "target_tps", "--run", built / "run", "--cache", cache).out
    flat = " ".join(text.split())
    assert (
        "Constants `target_tps`: Target of transactions per second (-1: not specified) — run.json "
        ".targetTPS; default: -1 Also read" in flat
    )
    assert f"with the run's target_tps {expected_value} tx/s" in flat
    assert "no record: the value is computed from constants of the run" in text
    assert "Received block" not in text
    effect = "they are read, but no value or row depends on them"
    assert f"the run's completed, the run's expected_transactions: {effect}" in flat
    data = run_assay("explain", "target_tps", "--run", built / "run", "--format", "json", "--cache", cache).parse_json()
    (value,) = [item for item in data["constants"] if item["role"] == "value"]
    assert (value["name"], value["files"], value["path"]) == ("target_tps", ["run.json"], ["targetTPS"])
    assert data["run"]["constants"] == [
        {"name": "target_tps", "value": expected_value, "place": "run.json .targetTPS", "is_defined": True}
    ]
    (sample,) = data["run"]["largest"]
    assert (sample["value"], sample["records"], sample["is_from_constants"]) == (expected_value, 0, True)


def test_constant_is_a_leaf_of_the_lineage(cache: Path) -> None:
    tree = run_assay("lineage", "target_tps", "--cache", cache).out
    assert "    └ $target_tps: constant of the run\n      └ run.json .targetTPS\n" in tree
    assert "Constants of the run: makes the value\n  target_tps             run.json .targetTPS\n" in tree
    data = run_assay("lineage", "target_tps", "--format", "json", "--cache", cache).parse_json()
    assert {"id": "$target_tps", "kind": "constant", "what": "constant of the run", "role": "value"} in data["nodes"]
    edges = [(item["from"], item["to"]) for item in data["edges"]]
    assert ("$target_tps", "verdict.target_tps") in edges
    assert ("nodes run.json .targetTPS", "$target_tps") in edges
    assert {"name": "target_tps", "role": "value", "files": ["run.json"], "path": ["targetTPS"], "default": "-1"} in (
        data["constants"]
    )
    dot = run_assay("lineage", "target_tps", "--format", "dot", "--cache", cache).out
    assert '"$target_tps" -> "verdict.target_tps" [style="solid"];' in dot
    assert '"nodes run.json .targetTPS" -> "$target_tps" [style="solid"];' in dot


def test_cell_of_a_constant_leads_to_its_document(built: Path, cache: Path) -> None:
    document = read_run_document(built)
    target = trace_cell(built, "Target, tx/s", cache)
    assert target["constants"] == [
        {"name": "target_tps", "value": document["targetTPS"], "place": "run.json .targetTPS", "is_defined": True}
    ]
    (sample,) = target["greatest"]
    assert (sample["records"], sample["lines"], sample["is_from_constants"]) == (0, [], True)
    text = run_assay("trace", built / "report", f"{ROW}/Target, tx/s", "--cache", cache).out
    expected_line = f"Constants  target_tps {document['targetTPS']} tx/s: Target of transactions per second"
    assert expected_line in " ".join(text.split()).replace("Constants ", "Constants  ")
    assert "(run.json .targetTPS)" in text
    assert "   no record: the value is computed from constants of the run\n" in text + "\n"
    completed_cell = trace_cell(built, "Run completed", cache)
    assert [item["name"] for item in completed_cell["constants"]] == ["completed"]
    assert completed_cell["greatest"][0]["is_from_constants"]


def test_cell_of_records_and_constants_has_both(built: Path, cache: Path) -> None:
    traced_cell = trace_cell(built, "Result", cache)
    assert "testEndBlockNum" not in read_run_document(built)
    assert {item["name"]: (item["place"], item["is_defined"]) for item in traced_cell["constants"]} == {
        "completed": ("run.json .testRunCompleted", True),
        "expected_transactions": ("run.json .expectedTxns", True),
        "target_tps": ("run.json .targetTPS", True),
        "test_end": ("run.json .testEndBlockNum", False),
        "test_start": ("run.json .testStartBlockNum", False),
    }
    (sample,) = traced_cell["greatest"]
    assert sample["records"] > 200
    assert not sample["is_from_constants"]
    reached = trace_cell(built, "Reached, tx/s", cache)
    assert "target_tps" not in [item["name"] for item in reached["constants"]]
    assert reached["greatest"][0]["records"] > 200


FORMULA = """
let S = ../schema/package.dhall
let M = S.metric
let m = ./metrics.dhall
in  M.formula
      { id = "fa"
      , name = "Fa"
      , doc = "d"
      , formula = S.x.over (M.value m.size) (S.source.constant (./source.dhall).constant.users)
      , unit = S.unit.kibibyte
      }
"""


def test_formula_over_a_constant_names_it(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "place"
    assert run_assay("init", place).status == 0
    specs = place / "specs" / "service"
    edit_file(
        specs / "source.dhall",
        '          , doc = "Version of the service"\n          }\n',
        '          , doc = "Version of the service"\n          }\n'
        '      , users = S.Constant::{, name = "users", files = [ "meta.json" ], path = [ "load", "users" ]\n'
        '          , type = "integer", default = Some "7", doc = "How many users" }\n',
    )
    edit_file(specs / "source.dhall", "[ constant.version ]", "[ constant.version, constant.users ]")
    (specs / "fm.dhall").write_text(FORMULA, encoding="utf-8")
    edit_file(specs / "package.dhall", "S.metrics (toMap m)", "S.metrics (toMap m) # [ ./fm.dhall ]")
    result = run_assay("lineage", "fa", "--format", "json", "--cache", cache, cwd=place)
    assert result.status == 0, result.err
    (constant,) = result.parse_json()["constants"]
    assert constant == {
        "name": "users",
        "role": "value",
        "files": ["meta.json"],
        "path": ["load", "users"],
        "default": "7",
    }
    text = " ".join(run_assay("explain", "fa", "--cache", cache, cwd=place).out.split())
    assert "Constants `users`: How many users — meta.json .load.users; default: 7 Also read" in text
