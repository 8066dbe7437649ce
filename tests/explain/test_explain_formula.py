"""Formulas, which have no samples of their own: explained with a run, and traced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.report.placeholders import fill_placeholders
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

RUN = ROOT / "golden" / "antelope" / "upgrade" / "run"


def test_formula_is_explained_with_its_value(cache: Path) -> None:
    result = run_assay("explain", "disk_writes_per_year", "--run", RUN, "--format", "json", "--cache", cache)
    assert (result.status, result.err) == (0, "")
    run = result.parse_json()["run"]
    queried = run_assay(
        "query", "disk_writes_per_year", "disk_write_rate", "--run", RUN, "--format", "json", "--cache", cache
    )
    formula, rate = queried.parse_json()
    assert run["average"] == formula["average"]
    assert run["over"] == {"disk_write_rate": rate["average"]}
    assert (run["spread"], run["largest"]) == (None, [])
    text = run_assay("explain", "disk_writes_per_year", "--run", RUN, "--cache", cache).out
    assert f"over `disk_write_rate` {rate['average']:.6g} {rate['unit']}" in " ".join(text.split())


FORMULA = """
let S = ../schema/package.dhall
let M = S.metric
let m = ./metrics.dhall
in  M.formula
      { id = "fa"
      , name = "Fa"
      , doc = "d"
      , formula = S.x.over (M.value m.size) (M.value m.wait)
      , unit = S.unit.perSecond S.unit.kibibyte
      }
"""


def test_cell_of_a_formula_leads_to_samples_of_its_metrics(tmp_path: Path, cache: Path) -> None:
    place = tmp_path / "place"
    assert run_assay("init", place).status == 0
    specs = place / "specs" / "service"
    (specs / "fm.dhall").write_text(FORMULA, encoding="utf-8")
    edit_file(specs / "package.dhall", "S.metrics (toMap m)", "S.metrics (toMap m) # [ ./fm.dhall ]")
    edit_file(specs / "reports.dhall", '"Sizes" sizes //', '"Sizes" (sizes # [ ./fm.dhall ]) //')
    command = ("build", "service/comparison", "--run", "runs/1.0", "-o", "b", "--to", "md", "--cache", cache)
    completed = run_assay(*command, cwd=place)
    assert completed.status == 0, completed.err
    completed = run_assay("trace", "b", "Sizes/Fa/1.0", "--format", "json", "--cache", cache, cwd=place)
    result = completed.parse_json()
    assert (completed.status, result["metric"]) == (0, "fa")
    assert [run["metric"] for run in result["runs"]] == ["response_size", "wait"]
    size, wait = result["runs"]
    quotient = size["average"] / wait["average"] * 1000 / 1024
    results = place / "b" / "results.json"
    values = json.loads(results.read_text(encoding="utf-8"))
    assert values["metrics"]["fa"]["runs"]["1.0"]["average"] == pytest.approx(quotient, rel=1e-9)
    assert result["text"] == f"{quotient:.3g}"
    assert all(run["greatest"][0]["lines"] for run in result["runs"])
    text = run_assay("trace", "b", "Sizes/Fa/1.0", "--cache", cache, cwd=place).out
    assert "\nPrints     the value of a formula over averages\n" in text
    assert "\nOf         wait: " in text
    values["metrics"]["fa"]["runs"]["1.0"]["average"] = 1.0
    results.write_text(json.dumps(values), encoding="utf-8")
    completed = run_assay("trace", "b", "Sizes/Fa/1.0", "--cache", cache, cwd=place)
    assert (completed.status, completed.out) == (1, "")
    assert completed.err.startswith("error[value-changed]: run 1.0 yields another value of `fa` than the report")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{others} against {base}", "b against a {others}"), ("{nothing} {base}", "{nothing} a {others}"), ("{", "{")],
)
def test_placeholders_of_a_title_are_filled_once(text: str, expected: str) -> None:
    assert fill_placeholders(text, {"base": "a {others}", "others": "b"}) == expected


def test_outside_of_workspaces_the_shipped_specs_are_named(tmp_path: Path, cache: Path) -> None:
    result = run_assay("build", "service/comparison", "--run", "x", "-o", "y", "--cache", cache, cwd=tmp_path)
    assert result.status == 2
    assert (
        "  note: neither this folder nor its parents have specs/: using the specs that come with Assay\n" in result.err
    )
