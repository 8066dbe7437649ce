"""Test `assay trace` of articles: every cell and quoted value leads to its records, or states another way to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.session.session import Session
from assay.engine.result_cache import Store
from assay.lang.workspace import Workspace
from assay.remote.prometheus_times import parse_nanoseconds
from assay.report.document_json import parse_document
from assay.report.printed_cells import Cell, find_cell, list_document_cells
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

GOLDEN = ROOT / "golden"
PUBLISHED = GOLDEN / "cometbft" / "published"


def build_report(folder: Path, cache: Path, report: str, *runs: Path) -> Path:
    options = [text for run in runs for text in ("--run", run)]
    result = run_assay(
        "build", report, *options, "--date", "2026-11-21", "-o", folder / "out", "--to", "md", "--cache", cache
    )
    assert result.status == 0, result.err
    return folder / "out"


@pytest.fixture(scope="module")
def upgrade(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build a report that compares two phases of a run."""
    return build_report(
        tmp_path_factory.mktemp("u"), cache, "antelope/upgrade", GOLDEN / "antelope" / "upgrade" / "run"
    )


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    return build_report(tmp_path_factory.mktemp("h"), cache, "antelope/harness", GOLDEN / "antelope" / "harness")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Build a report with claims about runs that are compared with each other."""
    runs = (PUBLISHED / name for name in ("v034", "v037", "v038"))
    return build_report(tmp_path_factory.mktemp("p"), cache, "cometbft/published", *runs)


def trace_cell(folder: Path, cell: str, cache: Path) -> dict[str, Any]:
    completed = run_assay("trace", folder, cell, "--format", "json", "--cache", cache)
    assert (completed.status, completed.err) == (0, "")
    result: dict[str, Any] = completed.parse_json()
    return result


def read_refusal(folder: Path, cell: str, cache: Path) -> str:
    """Return the reason why a cell leads to no records."""
    result = run_assay("trace", folder, cell, "--cache", cache)
    assert (result.status, result.out) == (2, "")
    assert "  hint: " in result.err
    return result.err


def list_cells(folder: Path, system: str, cache: Path) -> Sequence[Cell]:
    package = Session(Workspace(ROOT), Store(cache)).load_package(system).package
    return tuple(list_document_cells(parse_document((folder / "document.json").read_text(encoding="utf-8")), package))


def read_phase_bounds(folder: Path) -> tuple[int, int]:
    """Return the end of the first phase and the begin of the second, in ns."""
    document = json.loads((folder / "document.json").read_text(encoding="utf-8"))
    rows = {row[0]: row[1:] for row in document["manifest"]["rows"]}
    return parse_nanoseconds(rows["To"][0], "test"), parse_nanoseconds(rows["From"][1], "test")


def test_a_cell_of_a_phase_leads_to_the_samples_of_that_phase(upgrade: Path, cache: Path) -> None:
    name, (end, begin) = "Memory/Memory before and after/memory_used", read_phase_bounds(upgrade)
    (before,), (after,) = (trace_cell(upgrade, f"{name}/{phase}", cache)["runs"] for phase in ("before", "after"))
    assert (before["id"], after["id"]) == ("run:before", "run:after")
    results = json.loads((upgrade / "results.json").read_text(encoding="utf-8"))["metrics"]["memory_used"]["runs"]
    for run in (before, after):
        assert (run["size"], run["average"]) == (results[run["id"]]["size"], results[run["id"]]["average"])
    for run, is_in_phase in ((before, lambda t: t < end), (after, lambda t: t >= begin)):
        samples = [*run["greatest"], *run["least"]]
        assert samples
        assert all(is_in_phase(sample["keys"]["t_ns"]) for sample in samples)
    assert before["greatest"][0]["value"] < after["greatest"][0]["value"]


def test_a_difference_of_phases_leads_to_both(upgrade: Path, cache: Path) -> None:
    result = trace_cell(upgrade, "Disk/Disk write rate before and after/Disk write rate, MB/s/Δ%", cache)
    assert (result["prints"], [run["id"] for run in result["runs"]]) == ("percent", ["run:before", "run:after"])
    rule = trace_cell(upgrade, "Conclusion/Expectations of the upgrade/disk_write_rate/Holds", cache)
    assert (rule["prints"], [run["average"] for run in rule["runs"]]) == (
        "judged", [run["average"] for run in result["runs"]]
    )  # fmt: skip


def test_a_cell_without_a_value_leads_to_no_samples(tmp_path: Path, cache: Path) -> None:
    source, run = GOLDEN / "antelope" / "upgrade" / "run", tmp_path / "run"
    run.mkdir()
    (run / "meta.json").write_text((source / "meta.json").read_text(encoding="utf-8"), encoding="utf-8")
    samples = f"SELECT * FROM '{source / 'samples.parquet'}' WHERE name NOT LIKE 'node_memory_Swap%'"
    duckdb.execute(f"COPY ({samples}) TO '{run / 'samples.parquet'}'")
    out = build_report(tmp_path, cache, "antelope/upgrade", run)
    for column, phases in (("before", ["before"]), ("Δ%", ["before", "after"])):
        result = trace_cell(out, f"Memory/Memory before and after/Used swap, GiB/{column}", cache)
        runs = [(run_data["id"], run_data["size"], run_data["greatest"]) for run_data in result["runs"]]
        assert (result["text"], runs) == ("—", [(f"run:{phase}", 0, []) for phase in phases])
    text = run_assay("trace", out, "Memory/Memory before and after/Used swap, GiB/after", "--cache", cache).out
    assert "\nSamples    0\n" in text  # no samples, no average


def test_formula_leads_to_its_metrics(upgrade: Path, cache: Path) -> None:
    result = trace_cell(upgrade, "Endurance/Disk writes per year before and after/disk_writes_per_year/before", cache)
    (run,) = result["runs"]
    assert (result["metric"], run["metric"], run["id"]) == ("disk_writes_per_year", "disk_write_rate", "run:before")
    assert "computed from the averages of `disk_write_rate`" in result["means"]
    year = 365 * 24 * 3600
    assert float(result["text"]) == pytest.approx(run["average"] * 1e3 * year / 1e12, rel=1e-3)


def test_cell_against_a_class_leads_to_metrics_of_its_formula(upgrade: Path, cache: Path) -> None:
    result = trace_cell(upgrade, "Endurance/Drive lifetime in years/150 TBW/after, years", cache)
    (run,) = result["runs"]
    assert (result["prints"], run["metric"], run["id"]) == ("formula", "disk_write_rate", "run:after")
    assert "class / disk_write_rate, in year" in result["means"]
    assert float(result["text"]) == pytest.approx(150e12 / (run["average"] * 1e3) / (365 * 24 * 3600), rel=1e-3)


def test_averages_of_series_lead_to_their_values(qa: Path, cache: Path) -> None:
    table = "Metrics of the nodes/Average resident memory with and without exporter processes"
    result = trace_cell(qa, f"{table}/memory/Average, MB", cache)
    (run,) = result["runs"]
    assert (result["series"], result["prints"], result["definition"]) == ("memory", "mean", "")
    assert f"{run['average'] / 1e6:.0f}" == result["text"]
    lead = next(cell for cell in list_cells(qa, "cometbft", cache) if cell.name == result["cell"])
    (series_of_lead,) = lead.sources
    assert series_of_lead.since is not None
    assert series_of_lead.until is not None
    samples = [*run["greatest"], *run["least"]]
    assert all(series_of_lead.since <= sample["keys"]["t_ns"] <= series_of_lead.until for sample in samples)
    for sample in samples:
        assert any(f"{sample['measured']:.0f}" in line["text"].replace(".0", "") for line in sample["lines"])
    both_traces = trace_cell(qa, f"{table}/node_memory/Δ%", cache)
    assert [item["series"] for item in both_traces["runs"]] == ["memory", "node_memory"]
    text = run_assay("trace", qa, f"{table}/memory/Lines", "--cache", cache).out
    assert "\nPrints     the number of lines\n" in text
    assert "run `assay explain memory`" in read_refusal(qa, f"{table}/memory/Labels", cache)


def test_values_that_a_text_quotes_lead_to_their_rows(harness: Path, cache: Path) -> None:
    quoted_cells = [cell for cell in list_cells(harness, "antelope", cache) if "/paragraph " in cell.name]
    document = json.loads((harness / "document.json").read_text(encoding="utf-8"))
    assert len(quoted_cells) == sum(len(part.get("quoted", ())) for part in document["parts"])
    result = trace_cell(harness, "Blocks and the analysis window/paragraph 1/264 blocks", cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert (result["prints"], sample["value"], sample["records"]) == ("row", 264, 264)


@pytest.mark.parametrize(
    ("cell", "expected_count"),
    [
        ("Block statistics/Block size/node_01/Empty, blocks", 147),
        ("Transactions per second/TPS/node_01/Empty, blocks", 147),
        ("Blocks and the analysis window/Blocks by phase/node_01/Analysed, blocks", 219),
        ("Blocks and the analysis window/Blocks by phase/node_01/Trailing empty, blocks", 30),
    ],
)
def test_number_of_records_leads_to_as_many_records(harness: Path, cache: Path, cell: str, expected_count: int) -> None:
    ((sample,),) = (run["greatest"] for run in trace_cell(harness, cell, cache)["runs"])
    assert (sample["value"], sample["records"]) == (expected_count, expected_count)


def test_columns_of_a_listing_lead_to_their_samples(harness: Path, cache: Path) -> None:
    row = "Verdict/Result/node_01, yes, met, met, yes, pass"
    result = trace_cell(harness, f"{row}/Result", cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert (result["prints"], result["text"], sample["value"]) == ("column", "pass", "pass")
    assert sample["lines"][0]["file"].startswith("node_01/")


def test_manifest_leads_to_records_of_its_relation(two: Path, cache: Path) -> None:
    column_cells = [cell for cell in list_cells(two, "cardano", cache) if cell.prints == "column"]
    name = next(cell.name for cell in column_cells if "Blocks analysed" in cell.row or "locks" in cell.row)
    result = trace_cell(two, name, cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert result["column"].startswith("run_summary.")
    assert float(result["text"]) == sample["value"]


def test_verdict_of_a_claim_leads_to_its_row(published: Path, cache: Path) -> None:
    claim = next(cell for cell in list_cells(published, "cometbft", cache) if cell.column == "Found in v0.37")
    result = trace_cell(published, claim.name, cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert (result["text"], result["metric"]) == (f"{sample['value']:.0f}", "reported_txs")
    assert trace_cell(published, claim.name.replace("Found in v0.37", "Agrees"), cache)["prints"] == "judged"
    assert "is a text of the specs" in read_refusal(published, claim.name.replace("Found in v0.37", "Document"), cache)


def test_every_kind_of_cell_is_traced_or_names_another_way(harness: Path, upgrade: Path, cache: Path) -> None:
    for folder, system in ((harness, "antelope"), (upgrade, "antelope")):
        kinds = {cell.prints: cell for cell in reversed(list_cells(folder, system, cache))}
        for kind, cell in kinds.items():
            if kind in ("fact", "words", "filter", "outcome"):
                assert cell.name in read_refusal(folder, cell.name, cache)
            else:
                assert trace_cell(folder, cell.name, cache)["text"] == cell.text


def test_verdict_of_a_scenario_names_the_deciding_table(tmp_path: Path, cache: Path) -> None:
    from tests.support.loads import Experiment, create_load_run

    for name in ("one", "two"):
        create_load_run(tmp_path / name, Experiment("e", 10, latency=10**9), ident=name)
    out = build_report(tmp_path, cache, "cometbft/qa", tmp_path / "one", tmp_path / "two")
    scenario = next(cell for cell in list_cells(out, "cometbft", cache) if cell.prints == "outcome" and cell.decided_by)
    assert f"is computed from the cells of `{scenario.decided_by[0]}`" in read_refusal(out, scenario.name, cache)
    assert f"/{scenario.decided_by[0]}/" in run_assay("trace", out, "--cache", cache).out
    judged_cells = [cell for cell in list_cells(out, "cometbft", cache) if cell.prints == "judged"]
    assert {run.run for cell in judged_cells for run in cell.sources} == {"one", "two"}
    # every listed name finds its cell, also with the id of the run; `Result` is a column of no run
    listed_cells = list_cells(out, "cometbft", cache)
    assert [cell for cell in listed_cells if find_cell(listed_cells, cell.name) != cell] == []
    value = judged_cells[0].name.replace("/Result", "/two")
    assert value in [cell.name for cell in listed_cells if cell.prints == "row"]
    renamed = [replace(cell, column="label") if cell.name == value else cell for cell in listed_cells]
    assert find_cell(renamed, value).column == "label"


def test_document_without_cell_links_is_refused(harness: Path, tmp_path: Path, cache: Path) -> None:
    import shutil

    out = shutil.copytree(harness, tmp_path / "old")
    document = json.loads((out / "document.json").read_text(encoding="utf-8"))
    for table in (document["manifest"], *(table for part in document["parts"] for table in part["tables"])):
        table.pop("leads", None)
    (out / "document.json").write_text(json.dumps(document), encoding="utf-8")
    result = run_assay("trace", out, "--cache", cache)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("error[no-build]: the document is not what a build writes: ")
