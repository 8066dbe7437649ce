"""Published reports made again: other words are warnings, editions are data."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.compare_reference import load_json
from tests.support.commands import run_assay
from tests.support.documents import list_sections
from tests.support.laboratory import ROOT
from tests.support.workspaces import copy_workspace, edit_file

PUBLISHED = ROOT / "golden" / "published"
PLAIN = load_json(PUBLISHED / "release-10.4.1.plutus.json")
Change = Callable[[Any], object]


def get_cpu_row(data: Any) -> Any:
    """Return the row of the CPU's usage."""
    return data["sections"][0]["rows"][1]


def write_changed_publication(folder: Path, change: Change, name: str = "changed.json") -> Path:
    """Write the publication of 10.4.1 with a change."""
    data = copy.deepcopy(PLAIN)
    change(data)
    place = folder / name
    place.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return place


def test_texts_that_differ_from_the_specs_are_a_warning(tmp_path: Path, cache: Path) -> None:
    def change(data: Any) -> None:
        data["dictionary"]["Cluster performance metrics"][0]["description"] = "Allocations"
        data["charts"][0]["caption"] = "CPU"

    result = run_assay(
        "regenerate", write_changed_publication(tmp_path, change), "-o", tmp_path / "out", "--cache", cache
    )
    assert (result.status, result.err) == (
        0,
        "warning: Alloc: the publication has another explanation: RTS alloc rate: Allocations\n"
        "warning: CentiCpu: the publication has another caption for its chart: CPU\n",
    )


NEXT = """\
let next =
          typst
      //  { name = "2026-10"
          , since = "2026-10-01"
          , labels =
                typst.labels
              # [ R.labelled machine.cpu "CPU of the process" "percent", R.inUnit anomaly.size "bytes" ]
          , doc = "Units in words"
          }

in  [ first, filesystem, dreps, shorter, stuffed, typst, next ]
"""


def test_next_edition_is_an_edit_of_the_specs(tmp_path: Path, cache: Path) -> None:
    workspace_root = copy_workspace(tmp_path / "workspace")
    last = "in  [ first, filesystem, dreps, shorter, stuffed, typst ]\n"
    edit_file(workspace_root / "specs" / "cardano" / "editions.dhall", last, NEXT)

    def rename_rows(data: Any) -> None:
        data["date"] = "2026-11-02"
        rows = {row["label"]: row for section in data["sections"] for row in section["rows"]}
        rows["Process CPU usage"].update(label="CPU of the process", unit="percent")
        rows["Block size"]["unit"] = "bytes"

    data = load_json(PUBLISHED / "release-10.5.4.plutus.json")
    rename_rows(data)
    file = tmp_path / "release-10.7.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    result = run_assay("regenerate", file, "-o", tmp_path / "out", "--cache", cache, cwd=workspace_root)
    assert result.status == 0, result.err
    document = load_json(tmp_path / "out" / "document.json")
    labels = [row[0] for section in list_sections(document) for row in section["rows"]]
    assert "CPU of the process, percent" in labels
    assert "Block size, bytes" in labels
    assert dict(document["provenance"])["Edition"] == "2026-10: Units in words"
    names = {entry["id"]: entry["name"] for group in document["dictionary"] for entry in group["entries"]}
    assert names["CentiCpu"] == "CPU of the process"
    # In the repository's own specs the same file is in no edition.
    assert run_assay("regenerate", file, "-o", tmp_path / "other", "--cache", cache).status == 1
