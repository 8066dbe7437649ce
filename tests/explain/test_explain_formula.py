"""Formulas, which have no samples of their own: explained with a run, and traced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.report.assemble import filled
from tests.support.commands import assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edited

RUN = ROOT / "golden" / "antelope" / "upgrade" / "run"


def test_a_formula_is_explained_with_what_it_comes_to(cache: Path) -> None:
    done = assay("explain", "disk_writes_per_year", "--run", RUN, "--format", "json", "--cache", cache)
    assert (done.status, done.err) == (0, "")
    run = done.json()["run"]
    queried = assay(
        "query", "disk_writes_per_year", "disk_write_rate", "--run", RUN, "--format", "json", "--cache", cache
    )
    formula, rate = queried.json()
    assert run["average"] == formula["average"]
    assert run["over"] == {"disk_write_rate": rate["average"]}
    assert (run["spread"], run["largest"]) == (None, [])
    text = assay("explain", "disk_writes_per_year", "--run", RUN, "--cache", cache).out
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
    assert assay("init", place).status == 0
    specs = place / "specs" / "service"
    (specs / "fm.dhall").write_text(FORMULA, encoding="utf-8")
    edited(specs / "package.dhall", "m.size ]", "m.size, ./fm.dhall ]")
    edited(specs / "reports.dhall", "metrics = sizes }", 'metrics = sizes # [ "fa" ] }')
    words = ("build", "service/comparison", "--run", "runs/1.0", "-o", "b", "--to", "md", "--cache", cache)
    done = assay(*words, within=place)
    assert done.status == 0, done.err
    done = assay("trace", "b", "Sizes/Fa/1.0", "--format", "json", "--cache", cache, within=place)
    result = done.json()
    assert (done.status, result["metric"]) == (0, "fa")
    assert [run["metric"] for run in result["runs"]] == ["response_size", "wait"]
    size, wait = result["runs"]
    assert float(result["text"]) == pytest.approx(size["average"] / wait["average"] * 1000 / 1024, rel=1e-4)
    assert all(run["greatest"][0]["lines"] for run in result["runs"])
    text = assay("trace", "b", "Sizes/Fa/1.0", "--cache", cache, within=place).out
    assert "\nPrints     what a formula over averages comes to\n" in text
    assert "\nOf         wait: " in text
    results = place / "b" / "results.json"
    values = json.loads(results.read_text(encoding="utf-8"))
    values["metrics"]["fa"]["runs"]["1.0"]["average"] = 1.0
    results.write_text(json.dumps(values), encoding="utf-8")
    done = assay("trace", "b", "Sizes/Fa/1.0", "--cache", cache, within=place)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[value-changed]: run 1.0 does not give the value of `fa` that the report was made")


@pytest.mark.parametrize(
    ("text", "due"),
    [("{others} against {base}", "b against a {others}"), ("{nothing} {base}", "{nothing} a {others}"), ("{", "{")],
)
def test_a_title_is_filled_once(text: str, due: str) -> None:
    assert filled(text, {"base": "a {others}", "others": "b"}) == due


def test_outside_of_workspaces_the_shipped_specs_are_named(tmp_path: Path, cache: Path) -> None:
    done = assay("build", "service/comparison", "--run", "x", "-o", "y", "--cache", cache, within=tmp_path)
    assert done.status == 2
    assert "  note: no folder here or above has specs/, so these are the specs that come with Assay\n" in done.err
