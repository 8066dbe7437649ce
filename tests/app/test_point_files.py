"""Test the files with the rows behind points: their names, contents and sizes in builds of articles."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.compute import point_files
from assay.app.compute.point_files import write_rows
from tests.compare_reference import load_json
from tests.support.cometbft import RUN
from tests.support.commands import run_assay
from tests.support.loads import Experiment, add_samples, create_load_run
from tests.support.result_rows import read_result_rows

NODES, SECONDS = 150, 300
SIZE, HEIGHT, MEMORY = "cometbft_mempool_size", "cometbft_consensus_height", "process_resident_memory_bytes"
METRICS = (SIZE, HEIGHT, MEMORY)


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["run"], ["run"]),
        (["a/b", "a:b", "A-B"], ["a-b", "a-b-2", "A-B-3"]),
        (["..", ".", "...x"], ["run", "run-2", "x"]),
        (["200-node:v0.38"], ["200-node-v0.38"]),
    ],
)
def test_runs_have_folders_of_their_own(ids: list[str], names: list[str]) -> None:
    assert list(point_files._list_folder_names(ids)) == names


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, -(2**63) + 1], "BIGINT"),
        ([2**64, 1], "DECIMAL(38,0)"),
        ([1, 0.5, None], "DOUBLE"),
        ([True, None], "BOOLEAN"),
        (["a", None], "VARCHAR"),
        ([None], "VARCHAR"),
        ([], "VARCHAR"),
    ],
)
def test_computed_rows_are_written_with_their_type(values: list[Any], kind: str, tmp_path: Path) -> None:
    rows = [{"a-name": value, "number": index} for index, value in enumerate(values)]
    with duckdb.connect() as connection:
        for _ in range(2):  # a table of an earlier file is gone
            write_rows(connection, tmp_path / "rows.parquet", ("a-name", "number"), rows)
        result = connection.execute("SELECT * FROM read_parquet(?)", [str(tmp_path / "rows.parquet")])
        assert next((item[0], str(item[1])) for item in result.description) == ("a-name", kind)
        actual = result.fetchall()
    assert actual == [(value, index) for index, value in enumerate(values)]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build the report of many nodes as a page, a PDF and Markdown; return the folders of the run and of the build."""
    folder = tmp_path_factory.mktemp("large")
    run = create_load_run(folder / "run", Experiment("e", 5), Experiment("f", SECONDS - 10))
    samples = {
        metric: {
            f"node{node:03}": [(second, str((second * (node + 7) * 31) % 997)) for second in range(0, SECONDS, 5)]
            for node in range(NODES)
        }
        for metric in METRICS
    }
    add_samples(run, samples)
    arguments = ("--run", run, "-o", folder / "out", "--cache", folder / "cache")
    result = run_assay("build", "cometbft/qa", *arguments, "--to", "html", "--to", "pdf", "--to", "md")
    assert result.status == 0, result.err
    return run, folder / "out"


def test_results_of_many_nodes_name_their_files(large: tuple[Path, Path]) -> None:
    _, out = large
    results = load_json(out / "results.json")
    files = {item["file"] for item in results["rows"]["run"].values() if isinstance(item, dict)}
    assert files == {path.relative_to(out).as_posix() for path in (out / "rows").rglob("*") if path.is_file()}
    assert {"rows/run/memory.parquet", "rows/run/transaction-experiment_id-since_start-latency.parquet"} <= files
    rows = read_result_rows(out)
    steps = SECONDS - 10 + 2 - 6 + 1  # from the first transaction to the block of the last
    assert len(rows["rows memory"]) == NODES * steps
    assert set(rows["rows memory"][0]) == {"name", "job", "instance", "t_ns", "value"}
    assert len(rows["rows transaction experiment_id since_start latency"]) == 2 * 1450
    assert max(len(item) for item in results["rows"]["run"].values() if isinstance(item, list)) == 2


def test_figures_of_many_nodes_are_reduced(large: tuple[Path, Path]) -> None:
    run, out = large
    document = load_json(out / "document.json")
    part = next(item for item in document["parts"] if item["title"] == "All experiments")
    sizes, heights = (
        next(plot for plot in part["plots"] if plot and plot["id"] == f"series-run-{name}")
        for name in ("mempool_size", "heights")
    )
    assert heights["reduced_from"] == NODES * 287
    assert heights["description"] == f"Heights over time: {NODES} lines, {NODES * 287} points"
    points = [row for row in heights["rows"] if row[0] is not None]
    assert 20_000 < len(points) <= 40_000
    assert 20_000 < len(sizes["rows"]) <= 40_000
    numbers = "figures 9, 10, 11"  # the block rate is reduced, too
    assert part["text"][-1] == (
        "Too many points to draw all, so that each line shows its least and its greatest value in equal spans of time, "
        f"and layers those at the least and the greatest total: {numbers}."
    )
    for node in range(NODES):
        name = f"node{node:03}"
        values = [(second * (node + 7) * 31) % 997 for second in range(5, SECONDS - 5, 5)]
        drawn = [y for line, _, y in points if line == name]
        assert (min(drawn), max(drawn)) == (min(values), max(values))
    assert run.is_dir()


def test_files_of_many_nodes_are_small(large: tuple[Path, Path]) -> None:
    """Results have no samples; the page and the PDF have some of the points, the page by column."""
    _, out = large
    sizes = {name: (out / name).stat().st_size for name in ("results.json", "report.html", "report.pdf")}
    assert sizes["results.json"] < 25_000
    assert sizes["report.html"] < 3_000_000
    assert sizes["report.pdf"] < 1_500_000


def test_report_with_points_is_verified(tmp_path: Path, cache: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(RUN, run)
    out = tmp_path / "out"
    assert run_assay("build", "cometbft/qa", "--run", run, "-o", out, "--to", "md", "--cache", cache).status == 0
    assert run_assay("verify", out, "--cache", cache).status == 0
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    file = results["rows"]["run"]["rows cpu"]["file"]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE rows AS FROM '{out / file}'")
        connection.execute("UPDATE rows SET value = value + 1 WHERE t_ns = (SELECT min(t_ns) FROM rows)")
        connection.execute(f"COPY rows TO '{out / file}' (FORMAT parquet)")
    result = run_assay("verify", out, "--cache", cache)
    assert (result.status, f"file {file} differs" in result.out) == (3, True)
