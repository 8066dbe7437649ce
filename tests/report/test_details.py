"""Test the details of web pages: samples or values, events, constants and SQL, also by phase."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.app.compute.sql_files import HEAD
from tests.report.test_html import parse_page, read_data
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

GOLDEN = ROOT / "golden"
RUNS = {
    "antelope/upgrade": GOLDEN / "antelope" / "upgrade" / "run",
    "antelope/endurance": GOLDEN / "cometbft" / "run",
    "antelope/harness": GOLDEN / "antelope" / "harness",
    "cometbft/qa": GOLDEN / "cometbft" / "run",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> dict[str, Path]:
    """Build the reports as web pages; return them by name."""
    pages = {}
    for name, run in RUNS.items():
        pages[name] = tmp_path_factory.mktemp("page") / "out"
        result = run_assay("build", name, "--run", run, "--to", "html", "-o", pages[name], "--cache", cache)
        assert result.status == 0, result.err
    return pages


def read_page_data(folder: Path) -> tuple[dict[str, Any], set[str]]:
    """Return the page's data of each entry, and the entries that its numbers link to."""
    page = parse_page((folder / "report.html").read_text(encoding="utf-8"))
    linked_ids = {
        attributes["data-metric"]
        for _, attributes in page.elements
        if attributes.get("class") == "value" and attributes.get("data-metric")
    }
    return read_data(page), linked_ids


@pytest.mark.parametrize("name", RUNS)
def test_every_metric_has_samples_events_and_sql(built: dict[str, Path], name: str) -> None:
    data, linked_ids = read_page_data(built[name])
    metrics = {
        identifier: metric
        for identifier, metric in data["metrics"].items()
        if identifier in linked_ids and not metric.get("term")
    }
    assert metrics
    for identifier, metric in metrics.items():
        assert metric["samples"], identifier
        assert metric["events"], identifier
        assert metric["sql"], identifier
        check_sql(built[name], metric, identifier)
        header = metric["header"] or data["samples"]
        assert all(len(row) == len(header) for row in metric["samples"]), identifier


def check_sql(folder: Path, metric: dict[str, Any], identifier: str) -> None:
    """Check the SQL of a metric by its files; of a statement for several metrics it is the part with its own."""
    for file, sql in zip(metric["file"].split(", "), metric["sql"].split("\n\n"), strict=True):
        text = (folder / file).read_text(encoding="utf-8").removeprefix(HEAD).removesuffix("\n")
        if "/rows/quantiles-" in file or "/rows/cells-" in file:
            assert f"'{identifier}'" in text, (file, identifier)
            assert f"['{identifier}']" in " ".join(sql.split()), (file, identifier)
        else:
            assert sql == text, (file, identifier)


def test_phase_metrics_have_a_distribution_per_phase(built: dict[str, Path]) -> None:
    data, linked_ids = read_page_data(built["antelope/upgrade"])
    results = json.loads((built["antelope/upgrade"] / "results.json").read_text(encoding="utf-8"))["metrics"]
    metric = data["metrics"]["cpu_usage"]
    assert "cpu_usage" in linked_ids
    assert metric["header"] == ["Run", "Samples", "Average", "Median", "Deviation", "Least", "Greatest"]
    columns = results["cpu_usage"]["runs"]
    assert metric["samples"] == [
        [label, str(column["size"]), *(f"{column[name]:.6g}" for name in ("average", "median", "stddev", "min", "max"))]
        for label, column in (("before", columns["run:before"]), ("after", columns["run:after"]))
    ]
    assert metric["file"].split(", ") == [
        "sql/phases/metrics/cpu_usage.sql",
        "sql/phases/rows/cells-cpu_point.sql",
        "sql/phases/rows/quantiles-cpu_point.sql",
    ]
    assert [name for name, _ in metric["events"]][:1] == ["cpu_seconds"]
    assert ["rate_window", "Rate window — meta.json .rate_window_seconds"] in metric["constants"]


def test_formula_has_its_values_and_sql_of_its_operands(built: dict[str, Path]) -> None:
    data, linked_ids = read_page_data(built["antelope/upgrade"])
    results = json.loads((built["antelope/upgrade"] / "results.json").read_text(encoding="utf-8"))["metrics"]
    yearly, rate = data["metrics"]["disk_writes_per_year"], data["metrics"]["disk_write_rate"]
    assert "disk_writes_per_year" in linked_ids
    assert yearly["header"] == ["Run", "Value"]
    expected_columns = results["disk_writes_per_year"]["runs"]
    assert yearly["samples"] == [
        [name, f"{expected_columns[f'run:{name}']['average']:.6g}"] for name in ("before", "after")
    ]
    assert rate["file"].startswith(f"{yearly['file']}, ")
    assert rate["sql"].startswith(yearly["sql"])
    on_rows, _ = read_page_data(built["antelope/endurance"])
    drive = on_rows["metrics"]["drive_writes_per_year"]
    assert drive["sql"].startswith("SELECT")
    assert drive["file"].startswith("sql/rows/")


def test_sql_of_phase_report_is_the_executed_file(tmp_path: Path, cache: Path) -> None:
    """The phase is set on the command line."""
    out = tmp_path / "out"
    phase_options = (
        "--phase",
        "early=begin..mid",
        "--at",
        "begin=2026-02-05T18:53:00Z",
        "--at",
        "mid=2026-02-05T19:00:00Z",
    )
    run = GOLDEN / "cardano" / "baseline" / "run"
    result = run_assay(
        "build", "cardano/comparison", "--run", run, *phase_options, "--to", "html", "-o", out, "--cache", cache
    )
    assert result.status == 0, result.err
    data, _ = read_page_data(out)
    metric = data["metrics"]["CentiCpu"]
    files = metric["file"].split(", ")
    assert files == ["sql/phases/metrics/CentiCpu.sql", "sql/phases/rows/quantiles-slot-per-host.sql"]
    check_sql(out, metric, "CentiCpu")


def test_constant_metrics_name_document_and_key(built: dict[str, Path]) -> None:
    data, _ = read_page_data(built["antelope/harness"])
    constants = dict(data["metrics"]["target_tps"]["constants"])
    expected_text = "Target of transactions per second (-1: not specified) — run.json .targetTPS"
    assert constants["target_tps"] == expected_text
