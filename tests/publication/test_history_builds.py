"""Test builds of histories: errors, warnings in the report, and changes that new editions cause."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.compare_reference import load_json
from tests.publication.test_regenerated_reports import NEXT
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import FORMER, format_message, read_contents, write_former_outputs
from tests.support.workspaces import copy_workspace

PUBLISHED = ROOT / "golden" / "published"
PLAIN = PUBLISHED / "release-10.4.1.plutus.json"
LATER_RELEASE = PUBLISHED / "release-10.5.0.plutus.json"
BREAKS = "specs/cardano/breaks.dhall"
HISTORIES = "specs/cardano/histories.dhall"


def build(
    out: Path, cache: Path, *options: str | Path, report: str = "cardano/history", root: Path = ROOT
) -> CommandResult:
    return run_assay("build", report, "-o", out, "--cache", cache, *options, cwd=root)


def list_publication_options(*places: Path) -> list[str | Path]:
    return [word for place in places for word in ("--publication", place)]


def write_changed_publication(
    folder: Path, change: Callable[[Any], object], source: Path = PLAIN, name: str = "changed.json"
) -> Path:
    """Write a changed publication."""
    data = copy.deepcopy(load_json(source))
    change(data)
    place = folder / name
    place.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return place


# Wrong use


# Wrong data


def read_refusal(result: CommandResult, out: Path, places: dict[str, Path]) -> str:
    """Return the message of a failed build; check that it left the earlier output."""
    assert result.status == 1
    assert read_contents(out) == FORMER
    return format_message(result, places)


def test_two_files_of_one_publication_are_refused(tmp_path: Path, cache: Path) -> None:
    file, out = write_changed_publication(tmp_path, dict, name="again.json"), tmp_path / "out"
    write_former_outputs(out)
    places = {"AGAIN": file, "PUBLISHED": PUBLISHED}
    assert read_refusal(build(out, cache, *list_publication_options(PUBLISHED, file)), out, places) == (
        "error[same-publication]: two files are the same publication: 2025-05-05, 10.4.0 against 10.3.0, "
        "Plutus countdown loop\n"
        "  note: PUBLISHED/release-10.4.1.plutus.json\n"
        "  note: AGAIN\n"
        "  hint: leave one of them out\n"
    )


# Breaks


def test_breaks_that_no_publication_has_are_warnings(tmp_path: Path, cache: Path) -> None:
    workspace_root = copy_workspace(
        tmp_path / "workspace",
        (BREAKS, 'run = "10.2.0"', 'run = "10.2.9"'),
        (BREAKS, 'since = "2024-03-10"', 'since = "2026-03-10"'),
        (HISTORIES, "contents.sections2024", "contents.sections"),
    )
    result = build(tmp_path / "out", cache, *list_publication_options(PUBLISHED), root=workspace_root)
    warnings = [
        "The break of cdfPeerAnnounce since 2025-01-30 names the run 10.2.9, which the first publications since that "
        "day lack.",
        "The break of cdfSpanLensCpu since 2026-03-10 lies outside of the publications, which are from 2023-12-05 to "
        "2026-02-09.",
        "NetRd: no publication has it.",
        "NetWr: no publication has it.",
    ]
    printed = [*warnings[:2], "NetRd, NetWr: no publication has it."]
    assert (result.status, result.err) == (0, "".join(f"warning: {text}\n" for text in printed))
    document = load_json(tmp_path / "out" / "document.json")
    assert document["warnings"] == warnings
    plots = {plot["id"]: plot for gallery in document["parts"] for plot in gallery["plots"]}
    assert "NetRd" not in plots
    # A break without its run precedes the whole publication; a future one is not shown.
    assert {row[7] for row in plots["cdfPeerAnnounce"]["rows"] if row[1] == "break"} == {"B", "E"}
    places = [row[2] for row in plots["cdfPeerAnnounce"]["rows"] if row[7] == "B"]
    assert places == [float(int(places[0]))] * 2
    assert {row[7] for row in plots["cdfSpanLensCpu"]["rows"] if row[1] == "break"} == {"A", "E"}


def test_new_edition_makes_a_break(tmp_path: Path, cache: Path) -> None:
    last = "in  [ first, filesystem, dreps, shorter, stuffed, typst ]\n"
    workspace_root = copy_workspace(tmp_path / "workspace", ("specs/cardano/editions.dhall", last, NEXT))

    def rename_rows(data: Any) -> None:
        data["date"] = "2026-11-02"
        data["title"] = "10.7 against 10.6"
        rows = {row["label"]: row for section in data["sections"] for row in section["rows"]}
        rows["Process CPU usage"].update(label="CPU of the process", unit="percent")
        rows["Block size"]["unit"] = "bytes"

    def rename_rows_and_redate(data: Any) -> None:
        rename_rows(data)
        data.update(date="2026-12-24", title="10.8 against 10.7")

    newest = PUBLISHED / "release-10.5.4.plutus.json"
    files = [
        write_changed_publication(tmp_path, rename_rows, newest),
        write_changed_publication(tmp_path, rename_rows_and_redate, newest, "later.json"),
    ]
    result = build(tmp_path / "out", cache, *list_publication_options(PUBLISHED, *files), root=workspace_root)
    assert (result.status, result.err) == (0, "")
    (_, form) = (item for item in load_json(tmp_path / "out" / "results.json")["breaks"] if item["kind"] == "form")
    assert form == {
        "key": "G",
        "kind": "form",
        "since": "2026-11-02",
        "run": "",
        "notes": [
            {"metrics": ["CentiCpu"], "doc": "The name is “CPU of the process” instead of “Process CPU usage”."},
            {"metrics": ["CentiCpu"], "doc": "The unit is percent instead of %."},
            {"metrics": ["cdfBlockSize"], "doc": "The unit is bytes instead of Bytes."},
        ],
    }
    document = load_json(tmp_path / "out" / "document.json")
    assert document["date"] == "2026-12-24"
    plots = {plot["id"]: plot for gallery in document["parts"] for plot in gallery["plots"]}
    assert plots["CentiCpu"]["title"] == "CPU of the process, percent"
    break_rows = [(row[0], row[7]) for row in plots["CentiCpu"]["rows"] if row[1] == "break"]
    assert break_rows == [("Plutus countdown loop", "F"), ("Plutus countdown loop", "G"), ("value-only", "F")]


def test_break_within_the_first_publication_is_no_warning(tmp_path: Path, cache: Path) -> None:
    result = build(tmp_path / "out", cache, *list_publication_options(LATER_RELEASE))
    assert result.status == 0
    assert "cdfForgerBlkCtx" not in result.err
    assert result.err.count("lies outside of the publications, which are from 2025-07-01 to 2025-07-01.\n") == 3
    document = load_json(tmp_path / "out" / "document.json")
    assert "D" in [row[7] for row in next(
        plot for gallery in document["parts"] for plot in gallery["plots"] if plot["id"] == "cdfForgerBlkCtx"
    )["rows"]]  # fmt: skip
