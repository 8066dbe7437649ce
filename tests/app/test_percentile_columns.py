"""Percentile columns of the demo's comparison, compared with the reference distributions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.compare_reference import CARDANO, load_json
from tests.support.commands import MODEL, build, run_assay
from tests.support.documents import list_sections

RUNS = {"10.5": "baseline", "10.6": "candidate"}
STATISTICS = ("median", "p95", "p99.9", "max", "mean", "count")
CENTILES = {"median": "0.5", "p95": "0.95", "p99.9": "0.999", "max": "1.0"}
POOLED, OVER_HOSTS = ("cdfForgerTicked", "cdfPeerAdoption"), ("CentiCpu", "NetRd")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return the folder of the demo's comparison with percentile columns."""
    folder = tmp_path_factory.mktemp("percentiles") / "build"
    runs = [f"{name}={CARDANO / place / 'run'}" for name, place in RUNS.items()]
    result = build(
        runs, folder, cache, "--to=md", "--to=html", "--style=typst-2026", *MODEL, f"--columns={','.join(STATISTICS)}"
    )
    assert result.status == 0, result.err
    return folder


def list_tables(built: Path) -> dict[str, tuple[list[str], dict[str, list[str]]]]:
    """Return the header of the table of each metric, and its row."""
    document: Any = load_json(built / "document.json")
    tables = [section["percentiles"] for section in list_sections(document)]
    return {
        metric: (table["header"], row)
        for table in tables
        for metric, row in zip(table["of_rows"], table["rows"], strict=True)
    }


@pytest.mark.parametrize("metric", [*POOLED, *OVER_HOSTS])
def test_cells_are_the_reference_centiles(built: Path, metric: str) -> None:
    header, row = list_tables(built)[metric]
    assert header[1:4] == ["10.5 median", "10.6 median", "Δ%"]
    cells = dict(zip(header, row, strict=True))
    for label, place in RUNS.items():
        reference = {point[0]: point[1:] for point in load_json(CARDANO / place / "expected" / "cdf.json.gz")[metric]}
        for name, centile in CENTILES.items():
            text = cells[f"{label} {name}"]
            # Over hosts the reference has the median of hosts, then the least and the greatest.
            expected = reference[centile][2 if name == "max" and metric in OVER_HOSTS else 0].rstrip(">")
            assert float(text) == pytest.approx(float(expected), abs=0.001 if metric in POOLED else 0.5), (label, name)


def test_trace_leads_to_the_sample_at_a_percentile(built: Path, cache: Path) -> None:
    result = run_assay("trace", built, "Forging/Ledger ticking/10.6 p95", "--format", "json", "--cache", cache)
    assert result.status == 0, result.err
    traced = result.parse_json()
    (run,) = traced["runs"]
    header, row = list_tables(built)["cdfForgerTicked"]
    assert traced["text"] == row[header.index("10.6 p95")]
    (sample,) = run["equal"]
    assert round(sample["value"], 5) == float(traced["text"])
    assert sample["records"] == 2
    assert run["p95"] == sample["value"]


@pytest.mark.parametrize("metric", [*POOLED, *OVER_HOSTS])
def test_mean_and_count_are_the_average_and_size(built: Path, metric: str) -> None:
    header, row = list_tables(built)[metric]
    cells = dict(zip(header, row, strict=True))
    recorded = load_json(built / "results.json")["metrics"][metric]["runs"]
    for name in RUNS:
        assert cells[f"{name} count"] == str(recorded[name]["size"])
        assert float(cells[f"{name} mean"]) == pytest.approx(recorded[name]["average"], rel=0.01)


@pytest.mark.parametrize("column", ["mean", "count"])
def test_trace_leads_from_mean_and_count_to_samples(built: Path, cache: Path, column: str) -> None:
    result = run_assay("trace", built, f"Forging/Ledger ticking/10.6 {column}", "--format", "json", "--cache", cache)
    assert result.status == 0, result.err
    (run,) = result.parse_json()["runs"]
    assert run[column] == run["average" if column == "mean" else "size"]


def test_trace_of_a_change_has_the_percentiles_of_both_runs(built: Path, cache: Path) -> None:
    result = run_assay("trace", built, "Resource Usage/Process CPU usage/10.6 p95 Δ%", "--cache", cache)
    assert result.status == 0, result.err
    assert "two values of p95, in percent of the first" in " ".join(result.out.split())
    assert result.out.count("At p95 of ") == 2


def test_changed_percentile_is_not_traced(built: Path, cache: Path) -> None:
    results = built / "results.json"
    text = results.read_text(encoding="utf-8")
    median = load_json(results)["metrics"]["cdfForgerTicked"]["runs"]["10.6"]["median"]
    results.write_text(text.replace(f'"median": {median!r}', '"median": 1.0'), encoding="utf-8")
    result = run_assay("trace", built, "Forging/Ledger ticking/10.6 median", "--cache", cache)
    results.write_text(text, encoding="utf-8")
    assert result.status == 1
    assert "another median of `cdfForgerTicked` than the report has" in result.err


def test_all_forms_print_the_cells(built: Path) -> None:
    _, row = list_tables(built)["cdfForgerTicked"]
    assert f"| {' | '.join(row)} |" in (built / "report.md").read_text(encoding="utf-8")
    page = (built / "report.html").read_text(encoding="utf-8")
    assert f'data-of="{row[0]}; 10.6 p95"' not in page  # the title of the table comes first
    assert f"Forging: {', '.join(STATISTICS)}, {row[0]}; 10.6 p95" in page
    assert '<th scope="colgroup" colspan="3" class="group">p99.9</th>' in page


def test_build_again_has_the_same_columns(built: Path, cache: Path) -> None:
    result = run_assay("verify", built, "--cache", cache)
    assert result.status == 0, result.err
