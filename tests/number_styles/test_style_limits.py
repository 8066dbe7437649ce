"""Test warnings of number styles without room for a value or decimals for a difference."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assay.number_styles.row import is_imprecise_percent
from tests.support.cases import CARDANO
from tests.support.commands import CommandResult, run_assay
from tests.support.documents import list_sections


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a workspace whose responses are 1000 times larger."""
    folder = tmp_path / "w"
    assert run_assay("init", folder).status == 0
    for log in (folder / "runs").rglob("log.jsonl"):
        log.write_text(re.sub(r'"bytes":(\d+)', r'"bytes":\g<1>000', log.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def build(folder: Path, cache: Path, style: str) -> CommandResult:
    """Build the comparison of its two runs."""
    runs = ("--run", "runs/1.0", "--run", "runs/1.1")
    command = ("build", "service/comparison", *runs, "--style", style, "--to", "md", "-o", "out")
    return run_assay("--cache", cache, *command, cwd=folder)


def test_report_names_values_that_its_style_cut(folder: Path, cache: Path) -> None:
    """Sizes lose their last digits in six characters; other rows have no warning."""
    result = build(folder, cache, "org-2023")
    document, results = (
        json.loads((folder / "out" / name).read_text(encoding="utf-8")) for name in ("document.json", "results.json")
    )
    ((_, *cells),) = (
        row
        for section in list_sections(document)
        for row in section["rows"]
        if row[0].startswith("Size of the response")
    )
    base, value = (f"{run['average']:.0f}" for run in results["metrics"]["response_size"]["runs"].values())
    assert cells[:2] == [base[:6], value[:6]]
    message = (
        "The number style org-2023 has too few digits for values of Size of the response "
        f"({cells[0]} for {base}, {cells[1]} for {value}): its cells and differences are wrong."
    )
    assert document["warnings"] == [message]
    assert (result.status, result.err) == (0, f"warning: {message}\n")


def test_other_styles_cut_nothing(folder: Path, cache: Path) -> None:
    result = build(folder, cache, "three-digits")
    assert (result.status, result.err) == (0, "")


def compute_change(base: float, value: float) -> float:
    """Return the absolute change in percent."""
    return abs(100 * (value - base) / base)


@pytest.mark.parametrize(
    ("percent", "base", "value", "expected"),
    [
        ("1.0", 1.0, 1.0, False),
        ("2.0", 1.0, 1.0, True),
        ("-81", 10.0, 19.0, False),
        ("80", 10.0, 19.0, True),
        ("99", 10.0, 19.0, False),
        ("100", 10.0, 19.0, True),
        ("100", 0.0, 1.9, False),
    ],
)
def test_percent_is_imprecise_beyond_a_tenth_and_a_point(
    percent: str, base: float, value: float, expected: bool
) -> None:
    assert is_imprecise_percent(percent, base, value) == expected


@pytest.mark.parametrize(("style", "least_count"), [("typst-2026", 3), ("org-2023", 10), ("three-digits", 0)])
def test_report_names_changes_lost_in_rounding(style: str, least_count: int, cache: Path, tmp_path: Path) -> None:
    """Printed percentages that are off by a tenth and a point: 7.9e-5 to 9.5e-5 prints as 0 %."""
    runs = [part for name in ("baseline", "candidate") for part in ("--run", CARDANO / name / "run")]
    command = ("build", "cardano/comparison", *runs, "--style", style, "--to", "md", "--to", "html")
    assert run_assay(*command, "-o", tmp_path / "out", "--cache", cache).status == 0
    document, results = (
        json.loads((tmp_path / "out" / name).read_text(encoding="utf-8")) for name in ("document.json", "results.json")
    )
    rounded_labels = []
    for section in list_sections(document):
        for name, (label, _, _, _, printed_percent, *_) in zip(section["metrics"], section["rows"], strict=True):
            if name and printed_percent not in ("nan", "NaN"):
                base, value = (run["average"] for run in results["metrics"][name]["runs"].values())
                true, printed_change = compute_change(base, value) if base else 0, abs(float(printed_percent))
                if abs(true - printed_change) > max(1, true / 10):
                    rounded_labels.append(label.rpartition(", ")[0])
    assert len(rounded_labels) >= least_count
    assert bool(rounded_labels) == bool(least_count)
    sentence = document.get("differences", "")
    if rounded_labels:
        label_list = f"{', '.join(rounded_labels[:-1])} and {rounded_labels[-1]}"
        assert sentence == (
            f"The number style {style} has too few decimals for differences of {label_list}: their Δ and Δ% "
            "do not show the change."
        )
    else:
        assert sentence == ""
    for form in ("md", "html"):
        assert ("has too few decimals" in (tmp_path / f"out/report.{form}").read_text(encoding="utf-8")) == bool(
            rounded_labels
        )
