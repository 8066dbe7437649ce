"""Test the note on metrics of a table that have no figure: it names a few, and counts more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.documents import list_sections
from tests.support.small import create_small_workspace, write_logs

SPECS = """
let row = G.eachRecord {{ name = "rows", event = began, fields = [ fa ], doc = "Row" }}
let version = S.Constant::{{ name = "version", files = [ "meta.json" ], path = [ "version" ], type = "text"
      , doc = "Version" }}
let log = source "log" // {{ constants = [ version ] }}
let m = \\(id : Text) -> metric id "rows" (X.column (G.columnOf fa)) U.none
let ms = [ {metrics} ]
let R = S.report
let report =
      S.Report::{{ name = "rows", title = "Rows", intro = "", label = version.name, summary = "all", style = "prefixed"
      , manifest = [ R.fact "Version" version (R.text 0) ], sections = [ R.section "All" ms ]
      , charts = [ R.cdf (m "m0") ], dictionary = [ R.group "All" ms ] }}
"""
NOTE = "`charts` of the report has no figure of"
PACKAGE = """sources = [ log ], events = [ began ], relations = [ row.relation ], grains = [ row.grain ], metrics = ms,
  reports = [ report ]"""


@pytest.mark.parametrize(
    ("number", "note"),
    [
        (2, f"{NOTE} m1."),
        (6, f"{NOTE} m1, m2, m3, m4, m5."),
        (7, f"{NOTE} 6 of 7 metrics."),
    ],
)
def test_note_counts_more_than_five_metrics(number: int, note: str, tmp_path: Path, cache: Path) -> None:
    metrics = ", ".join(f'm "m{index}"' for index in range(number))
    create_small_workspace(tmp_path, SPECS.format(metrics=metrics), PACKAGE)
    write_logs(
        tmp_path, "one", {"h-1/log.jsonl": [(1.0, "began", {"id": "x", "a": 3}), (2.0, "began", {"id": "y", "a": 4})]}
    )
    (tmp_path / "runs/one/meta.json").write_text('{"version": "1"}', encoding="utf-8")
    words = ("build", "small/rows", "--run", "runs/one", "--to", "md", "-o", "out", "--cache", cache)
    result = run_assay(*words, cwd=tmp_path)
    assert result.status == 0, result.err
    (section,) = list_sections(json.loads((tmp_path / "out/document.json").read_text(encoding="utf-8")))
    assert [item for item in section["notes"] if item.startswith(NOTE)] == [note]
