"""Groups of an article of which nothing is measured: their runs need no records."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

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
                , listings = [ B.listing "Requests" requests.grain [ requests.host ] [ m.wait ] ]
                }
              ]
          # [ B.Part::{ title = "Results", verdicts = [ B.notJudged skipped "Skipped load" ] } ]
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
    edit_file(folder / "specs" / "service" / "requests.dhall", "in  { relation", "in  { host, relation")
    edit_file(folder / "specs" / "service" / "package.dhall", "\nin  S.Package::{\n", ARTICLE)
    edit_file(folder / "specs" / "service" / "package.dhall", "    , reports = [ (./reports.dhall).comparison ]\n", "")
    for web in (folder / "runs" / "1.1").glob("web-*"):
        shutil.rmtree(web)
    runs = ("--run", "tested:1.0=runs/1.0", "--run", "skipped:1.1=runs/1.1")
    answer = run_assay("--cache", cache, "build", "service/groups", *runs, "-o", "out", "--to", "md", cwd=folder)
    assert answer.status == 0, answer.err
    parts = json.loads((folder / "out" / "document.json").read_text(encoding="utf-8"))["galleries"]
    rows = next(part for part in parts if part["title"] == "Results")["tables"][0]["rows"]
    assert [[row[0], row[-1]] for row in rows] == [["Skipped load", "not judged"]]
