"""Test the Python interface by the examples of its page, and the exported samples against the averages."""

from __future__ import annotations

import contextlib
import csv
import doctest
import io
import json
from pathlib import Path
from statistics import fmean

import duckdb
import pytest

import assay
from tests.compare_reference import CARDANO
from tests.support.cometbft import RUN
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT

BASELINE = CARDANO / "baseline" / "run"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init`, with a cache of its own."""
    folder = tmp_path_factory.mktemp("python") / "place"
    assert run_assay("init", folder).status == 0
    with (folder / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('cache = ".cache"\n')
    return folder


def test_examples_of_the_page_run(place: Path) -> None:
    output = io.StringIO()
    with contextlib.chdir(place):
        test = doctest.DocTestParser().get_doctest(
            (ROOT / "docs" / "python.md").read_text(encoding="utf-8").replace("```\n", "\n"), {}, "python.md", None, 0
        )
        results = doctest.DocTestRunner().run(test, out=output.write)
    assert results.attempted > 5
    assert results.failed == 0, output.getvalue()


@pytest.mark.parametrize(
    ("name", "run"),
    [("cdfForgerLead", BASELINE), ("cdfPeerFetch", BASELINE), ("CentiCpu", BASELINE), ("latency", RUN)],
)
def test_samples_have_the_average_of_the_metric(cache: Path, name: str, run: Path) -> None:
    with assay.open(ROOT, cache) as workspace:
        (row,) = workspace.query(name, [run], no_filters=True)
        values = [item[0] for item in workspace.samples(name, [run], no_filters=True).project("value").fetchall()]
    assert len(values) == row["size"]
    assert (min(values), max(values)) == (pytest.approx(row["min"]), pytest.approx(row["max"]))


def test_calls_have_the_options_of_the_commands(place: Path) -> None:
    """The command line calls the workspace, so that both have the same numbers."""
    with contextlib.chdir(place), assay.open() as shop:
        rows = shop.query(["wait", "work"], ["1.0"], by="host", filters=())
        words = ("query", "wait", "work", "--run", "1.0", "--by", "host", "--format", "json")
        assert rows == run_assay(*words, cwd=place).parse_json()
        answer = shop.compute("wait", no_filters=True)
        assert [(metric.id, run) for metric, run, _ in answer.rows] == [("wait", "1.0"), ("wait", "1.1")]
        changes = shop.compare(["1.1", "1.0"], ["wait"], summary="requests").versions[0].metrics
        words = ("compare", "1.1", "1.0", "--metric", "wait", "--format", "json")
        (printed,) = run_assay(*words, cwd=place).parse_json()["changes"]
        assert [(item.change.percent, item.change.low) for item in changes] == [(printed["percent"], printed["low"])]
        with pytest.raises(assay.AssayError, match="a comparison needs two or more runs"):
            shop.compare(["1.0"])
        with pytest.raises(assay.AssayError, match="is built from runs, not from publications"):
            shop.build("service/comparison", publications=["x.json"], out="x")


def test_comparisons_are_tables_in_notebooks(place: Path) -> None:
    """The data frame has what the command exports; the table in HTML has escaped names and the counts of verdicts."""
    with contextlib.chdir(place), assay.open() as shop:
        comparison = shop.compare(["<b>=runs/1.0", "runs/1.1"])
    result = run_assay("compare", "<b>=runs/1.0", "runs/1.1", "--format", "csv", cwd=place)
    exported = list(csv.DictReader(io.StringIO(result.out)))
    frame = comparison.df()
    assert list(frame.columns) == list(exported[0])
    assert [f"{value:.9g}" for value in frame["percent"]] == [f"{float(row['percent']):.9g}" for row in exported]
    page = comparison._repr_html_()
    assert "<h4>1.1 against &lt;b&gt;</h4>\n<p>0 worse, 1 better, 0 same within 2 %, 1 cannot tell</p>" in page
    assert page.count("<tr style") == len(frame)
    assert "<td>24.4 ms</td><td>17.6 ms</td><td>-28</td>" in page


def test_calls_without_any_runs_are_explained(cache: Path) -> None:
    with assay.open(ROOT, cache) as workspace, pytest.raises(assay.AssayError, match="no runs are chosen"):
        workspace.query("CentiCpu")


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_samples_become_frames_of_each_library(place: Path, package: str) -> None:
    pytest.importorskip(package)
    with contextlib.chdir(place), assay.open() as shop:
        samples = shop.samples("wait", ["1.0"])
        expected = [row[3] for row in samples.fetchall()]
        columns = {
            "pandas": lambda: samples.df()["value"].tolist(),
            "polars": lambda: samples.pl()["value"].to_list(),
            "pyarrow": lambda: samples.to_arrow_table()["value"].to_pylist(),
        }
        assert columns[package]() == expected


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_exported_files_have_the_same_samples(place: Path, tmp_path: Path, form: str) -> None:
    file = tmp_path / f"wait.{form}"
    result = run_assay("samples", "wait", "--run", "1.0", "--format", form, "-o", file, cwd=place)
    assert (result.status, result.out) == (0, "")
    rows = duckdb.connect().sql(f"SELECT run::VARCHAR, host, request, value FROM '{file}'").fetchall()
    printed = list(csv.DictReader(io.StringIO(run_assay("samples", "wait", "--run", "1.0", cwd=place).out)))
    assert [(*row[1:3], repr(row[3])) for row in rows] == [
        (row["host"], row["request"], row["value"]) for row in printed
    ]
    data = run_assay("samples", "wait", "--run", "1.0", "--format", "json", cwd=place).parse_json()
    assert [row["value"] for row in data] == [row[3] for row in rows]
    average = run_assay("query", "wait", "--run", "1.0", "--format", "json", cwd=place).parse_json()[0]["average"]
    assert fmean(row[3] for row in rows) == pytest.approx(average)


def test_instants_of_series_keep_nanoseconds(cache: Path) -> None:
    words = ("samples", "cpu_usage_series", "--run", ROOT / "golden/antelope/upgrade/run", "--cache", cache)
    rows = list(csv.DictReader(io.StringIO(run_assay(*words).out)))
    assert rows
    assert all(row["t_ns"].startswith("2026-11-21 ") for row in rows)
    assert json.dumps(rows) == json.dumps(sorted(rows, key=lambda row: (row["name"], row["t_ns"])))


def test_formula_and_missing_settings_are_explained(tmp_path: Path, cache: Path) -> None:
    with assay.open(ROOT, cache) as workspace:
        with pytest.raises(assay.AssayError, match="is computed from other metrics, so it has no samples"):
            workspace.samples("vm_disk_writes_per_year", [BASELINE])
        with pytest.raises(TypeError, match="a report and a folder"):
            workspace.build(runs=[BASELINE])
        with pytest.raises(assay.AssayError, match="does not exist"):
            workspace.query("CentiCpu", [tmp_path / "nothing"])
