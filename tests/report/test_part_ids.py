"""Ids of parts and of their tables: the anchors of their titles, of which no two are the same."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import run_assay

OLD = "parts = [ "
NEW = """parts = [ B.Part::{ title = "By host"
                          , blocks = B.sections [ R.section "Times (a)" times, R.section "Times a" times ] }
                , B.Part::{ title = "By host: Times a", blocks = B.sections [ R.section "Sizes again" sizes ] }
                , """


def test_titles_with_one_anchor_have_ids_of_their_own(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "service"
    assert run_assay("--cache", cache, "init", folder).status == 0
    reports = folder / "specs" / "service" / "reports.dhall"
    text = reports.read_text(encoding="utf-8")
    assert OLD in text
    reports.write_text(text.replace(OLD, NEW), encoding="utf-8")
    words = ("--run", "runs/1.0", "--run", "runs/1.1", "--by", "host", "-o", "out", "--to", "pdf", "--to", "html")
    result = run_assay("--cache", cache, "build", "service/comparison", *words, cwd=folder)
    assert result.status == 0, result.err
    parts = json.loads((folder / "out" / "document.json").read_text(encoding="utf-8"))["parts"]
    tables = [table["id"] for part in parts for table in part["tables"] if "metrics" in table]
    assert tables == ["times", "sizes", "by-host-times-a", "by-host-times-a-2", "by-host-times-a-sizes-again"]
    assert [part["id"] for part in parts if part["title"].startswith("By host")] == [
        "by-host", "by-host-times-a-3", "by-host-2"
    ]  # fmt: skip
