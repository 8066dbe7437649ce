"""Test what a report of proposed specs prints alike: units of rows and figures, alignment, warnings, reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.documents import list_charts

TIME = "2026-03-01T10:00:00Z"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Create a workspace with two runs: all records have one time, and those of `few` have no rerank."""
    folder = tmp_path_factory.mktemp("uniform")
    for name in ("few", "many"):
        records = [
            {"ts": TIME, "question": f"q {number * 7919}", "total_ms": (number % 7 + 1) / 10}
            | ({"rerank_ms": (number % 3 + 1) / 10} if name == "many" else {})
            for number in range(40)
        ]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in records), encoding="utf-8")
    logs = [folder / "few.jsonl", folder / "many.jsonl"]
    created = run_assay("--cache", cache, "init", folder / "place", "--from", *logs)
    assert created.status == 0, created.err
    return folder / "place"


@pytest.fixture(scope="module")
def text(place: Path, cache: Path) -> str:
    """Build the comparison of both runs as Markdown and as a page."""
    runs = ("--run", "runs/few", "--run", "runs/many")
    built = run_assay("--cache", cache, "build", *runs, "-o", "out", "--to", "md", "--to", "html", cwd=place)
    assert built.status == 0, built.err
    return (place / "out" / "report.md").read_text(encoding="utf-8")


def test_figure_has_the_unit_of_the_row(text: str, place: Path) -> None:
    assert "| [Total, µs](#metric-total_ms) | 3" in text
    document = json.loads((place / "out" / "document.json").read_text(encoding="utf-8"))
    (chart,) = (item for item in list_charts(document) if item["id"] == "total_ms")
    assert (chart["unit"], chart["x_label"]) == ("µs", "Total, µs")
    assert [line["points"][-1][:2] for line in chart["series"]] == [[pytest.approx(700), 1]] * 2


def test_columns_of_counts_and_hashes_have_one_alignment(text: str) -> None:
    rules = dict(zip(text.splitlines(), text.splitlines()[1:], strict=False))
    assert "| Sample count | 0–40 | 40 |" in text
    assert rules["|  | few | many | Δ | Δ% | 95 % | Verdict | Fig. |"] == (
        "| --- | --: | --: | --: | --: | --: | --- | --: |"
    )
    assert {rule for line, rule in rules.items() if line.endswith("| Definition |")} == {
        "| --- | --- | --- | --- | --: | --- |"
    }


def test_reason_and_warning_are_printed_once(text: str, place: Path) -> None:
    assert "1 no interval, because all samples of a run have the same time" in text
    warnings = text.partition('id="warnings"></a>Warnings')[2].partition("## ")[0]
    assert warnings.count("no samples of") == 1
    assert "Dots are changes" not in (place / "out" / "report.html").read_text(encoding="utf-8")


def test_results_without_samples_are_null(text: str, place: Path) -> None:
    assert text
    metrics = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))["metrics"]
    result = metrics["rerank_ms"]["runs"]["few"]
    assert (result["size"], result["average"], result["max"], result["centiles"]) == (0, None, None, [])


def test_only_run_has_no_table_of_its_name(place: Path, cache: Path) -> None:
    built = run_assay("--cache", cache, "build", "--run", "runs/few", "-o", "one", "--to", "md", cwd=place)
    assert built.status == 0, built.err
    text = (place / "one" / "report.md").read_text(encoding="utf-8")
    assert "Overall run parameters" not in text
    # Without samples, the row has the unit of its neighbour.
    assert "| [Rerank, µs](#metric-rerank_ms) | —" in text
