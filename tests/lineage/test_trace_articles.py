"""`assay trace` of articles: every kind of cell, and quoted values, lead to their records or say what leads on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.session import Session
from assay.engine.result_cache import Store
from assay.lang.workspace import Workspace
from assay.lineage.cells import Cell, find, of_document
from assay.remote.prometheus_times import nanoseconds
from assay.report.document import from_json
from tests.support.commands import assay
from tests.support.laboratory import ROOT

GOLDEN = ROOT / "golden"
PUBLISHED = GOLDEN / "cometbft" / "published"


def built(folder: Path, cache: Path, report: str, *runs: Path) -> Path:
    options = [text for run in runs for text in ("--run", run)]
    done = assay(
        "build", report, *options, "--date", "2026-11-21", "-o", folder / "out", "--to", "md", "--cache", cache
    )
    assert done.status == 0, done.err
    return folder / "out"


@pytest.fixture(scope="module")
def upgrade(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A report that compares two phases of a run."""
    return built(tmp_path_factory.mktemp("u"), cache, "antelope/upgrade", GOLDEN / "antelope" / "upgrade" / "run")


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    return built(tmp_path_factory.mktemp("h"), cache, "antelope/harness", GOLDEN / "antelope" / "harness")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """A report with claims, of runs that are judged by each other."""
    runs = (PUBLISHED / name for name in ("v034", "v037", "v038"))
    return built(tmp_path_factory.mktemp("p"), cache, "cometbft/published", *runs)


def traced(folder: Path, cell: str, cache: Path) -> dict[str, Any]:
    done = assay("trace", folder, cell, "--format", "json", "--cache", cache)
    assert (done.status, done.err) == (0, "")
    result: dict[str, Any] = done.json()
    return result


def refused(folder: Path, cell: str, cache: Path) -> str:
    """Why a cell leads to no records."""
    done = assay("trace", folder, cell, "--cache", cache)
    assert (done.status, done.out) == (2, "")
    assert "  hint: " in done.err
    return done.err


def cells(folder: Path, system: str, cache: Path) -> Sequence[Cell]:
    package = Session(Workspace(ROOT), Store(cache)).package(system).package
    return tuple(of_document(from_json((folder / "document.json").read_text(encoding="utf-8")), package))


def bounds(folder: Path) -> tuple[int, int]:
    """Where the first phase ends and the second begins, in ns."""
    document = json.loads((folder / "document.json").read_text(encoding="utf-8"))
    rows = {row[0]: row[1:] for row in document["manifest"]["rows"]}
    return nanoseconds(rows["To"][0], "test"), nanoseconds(rows["From"][1], "test")


def test_a_cell_of_a_phase_leads_to_the_samples_of_that_phase(upgrade: Path, cache: Path) -> None:
    name, (end, begin) = "Memory/Memory before and after/memory_used", bounds(upgrade)
    (before,), (after,) = (traced(upgrade, f"{name}/{phase}", cache)["runs"] for phase in ("before", "after"))
    assert (before["id"], after["id"]) == ("run:before", "run:after")
    results = json.loads((upgrade / "results.json").read_text(encoding="utf-8"))["metrics"]["memory_used"]["columns"]
    for run in (before, after):
        assert (run["size"], run["average"]) == (results[run["id"]]["size"], results[run["id"]]["average"])
    for run, is_in in ((before, lambda t: t < end), (after, lambda t: t >= begin)):
        samples = [*run["greatest"], *run["least"]]
        assert samples
        assert all(is_in(sample["keys"]["t_ns"]) for sample in samples)
    assert before["greatest"][0]["value"] < after["greatest"][0]["value"]


def test_a_difference_of_phases_leads_to_both(upgrade: Path, cache: Path) -> None:
    result = traced(upgrade, "Disk/Disk writes before and after/Disk writes, kB/s/Δ%", cache)
    assert (result["prints"], [run["id"] for run in result["runs"]]) == ("percent", ["run:before", "run:after"])
    rule = traced(upgrade, "Conclusion/What was expected of the upgrade/disk_write_rate/Holds", cache)
    assert (rule["prints"], [run["average"] for run in rule["runs"]]) == (
        "judged", [run["average"] for run in result["runs"]]
    )  # fmt: skip


def test_a_cell_without_a_value_leads_to_no_samples(tmp_path: Path, cache: Path) -> None:
    source, run = GOLDEN / "antelope" / "upgrade" / "run", tmp_path / "run"
    run.mkdir()
    (run / "meta.json").write_text((source / "meta.json").read_text(encoding="utf-8"), encoding="utf-8")
    samples = f"SELECT * FROM '{source / 'samples.parquet'}' WHERE name <> 'node_cpu_seconds_total'"
    duckdb.execute(f"COPY ({samples}) TO '{run / 'samples.parquet'}'")
    out = built(tmp_path, cache, "antelope/upgrade", run)
    for column, phases in (("before", ["before"]), ("Δ%", ["before", "after"])):
        result = traced(out, f"CPU/CPU before and after/CPU usage, %/{column}", cache)
        runs = [(one["id"], one["size"], one["greatest"]) for one in result["runs"]]
        assert (result["text"], runs) == ("—", [(f"run:{phase}", 0, []) for phase in phases])
    text = assay("trace", out, "CPU/CPU before and after/CPU usage, %/after", "--cache", cache).out
    assert "\nSamples    0\n" in text  # an average of nothing is none


def test_a_formula_leads_to_what_it_is_over(upgrade: Path, cache: Path) -> None:
    result = traced(upgrade, "Endurance/Writes in a year before and after/disk_writes_per_year/before", cache)
    (run,) = result["runs"]
    assert (result["metric"], run["metric"], run["id"]) == ("disk_writes_per_year", "disk_write_rate", "run:before")
    assert "worked out of the averages of `disk_write_rate`" in result["means"]
    year = 365 * 24 * 3600
    assert float(result["text"]) == pytest.approx(run["average"] * 1e3 * year / 1e12, rel=1e-5)


def test_cell_against_a_class_leads_to_metrics_of_its_formula(upgrade: Path, cache: Path) -> None:
    result = traced(upgrade, "Endurance/Years until a drive is used up/150 TBW/after, years", cache)
    (run,) = result["runs"]
    assert (result["prints"], run["metric"], run["id"]) == ("formula", "disk_write_rate", "run:after")
    assert "class / disk_write_rate, in year" in result["means"]
    assert float(result["text"]) == pytest.approx(150e12 / (run["average"] * 1e3) / (365 * 24 * 3600), rel=1e-3)


def test_averages_of_series_lead_to_their_values(qa: Path, cache: Path) -> None:
    table = "Metrics of the nodes/Average resident memory with and without the exporters' processes"
    result = traced(qa, f"{table}/memory/Average, Bytes", cache)
    (run,) = result["runs"]
    assert (result["series"], result["prints"], result["definition"]) == ("memory", "mean", "")
    assert f"{run['average']:.0f}" == result["text"]
    lead = next(cell for cell in cells(qa, "cometbft", cache) if cell.name == result["cell"])
    (of,) = lead.of
    assert of.since is not None
    assert of.until is not None
    samples = [*run["greatest"], *run["least"]]
    assert all(of.since <= sample["keys"]["t_ns"] <= of.until for sample in samples)
    for sample in samples:
        assert any(f"{sample['measured']:.0f}" in line["text"].replace(".0", "") for line in sample["lines"])
    both = traced(qa, f"{table}/node_memory/Δ%", cache)
    assert [item["series"] for item in both["runs"]] == ["memory", "node_memory"]
    text = assay("trace", qa, f"{table}/memory/Lines", "--cache", cache).out
    assert "\nPrints     the number of lines\n" in text
    assert "`assay explain memory` tells" in refused(qa, f"{table}/memory/Labels", cache)


def test_values_that_a_text_quotes_lead_to_their_rows(harness: Path, cache: Path) -> None:
    quoted = [cell for cell in cells(harness, "antelope", cache) if "/paragraph " in cell.name]
    document = json.loads((harness / "document.json").read_text(encoding="utf-8"))
    assert len(quoted) == sum(len(part.get("quoted", ())) for part in document["galleries"])
    result = traced(harness, "Blocks and the window/paragraph 1/264 blocks", cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert (result["prints"], sample["value"], sample["records"]) == ("row", 264, 264)


@pytest.mark.parametrize(
    ("cell", "counted"),
    [
        ("What a block takes/Block size/node_01/Empty, blocks", 147),
        ("Transactions a second/TPS/node_01/Empty, blocks", 147),
        ("Blocks and the window/What its blocks count as/node_01/Analysed, blocks", 219),
        ("Blocks and the window/What its blocks count as/node_01/Trailing empty, blocks", 30),
    ],
)
def test_a_number_of_records_leads_to_as_many(harness: Path, cache: Path, cell: str, counted: int) -> None:
    ((sample,),) = (run["greatest"] for run in traced(harness, cell, cache)["runs"])
    assert (sample["value"], sample["records"]) == (counted, counted)


def test_columns_of_a_listing_lead_to_their_samples(harness: Path, cache: Path) -> None:
    row = "Verdict/Result/node_01, yes, met, met, yes, pass"
    result = traced(harness, f"{row}/Result", cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert (result["prints"], result["text"], sample["value"]) == ("column", "pass", "pass")
    assert sample["lines"][0]["file"].startswith("node_01/")


def test_a_manifest_leads_to_what_its_relation_was_made_of(two: Path, cache: Path) -> None:
    listed = [cell for cell in cells(two, "cardano", cache) if cell.prints == "column"]
    name = next(cell.name for cell in listed if "Blocks analysed" in cell.row or "locks" in cell.row)
    result = traced(two, name, cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert result["column"].startswith("run_summary.")
    assert float(result["text"]) == sample["value"]


def test_what_a_claim_was_found_to_be_leads_to_its_row(published: Path, cache: Path) -> None:
    claim = next(cell for cell in cells(published, "cometbft", cache) if cell.column == "Found in v0.37")
    result = traced(published, claim.name, cache)
    ((sample,),) = (run["greatest"] for run in result["runs"])
    assert (result["text"], result["metric"]) == (f"{sample['value']:.0f}", "reported_txs")
    assert traced(published, claim.name.replace("Found in v0.37", "Agrees"), cache)["prints"] == "judged"
    assert "is words of the specs" in refused(published, claim.name.replace("Found in v0.37", "Document"), cache)


def test_every_kind_of_cell_is_traced_or_says_what_leads_on(harness: Path, upgrade: Path, cache: Path) -> None:
    for folder, system in ((harness, "antelope"), (upgrade, "antelope")):
        kinds = {cell.prints: cell for cell in reversed(cells(folder, system, cache))}
        for kind, cell in kinds.items():
            if kind in ("fact", "words", "filter", "outcome"):
                assert cell.name in refused(folder, cell.name, cache)
            else:
                assert traced(folder, cell.name, cache)["text"] == cell.text


def test_what_a_scenario_comes_to_names_the_table_that_decides(tmp_path: Path, cache: Path) -> None:
    from tests.support.loads import Experiment, loaded

    for name in ("one", "two"):
        loaded(tmp_path / name, Experiment("e", 10, latency=10**9), ident=name)
    out = built(tmp_path, cache, "cometbft/qa", tmp_path / "one", tmp_path / "two")
    scenario = next(cell for cell in cells(out, "cometbft", cache) if cell.prints == "outcome" and cell.decided_by)
    assert f"comes of the cells of `{scenario.decided_by[0]}`" in refused(out, scenario.name, cache)
    assert f"/{scenario.decided_by[0]}/" in assay("trace", out, "--cache", cache).out
    gone = [cell for cell in cells(out, "cometbft", cache) if cell.prints == "judged"]
    assert {run.run for cell in gone for run in cell.of} == {"one", "two"}
    # every cell goes by the name that is listed, and those of a run by its id, too: `Result` is a column of no run
    listed = cells(out, "cometbft", cache)
    assert [cell for cell in listed if find(listed, cell.name) != cell] == []
    value = gone[0].name.replace("/Result", "/two")
    assert value in [cell.name for cell in listed if cell.prints == "row"]
    renamed = [replace(cell, column="label") if cell.name == value else cell for cell in listed]
    assert find(renamed, value).column == "label"


def test_a_document_that_tells_no_leads_is_no_build(harness: Path, tmp_path: Path, cache: Path) -> None:
    import shutil

    out = shutil.copytree(harness, tmp_path / "old")
    document = json.loads((out / "document.json").read_text(encoding="utf-8"))
    for table in (document["manifest"], *(table for part in document["galleries"] for table in part["tables"])):
        table.pop("leads", None)
    (out / "document.json").write_text(json.dumps(document), encoding="utf-8")
    done = assay("trace", out, "--cache", cache)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("error[no-build]: the document is not what a build writes: ")
