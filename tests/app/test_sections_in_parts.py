"""Sections and charts are the same in a report and in its parts, with splits, columns, repeats of a version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import run_assay
from tests.support.dimensions import DEFINITIONS, PACKAGE, RUNS, create_rows, write_run
from tests.support.documents import list_charts, list_sections
from tests.support.small import create_small_workspace

#: the sections and charts of the report, a second time as a report of parts
PARTS = """
let B = S.block

let blocks = B.charts report.charts # B.sections report.sections

let parts =
      report
      //  { name = "parts"
          , sections = [] : List R.Section
          , charts = [] : List R.Chart
          , parts = [ B.Part::{ title = "All", blocks } ]
          }

let grouped =
      parts
      //  { name = "grouped"
          , title = "{others} against {base}"
          , groups = [ { name = "g", title = "First" }, { name = "h", title = "Second" } ]
          , parts =
            [ B.Part::{ title = "First", group = Some "g", blocks }
            , B.Part::{ title = "Second", group = Some "h", blocks }
            ]
          }
"""
#: two more runs of each version, of other requests
REPEATS = {
    **{f"old-{number}": create_rows(number, 1.0) for number in (3, 4)},
    **{f"new-{number}": create_rows(number, 1.4) for number in (5, 6)},
}
#: two runs of another group, and two that show how much runs of its version differ
OTHERS = {f"more-{number}": create_rows(number, 1.0) for number in (7, 8, 9, 10)}
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "plain": (),
    "columns": ("--columns", "count,median,p90"),
    "by": ("--by", "shard"),
    "host": ("--by", "host"),
    "summary": ("--summary", "lowest"),
    "repeats": tuple(f"--run={name.partition('-')[0]}=runs/{name}" for name in REPEATS),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with both reports, and three runs of each version."""
    package = PACKAGE.replace("reports = [ report ]", "reports = [ report, parts, grouped ]")
    folder = create_small_workspace(tmp_path_factory.mktemp("sections"), DEFINITIONS + PARTS, package)
    specs = folder / "specs" / "small" / "package.dhall"
    text = specs.read_text(encoding="utf-8")
    lowest = 'S.Summary::{ name = "lowest", lowest = 1, doc = "The lowest mean of a host" }'
    specs.write_text(text.replace("summaries = [ ", f"summaries = [ {lowest}, "), encoding="utf-8")
    for run, hosts in {**RUNS, **REPEATS, **OTHERS}.items():
        write_run(folder, run, hosts)
    return folder


def build(place: Path, report: str, options: str, form: str = "md") -> Path:
    """Return the folder of a build of a report over both versions."""
    runs = (f"--run={run}=runs/{run}" for run in RUNS)
    return run_build(place, report, f"{report}-{options}", *runs, *OPTIONS[options], "--to", form)


def run_build(place: Path, report: str, out: str, *words: str) -> Path:
    """Return the folder of a build."""
    result = run_assay("build", f"small/{report}", *words, "-o", out, "--cache", "cache", cwd=place)
    assert result.status == 0, result.err
    return place / out


def read(out: Path, name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((out / name).read_text(encoding="utf-8"))
    return data


@pytest.mark.parametrize("options", OPTIONS)
def test_tables_and_charts_are_those_of_a_report_without_parts(place: Path, options: str) -> None:
    of_sections, of_parts = (build(place, report, options) for report in ("requests", "parts"))
    of_short, of_written = (read(out, "document.json") for out in (of_sections, of_parts))
    part, *others = of_written["parts"]
    assert [{**item, "id": ""} for item in part["tables"]] == [{**item, "id": ""} for item in list_sections(of_short)]
    assert part["plots"] == list_charts(of_short)
    assert [item["title"] for item in others] == (["By host"] if options == "host" else [])
    changes = [read(out, "results.json")["judgement"]["metrics"] for out in (of_sections, of_parts)]
    assert changes[0] == changes[1]
    splits = [read(out, "results.json")["splits"] for out in (of_sections, of_parts)]
    assert {f"All/{name}": item for name, item in splits[0].items()} == splits[1]


def test_first_page_names_segments_of_parts(place: Path) -> None:
    """These names are links to rows; a page whose links lead nowhere is not laid out."""
    out = build(place, "parts", "plain", "pdf")
    (answer,) = read(out, "document.json")["answers"]
    (segments,) = (row["segments"] for group in answer["groups"] for row in group["rows"] if row["metric"] == "time")
    assert [(item["label"], item["section"]) for item in segments][:1] == [("write", "all-by-kind")]


def test_gate_judges_the_segments_of_parts(place: Path) -> None:
    out = build(place, "parts", "by")
    gate = run_assay("gate", out, "--once", "--segments", "--format", "json", cwd=place)
    assert gate.status == 4, gate.err
    names = {item["metric"] for item in gate.parse_json()["runs"][0]["changes"]}
    assert {"time", "time[kind=write]", "time[shard=-1]"} <= names


def test_cells_of_versions_lead_to_all_of_their_runs(place: Path) -> None:
    out = build(place, "parts", "repeats")
    result = run_assay("trace", out, "All/Times/time/new", "--format", "json", "--cache", "cache", cwd=place)
    assert result.status == 0, result.err
    assert [run["id"] for run in result.parse_json()["runs"]] == ["new-1", "new-2", "new-3"]
    assert run_assay("verify", out, "--cache", "cache", cwd=place).status == 0


def test_groups_have_versions_of_several_runs(place: Path) -> None:
    """A group has the tables of its runs alone; runs that calibrate one are in no table."""
    repeats = [f"--run=g:{name.partition('-')[0]}=runs/{name}" for name in (*RUNS, *REPEATS)]
    singles = [f"--run=h:{name}=runs/{run}" for name, run in zip(RUNS, OTHERS, strict=False)]
    calibration = [f"--calibrate=h:{name}=runs/{name}" for name in list(OTHERS)[2:]]
    out = run_build(place, "grouped", "grouped", *repeats, *singles, *calibration, "--to", "md")
    document = read(out, "document.json")
    assert document["title"] == "new against old"
    names = [f"g: {name} ({number})" for name in RUNS for number in (1, 2, 3)]
    assert document["manifest"]["header"] == ["", *names, "h: old", "h: new"]
    (expected,) = read(build(place, "parts", "repeats"), "document.json")["parts"]
    first, second = (part["tables"] for part in document["parts"])
    assert [(item["header"], item["rows"]) for item in first] == [
        (item["header"], item["rows"]) for item in expected["tables"]
    ]
    assert [item["header"] for item in second] == [item["header"] for item in expected["tables"]]
    results = read(out, "results.json")
    assert [item["runs"] for item in results["groups"]][1] == ["h:old", "h:new"]
    assert list(results["calibration"]) == ["h:more-9", "h:more-10"]
    assert "Values are means of the averages of runs: 3 of old, 3 of new." in first[0]["notes"]
    assert run_assay("verify", out, "--cache", "cache", cwd=place).status == 0
