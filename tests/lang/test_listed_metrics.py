"""Metrics that need no edit in other files, and units that are multiples of others."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import run_assay
from tests.support.documents import list_sections

TOTAL = """    , total =
        duration::{ id = "total", name = "Whole time", measure = request.between e.received e.sent }
    , size =
"""
SHEETS = """    , sheets =
        ofRequest::{
        , id = "sheets"
        , name = "Sheets of the response"
        , measure = request.taken e.sent e.field.bytes
        , unit = S.unit.perSecond (S.unit.unit "kilosheet" "ksheet")
        , doc = "Sheets of the response in a second"
        }
    , size =
"""


def create_workspace(folder: Path) -> Path:
    """Create a workspace like that of a new user."""
    assert run_assay("init", folder).status == 0
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def query(workspace: Path, metric: str) -> dict[str, float | str]:
    """Return the row of a metric in a run of the workspace."""
    result = run_assay("query", metric, "--run", "runs/1.0", "--format", "json", cwd=workspace)
    assert result.status == 0, result.err
    (row,) = json.loads(result.out)
    return dict(row)


def test_new_metric_is_in_package_section_and_dictionary(tmp_path: Path) -> None:
    workspace = create_workspace(tmp_path / "new")
    edit(workspace / "specs/service/metrics.dhall", "    , size =\n", TOTAL)
    assert query(workspace, "total")["size"] == 120
    result = run_assay(
        "build",
        "service/comparison",
        "--run",
        "runs/1.0",
        "--run",
        "runs/1.1",
        "--to",
        "md",
        "-o",
        "out",
        cwd=workspace,
    )
    assert result.status == 0, result.err
    document = json.loads((workspace / "out/document.json").read_text(encoding="utf-8"))
    metrics = {section["title"]: section["metrics"] for section in list_sections(document)}
    assert metrics["Times"] == ["wait", "work", "total", None]
    assert metrics["Sizes"] == ["response_size", None]


def test_printed_metric_of_no_group_is_in_the_dictionary(tmp_path: Path) -> None:
    workspace = create_workspace(tmp_path / "new")
    reports = workspace / "specs/service/reports.dhall"
    edit(reports, 'R.groupWithAllOf request (R.group "Requests" (times # sizes))', 'R.group "Requests" times')
    result = run_assay("build", "service/comparison", "--run", "runs/1.0", "--to", "md", "-o", "out", cwd=workspace)
    assert result.status == 0, result.err
    document = json.loads((workspace / "out/document.json").read_text(encoding="utf-8"))
    groups = {group["title"]: [entry["id"] for entry in group["entries"]] for group in document["dictionary"]}
    assert groups == {"Requests": ["wait", "work"], "Other metrics": ["response_size"]}


def test_derived_unit_converts_as_its_factor_says(tmp_path: Path) -> None:
    workspace = create_workspace(tmp_path / "new")
    bytes_mean = query(workspace, "response_size")["average"]
    edit(
        workspace / "specs/service/package.dhall",
        "    , sources",
        """    , derivedUnits =
      [ { name = "sheet", factor = "4000", of = "byte", doc = "A sheet of paper" }
      , { name = "kilosheet", factor = "1000", of = "sheet", doc = "A stack of paper" }
      ]
    , sources""",
    )
    sheets = SHEETS.replace("S.unit.perSecond (", "(").replace(" in a second", "")
    edit(workspace / "specs/service/metrics.dhall", "    , size =\n", sheets)
    row = query(workspace, "sheets")
    assert row["unit"] == "ksheet"
    assert abs(float(row["average"]) - float(bytes_mean) / 4_000_000) < 1e-12
    edit(
        workspace / "specs/service/metrics.dhall",
        '(S.unit.unit "kilosheet" "ksheet")',
        "(S.unit.perSecond S.unit.byte)",
    )
    result = run_assay("check", cwd=workspace)
    assert result.status == 1
    assert "expected: byte / second" in result.err
    assert "found:    byte" in result.err
