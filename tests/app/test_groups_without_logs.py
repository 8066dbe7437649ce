"""Test groups of runs: those of which nothing is measured need no records, the others are judged apart."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import edit_file

ARTICLE = """
let B = S.block

let tested = { name = "tested", title = "Tested" }

let skipped = { name = "skipped", title = "Skipped" }

let article =
      S.Report::{
      , name = "groups"
      , title = "Groups"
      , intro = ""
      , groups = [ tested, skipped ]
      , parts =
            B.ofGroup
              tested
              [ B.Part::{
                , title = "Requests"
                , blocks = B.listings [ B.listing "Requests" request.grain [ request.host ] [ m.wait ] ]
                }
              ]
          # [ B.Part::{ title = "Results", blocks = B.verdicts [ B.notJudged skipped "Skipped load" ] } ]
      , style = "prefixed"
      , label = "version"
      }

in  S.Package::{
    , reports = [ article ] # [ (./reports.dhall).comparison ]
"""


def test_group_that_is_not_judged_needs_no_logs(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(ROOT / "starter", folder)
    shutil.copytree(ROOT / "specs" / "schema", folder / "specs" / "schema", dirs_exist_ok=True)
    edit_file(folder / "specs" / "service" / "package.dhall", "\nin  S.Package::{\n", ARTICLE)
    edit_file(folder / "specs" / "service" / "package.dhall", "    , reports = [ (./reports.dhall).comparison ]\n", "")
    for web in (folder / "runs" / "1.1").glob("web-*"):
        shutil.rmtree(web)
    runs = ("--run", "tested:1.0=runs/1.0", "--run", "skipped:1.1=runs/1.1")
    answer = run_assay("--cache", cache, "build", "service/groups", *runs, "-o", "out", "--to", "md", cwd=folder)
    assert answer.status == 0, answer.err
    parts = json.loads((folder / "out" / "document.json").read_text(encoding="utf-8"))["parts"]
    rows = next(part for part in parts if part["title"] == "Results")["tables"][0]["rows"]
    assert [[row[0], row[-1]] for row in rows] == [["Skipped load", "not judged"]]


def test_each_group_is_judged_as_its_runs_alone(tmp_path: Path, cache: Path) -> None:
    """The first page of each group says what the report on the same runs says."""
    baseline, candidate, other = (
        ROOT / "golden/cardano" / name / "run" for name in ("baseline", "candidate", "candidate2")
    )
    words = ("--run", f"value-only:a={baseline}", "--run", f"value-only:b={candidate}")
    words += ("--run", f"plutus:a={baseline}", "--run", f"plutus:b={other}")
    built = run_assay("--cache", cache, "build", "cardano/workloads", *words, "-o", tmp_path / "groups", "--to", "md")
    assert built.status == 0, built.err
    answers = json.loads((tmp_path / "groups/document.json").read_text(encoding="utf-8"))["answers"]
    assert [(item["base"], item["run"]) for item in answers] == [
        ("value-only: a", "value-only: b"), ("plutus: a", "plutus: b"),
    ]  # fmt: skip
    for answer, run in zip(answers, (candidate, other), strict=True):
        alone = tmp_path / run.parent.name
        words = ("--run", f"a={baseline}", "--run", f"b={run}")
        built = run_assay("--cache", cache, "build", "cardano/comparison", *words, "-o", alone, "--to", "md")
        assert built.status == 0, built.err
        (expected,) = json.loads((alone / "document.json").read_text(encoding="utf-8"))["answers"]
        rows, expected_rows = list_rows(answer), list_rows(expected)  # as many as fit on each page
        assert {name: rows[name]["interval"] for name in expected_rows} == {
            name: row["interval"] for name, row in expected_rows.items()
        }
        assert answer["counts"] == expected["counts"]
    gate = run_assay("--cache", cache, "gate", tmp_path / "groups")
    assert (gate.status, "each group of runs is judged apart" in gate.err) == (2, True)
    gates = [
        run_assay("--cache", cache, "gate", tmp_path / folder, "--once", *options)
        for folder, options in (("groups", ("--group", "value-only")), ("candidate", ()))
    ]
    assert [gate.status for gate in gates] == [4, 4]


def list_rows(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of a first page by metric."""
    rows = [row for group in answer["groups"] for row in group["rows"]]
    return {row["metric"]: row for row in (*rows, *answer["conditions"])}
