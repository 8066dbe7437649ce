"""Long texts of a run: shortened where people read them, whole in results.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.util.escape import LONGEST, shorten
from tests.support.commands import run_assay
from tests.support.laboratory import DATE

COUNT = 200_000


@pytest.mark.parametrize("form", ["md", "html", "pdf"])
def test_long_label_is_shortened_in_a_report(form: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    assert run_assay("init", place).status == 0
    long_value = "y" * COUNT
    (place / "runs" / "1.0" / "meta.json").write_text(json.dumps({"version": long_value}), encoding="utf-8")
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    command = ("build", "service/comparison", *runs, "-o", "out", "--to", form, "--date", DATE)
    result = run_assay(*command, "--cache", tmp_path / "cache", cwd=place)
    assert (result.status, result.err) == (0, "")
    printed_label = f"{'y' * LONGEST}… ({COUNT} characters)"
    document = (place / "out" / "document.json").read_text(encoding="utf-8")
    assert printed_label in document
    assert "y" * (LONGEST + 1) not in document
    if form != "pdf":
        page = (place / "out" / f"report.{form}").read_text(encoding="utf-8")
        assert f"… ({COUNT} characters)" in page
        assert "y" * (LONGEST + 1) not in page
    for chart in (place / "out" / "charts").iterdir():
        assert "y" * (LONGEST + 1) not in chart.read_text(encoding="utf-8")
    results = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))
    assert [run["label"] for run in results["runs"]] == [long_value, "1.1"]


def test_short_text_is_printed_whole() -> None:
    assert shorten("y" * LONGEST) == "y" * LONGEST
    assert shorten("y" * (LONGEST + 1)) == "y" * LONGEST + f"… ({LONGEST + 1} characters)"
