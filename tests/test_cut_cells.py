"""A number style that has no room for a value says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.commands import Done, assay


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace as `assay init` makes it, with responses a thousand times as large."""
    folder = tmp_path / "w"
    assert assay("init", folder).status == 0
    for log in (folder / "runs").rglob("log.jsonl"):
        log.write_text(re.sub(r'"bytes":(\d+)', r'"bytes":\g<1>000', log.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def build(folder: Path, cache: Path, style: str) -> Done:
    """The comparison of its two runs."""
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    command = ("build", "service/comparison", *runs, "--style", style, "--to", "md", "-o", "out")
    return assay("--cache", cache, *command, within=folder)


def test_a_report_says_which_values_its_style_cut(folder: Path, cache: Path) -> None:
    """Sizes lose their end in six characters; the other rows have no warning."""
    done = build(folder, cache, "org-2023")
    document, results = (
        json.loads((folder / "out" / name).read_text(encoding="utf-8")) for name in ("document.json", "results.json")
    )
    ((_, *cells),) = (
        row for section in document["sections"] for row in section["rows"] if row[0].startswith("Size of the response")
    )
    base, value = (f"{run['average']:.0f}" for run in results["metrics"]["response_size"]["runs"].values())
    assert cells[:2] == [base[:6], value[:6]]
    said = (
        "The number style org-2023 has no room for values of Size of the response "
        f"({cells[0]} for {base}, {cells[1]} for {value}): its cells and differences do not tell them."
    )
    assert document["warnings"] == [said]
    assert (done.status, done.err) == (0, f"warning: {said}\n")


def test_other_styles_have_room(folder: Path, cache: Path) -> None:
    done = build(folder, cache, "three-digits")
    assert (done.status, done.err) == (0, "")
