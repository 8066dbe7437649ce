"""Publication files that are wrong: the message names the file, the section and the row; editions are data."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import load
from tests.support.commands import assay
from tests.support.laboratory import ROOT
from tests.support.outcomes import FORMER, contents, former_outputs
from tests.support.workspaces import edited, workspace

PUBLISHED = ROOT / "golden" / "published"
PLAIN = load(PUBLISHED / "release-10.4.1.plutus.json")
Change = Callable[[Any], object]


def cpu(data: Any) -> Any:
    """The row of the CPU's usage."""
    return data["sections"][0]["rows"][1]


def published(folder: Path, change: Change, name: str = "changed.json") -> Path:
    """The publication of 10.4.1, changed."""
    data = copy.deepcopy(PLAIN)
    change(data)
    place = folder / name
    place.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return place


CASES: dict[str, tuple[Change, str]] = {
    "lacks a value": (
        lambda data: cpu(data)["values"].pop(),
        """\
error[publication]: section `Resource Usage`, row `Process CPU usage`: `values` has 1 cell where 2 are due
  at FILE:360:6
  expected: 2 cells
  found:    5.6714
""",
    ),
    "has a null in the place of a value": (
        lambda data: cpu(data)["values"].__setitem__(1, None),
        """\
error[publication]: section `Resource Usage`, row `Process CPU usage`: a value is missing among `values`
  at FILE:360:6
  expected: a printed cell
  found:    null
""",
    ),
    "has a text in the place of a number": (
        lambda data: cpu(data)["deltas"].__setitem__(0, "fast"),
        """\
error[publication]: section `Resource Usage`, row `Process CPU usage`: a cell of `deltas` is not a number
  at FILE:364:6
  expected: a printed number, — or nan or NaN
  found:    fast
""",
    ),
    "has one column more": (
        lambda data: data["sections"][1]["columns"].append("10.5.0"),
        """\
error[publication]: section `Anomaly control` has other columns than the publication's runs give it
  at FILE:534:4
  expected: 10.3.0 | 10.4.0 | Δ | Δ%
  found:    10.3.0 | 10.4.0 | Δ | Δ% | 10.5.0
""",
    ),
    "has a label that no edition knows": (
        lambda data: cpu(data).update(label="Process CPU use"),
        """\
error[publication]: section `Resource Usage` has a row that edition `2025-02` does not know: `Process CPU use`
  at FILE:358:15
  hint: did you mean `Process CPU usage`?

error[publication]: section `Resource Usage` lacks a row of edition `2025-02`: `Process CPU usage`
  at FILE:334:13
""",
    ),
    "has a row twice": (
        lambda data: data["sections"][0]["rows"].append(cpu(data)),
        """\
error[publication]: section `Resource Usage` has 2 rows called `Process CPU usage`
  at FILE:358:15
""",
    ),
    "has a row in another unit": (
        lambda data: cpu(data).update(unit="ms"),
        """\
error[publication]: section `Resource Usage`, row `Process CPU usage`: the unit is not that of edition `2025-02`
  at FILE:359:6
  expected: %
  found:    ms
""",
    ),
    "lacks a section": (
        lambda data: data["sections"].pop(),
        """\
error[publication]: the publication lacks a section of edition `2025-02`: `End-to-end propagation`
  at FILE:332:2
""",
    ),
    "lacks a row of the manifest": (
        lambda data: data["manifest"].pop(3),
        """\
error[publication]: the manifest lacks a row of edition `2025-02`: `Identifier`
  at FILE:15:2
""",
    ),
    "has a manifest of one run": (
        lambda data: data["manifest"][3]["values"].pop(),
        """\
error[publication]: manifest, row `Identifier`: `values` has 1 cell where 2 are due
  at FILE:39:4
  expected: 2 cells
  found:    10.3.0
""",
    ),
    "has no runs": (
        lambda data: data.pop("runs"),
        """\
error[publication]: `runs` of the publication is missing
  at FILE
  expected: a list
  found:    null
""",
    ),
    "has a bad date": (
        lambda data: data.update(date="2025-02-30"),
        """\
error[publication]: `date` of the publication does not begin with a day that exists
  at FILE:6:2
  expected: YYYY-MM-DD
  found:    2025-02-30
""",
    ),
    "is in another edition than its day says": (
        lambda data: data.update(date="2024-10-01"),
        """\
error[other-edition]: the publication of 2024-10-01 is not in edition `2024-09`
  at FILE:6:2
  note: the manifest has a row that edition `2024-09` does not know: `Stuffed UTxO size`
  note: the manifest lacks a row of edition `2024-09`: `Starting UTxO set size`
  note: the manifest lacks a row of edition `2024-09`: `Log text lines emitted per host`
  hint: everything is as in edition `2025-02`: --edition 2025-02
""",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_publication_is_refused_that(case: str, tmp_path: Path, cache: Path) -> None:
    change, expected = CASES[case]
    file, out = published(tmp_path, change), tmp_path / "out"
    former_outputs(out)
    done = assay("regenerate", file, "-o", out, "--cache", cache)
    assert (done.status, done.out) == (1, "")
    assert done.err.replace(str(file), "FILE") == expected
    assert contents(out) == FORMER


def test_a_file_that_is_not_there_or_no_json_is_told(tmp_path: Path, cache: Path) -> None:
    done = assay("regenerate", tmp_path / "none.json", "-o", tmp_path / "out", "--cache", cache)
    assert done.status == 1
    assert done.err == (
        f"error[publication]: the publication cannot be read: No such file or directory: {tmp_path}/none.json\n"
    )
    (tmp_path / "cut.json").write_text('{\n "title": ')
    done = assay("regenerate", tmp_path / "cut.json", "-o", tmp_path / "out", "--cache", cache)
    assert done.err == (f"error[publication]: cut.json is not JSON: Expecting value\n  at {tmp_path}/cut.json:2:11\n")
    assert not (tmp_path / "out").exists()


def test_unknown_editions_and_reports_are_usage_errors(tmp_path: Path, cache: Path) -> None:
    file = PUBLISHED / "release-10.4.1.plutus.json"
    common = ("regenerate", file, "-o", tmp_path / "out", "--cache", cache)
    done = assay(*common, "--edition", "2025-03")
    assert (done.status, done.err) == (
        2,
        "error[unknown-edition]: there is no edition `2025-03`\n"
        "  hint: did you mean `2025-02` or `2025-01` or `2024-03`?\n",
    )
    assert assay(*common, "--report", "cardano/comparisons").status == 2


@pytest.mark.parametrize(("cell", "value"), [("deltas", "-0.115"), ("delta_pcts", "-3")])
def test_a_printed_delta_that_the_values_do_not_give_is_a_warning(
    cell: str, value: str, tmp_path: Path, cache: Path
) -> None:
    file = published(tmp_path, lambda data: cpu(data)[cell].__setitem__(0, value))
    done = assay("regenerate", file, "-o", tmp_path / "out", "--cache", cache)
    assert done.status == 0
    delta, percent = (value, "-2") if cell == "deltas" else ("-0.114", value)
    assert done.err == (
        f"warning: Process CPU usage: the publication prints Δ {delta} and Δ% {percent} for 5.6714 and 5.5574, "
        "which the number style org-2023 does not.\n"
    )
    row = load(tmp_path / "out" / "document.json")["sections"][0]["rows"][1]
    assert row == ["Process CPU usage, %", "5.6714", "5.5574", "-0.114", "-2"]


def test_other_words_than_those_of_the_specs_are_a_warning(tmp_path: Path, cache: Path) -> None:
    def change(data: Any) -> None:
        data["dictionary"]["Cluster performance metrics"][0]["description"] = "Allocations"
        data["charts"][0]["caption"] = "CPU"

    done = assay("regenerate", published(tmp_path, change), "-o", tmp_path / "out", "--cache", cache)
    assert (done.status, done.err) == (
        0,
        "warning: Alloc: the publication explains it otherwise: RTS alloc rate: Allocations\n"
        "warning: CentiCpu: the publication captions its chart otherwise: CPU\n",
    )


NEXT = """\
let next =
          typst
      //  { name = "2026-10"
          , since = "2026-10-01"
          , labels = [ R.labelled machine.cpu "CPU of the process" "percent", R.inUnit anomaly.size "bytes" ]
          , doc = "Units in words"
          }

in  [ first, filesystem, dreps, shorter, stuffed, typst, next ]
"""


def test_the_next_edition_is_an_edit_of_the_specs(tmp_path: Path, cache: Path) -> None:
    within = workspace(tmp_path / "workspace")
    last = "in  [ first, filesystem, dreps, shorter, stuffed, typst ]\n"
    edited(within / "specs" / "cardano" / "editions.dhall", last, NEXT)

    def renamed(data: Any) -> None:
        data["date"] = "2026-11-02"
        rows = {row["label"]: row for section in data["sections"] for row in section["rows"]}
        rows["Process CPU usage"].update(label="CPU of the process", unit="percent")
        rows["Block size"]["unit"] = "bytes"

    data = load(PUBLISHED / "release-10.5.4.plutus.json")
    renamed(data)
    file = tmp_path / "release-10.7.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    done = assay("regenerate", file, "-o", tmp_path / "out", "--cache", cache, within=within)
    assert done.status == 0, done.err
    document = load(tmp_path / "out" / "document.json")
    labels = [row[0] for section in document["sections"] for row in section["rows"]]
    assert "CPU of the process, percent" in labels
    assert "Block size, bytes" in labels
    assert dict(document["provenance"])["Edition"] == "2026-10: Units in words"
    names = {entry["id"]: entry["name"] for group in document["dictionary"] for entry in group["entries"]}
    assert names["CentiCpu"] == "CPU of the process"
    # In the repository's own specs the same file is in no edition.
    assert assay("regenerate", file, "-o", tmp_path / "other", "--cache", cache).status == 1


SLIPS = {
    "a day that does not exist": (
        'since = "2026-02-01"',
        'since = "2026-02-31"',
        "edition `2026-02` of report `comparison` begins on a day that does not exist",
    ),
    "days out of order": (
        'since = "2026-02-01"',
        'since = "2024-02-01"',
        "edition `2026-02` of report `comparison` begins no later than the one before it",
    ),
    "a name twice": (
        'name = "2026-02"',
        'name = "2025-02"',
        "2 editions of report `comparison` are called `2025-02`",
    ),
    "a style that is none": (
        'style = "typst-2026"',
        'style = "typst-2027"',
        "edition `2026-02` of report `comparison` is in a number style that does not exist: `typst-2027`",
    ),
    "two rows of one label": (
        "labels = [] : List R.Label",
        'labels = [ R.named machine.cpu "RTS heap size" ]',
        "edition `2026-02` of report `comparison` has 2 rows called `RTS heap size` in Resource Usage",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_check_finds_an_edition_with(slip: str, tmp_path: Path, cache: Path) -> None:
    text, replacement, message = SLIPS[slip]
    within = workspace(tmp_path / "workspace", ("specs/cardano/editions.dhall", text, replacement))
    done = assay("check", "--system", "cardano", "--cache", cache, within=within)
    assert done.status == 1
    assert f"]: {message}\n" in done.err
