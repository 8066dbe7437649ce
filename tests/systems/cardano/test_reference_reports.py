"""Test that reports equal the incumbent's reports of the same runs, cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import CARDANO, load

TITLES = ("Resource Usage", "Anomaly control", "Forging", "Individual peer propagation", "End-to-end propagation")


@pytest.fixture(params=("two", "three"))
def reports(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return our document and the incumbent's report, of two and of three runs."""
    folder: Path = request.getfixturevalue(request.param)
    return load(folder / "document.json"), load(CARDANO / "reports" / f"{request.param}.json")


def test_manifest_equals_the_reference(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    assert {key: ours["manifest"][key] for key in theirs["manifest"]} == theirs["manifest"]
    assert len(ours["manifest"]["rows"]) == 45


@pytest.mark.parametrize("index", range(len(TITLES)), ids=TITLES)
def test_table_equals_the_reference(reports: tuple[dict[str, Any], dict[str, Any]], index: int) -> None:
    ours, theirs = reports
    table = {key: ours["sections"][index][key] for key in ("title", "header", "rows")}
    assert table == theirs["sections"][index]
    assert table["title"] == TITLES[index]


def test_report_has_no_other_table(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    assert [item["title"] for item in ours["sections"]] == [item["title"] for item in theirs["sections"]]


def test_plots_have_same_metrics_in_same_order(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    assert [item["id"] for item in ours["charts"]] == [item["deField"] for item in theirs["charts"]]
    assert [item["title"] for item in ours["charts"]] == [item["deShortDesc"] for item in theirs["charts"]]


def test_dictionary_has_the_same_metrics(reports: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = reports
    mine = [[(entry["id"], entry["name"], entry["unit"]) for entry in group["entries"]] for group in ours["dictionary"]]
    groups = [theirs["dictionary"][name] for name in ("dBlockProp", "dClusterPerf")]
    expected = [[(name, entry["deShortDesc"], entry["deUnit"]) for name, entry in group.items()] for group in groups]
    assert [sorted(group) for group in mine] == [sorted(group) for group in expected]
    assert [len(group) for group in mine] == [32, 23]
