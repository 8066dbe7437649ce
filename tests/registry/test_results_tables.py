"""Recorded results as CSV, JSON, Parquet and OpenMetrics text."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

from assay.registry.model import Figures, RecordedResults, ResultsFile
from assay.registry.tables import COLUMNS, Row, build_rows, format_table, write_parquet, write_table_file
from tests.support.commands import run_assay
from tests.support.documentation import find_code_spans, parse_page
from tests.support.laboratory import ROOT

HOSTILE = 'a"b\\c\nd'


@pytest.fixture
def rows() -> list[Row]:
    """Return results with names that need escapes, numbers that are not finite, a formula, and no samples."""
    metrics = {
        "wait[kind=read]": Figures(name=HOSTILE, unit="ms", definition="d", size=3, average="NaN", median="+Inf",
                                   min="-Inf", max=0.1, centiles=((0.5, "+Inf"), (0.95, 2.5))),
        "share": Figures(name="Share", unit="", definition="e", average=0.25, formula="a / b"),
        "empty": Figures(name="Empty", unit="s", definition="f", size=0, average=0.0, median=0.0,
                         centiles=((0.95, 0.0),)),
    }  # fmt: skip
    content = ResultsFile(run=HOSTILE, report="service/comparison", summary="requests", filters=("slow", "host=a,b"),
                          assay="0.2.0", data="h", metrics=metrics)  # fmt: skip
    return list(build_rows([RecordedResults(Path("x"), "0123", content)]))


def test_parquet_has_documented_columns_and_values(rows: list[Row], tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    write_parquet(rows, file)
    relation = duckdb.connect().sql(f"SELECT * FROM '{file}'")
    assert relation.columns == list(COLUMNS)
    kinds = [str(kind).replace('"', "") for kind in relation.types]
    assert kinds == list(COLUMNS.values())
    empty, share, wait = (dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall())
    assert (empty["size"], empty["average"], empty["median"], empty["p95"], empty["centiles"]) == (
        0,
        None,
        None,
        None,
        [],
    )
    assert (share["size"], share["average"], share["unit"], share["centiles"]) == (None, 0.25, "", [])
    assert (wait["run"], wait["name"], wait["filters"]) == (HOSTILE, HOSTILE, ["slow", "host=a,b"])
    assert math.isnan(wait["average"])
    assert (wait["median"], wait["min"], wait["max"], wait["p95"]) == (math.inf, -math.inf, 0.1, 2.5)


def test_columns_are_documented() -> None:
    table = next(item for item in parse_page("docs/registry.md").tables if item.header[0] == "column")
    assert {name for row in table.rows for name in find_code_spans(row[0])} == set(COLUMNS)


def test_text_formats_have_the_same_rows(rows: list[Row]) -> None:
    items = json.loads(format_table(rows, "json"))
    lines = list(csv.DictReader(io.StringIO(format_table(rows, "csv"))))
    assert [row["metric"] for row in items] == [row["metric"] for row in lines] == ["empty", "share", "wait[kind=read]"]
    assert [row["run"] for row in lines] == [HOSTILE] * 3
    assert (lines[1]["average"], lines[2]["average"], items[2]["average"]) == ("0.25", "nan", "NaN")


def test_openmetrics_has_unique_escaped_samples(rows: list[Row]) -> None:
    text = format_table(rows, "openmetrics")
    lines = text.split("\n")
    assert lines[-2:] == ["# EOF", ""]
    samples = [line for line in lines if line and not line.startswith("#")]
    for line in samples:
        assert re.fullmatch(r'\w+\{(\w+="(?:[^"\\]|\\["\\n])*",?)+\} (NaN|[+-]Inf|[0-9.e+-]+)', line), line
    keys = [line.rpartition(" ")[0] for line in samples]
    assert len(keys) == len(set(keys))
    assert sum(line.startswith("assay_average{") for line in samples) == 2  # without the metric that has no samples
    assert 'run="a\\"b\\\\c\\nd"' in samples[0]


@pytest.mark.skipif(not shutil.which("promtool"), reason="requires promtool")
def test_promtool_accepts_openmetrics(rows: list[Row]) -> None:
    text = format_table(rows, "openmetrics")
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init`, with a cache of its own, and a build of it."""
    folder = tmp_path_factory.mktemp("tables") / "shop"
    run_assay("init", folder)
    with (folder / "assay.toml").open("a", encoding="utf-8") as file:
        file.write('cache = ".cache"\nresults = "results"\n')
    assert run_assay("build", "--to", "md", cwd=folder).status == 0
    return folder


@pytest.mark.skipif(not shutil.which("promtool"), reason="requires promtool")
@pytest.mark.parametrize(
    "words", [("results", "export", "build/comparison", "--to"), ("query", "wait", "--by", "host", "--format")]
)
def test_promtool_accepts_results_of_builds_and_queries(shop: Path, words: tuple[str, ...]) -> None:
    text = run_assay(*words, "openmetrics", cwd=shop).out
    assert 'assay_average{run="1.0"' in text
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def read_numbers(file: Path) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return the numbers of a table by metric and run."""
    statement = f"SELECT metric, run, size, average, median, stddev, min, max, p95, p99 FROM '{file}'"
    return {row[:2]: row[2:] for row in duckdb.connect().sql(statement).fetchall()}


def test_builds_and_queries_have_the_numbers_of_results_json(shop: Path, tmp_path: Path) -> None:
    built, queried = tmp_path / "built.parquet", tmp_path / "queried.parquet"
    for form in ("parquet", "csv", "json"):
        words = ("results", "export", "build/comparison", "--to", form, "-o", built.with_suffix(f".{form}"))
        assert run_assay(*words, cwd=shop).status == 0
    query = (
        "query",
        "wait",
        "work",
        "response_size",
        "--run",
        "1.0",
        "--run",
        "1.1",
        "--format",
        "parquet",
        "-o",
        queried,
    )
    assert run_assay(*query, cwd=shop).status == 0
    results = json.loads((shop / "build/comparison/results.json").read_text(encoding="utf-8"))
    expected = {
        (name, run): (*(item[key] for key in ("size", "average", "median", "stddev", "min", "max")),
                      *(dict(item["centiles"])[share] for share in (0.95, 0.99)))
        for name, metric in results["metrics"].items()
        for run, item in metric["runs"].items()
    }  # fmt: skip
    assert read_numbers(built) == read_numbers(queried) == expected
    assert read_numbers(built.with_suffix(".json")) == expected
    statement = f"SELECT metric, run, size, average FROM read_csv('{built.with_suffix('.csv')}', all_varchar = true)"
    assert {row[:2]: (int(row[2]), float(row[3])) for row in duckdb.connect().sql(statement).fetchall()} == {
        key: values[:2] for key, values in expected.items()
    }


def test_phases_of_an_article_are_exported(tmp_path: Path, cache: Path) -> None:
    """They are rows of their own, and a results folder does not take them."""
    out, results = tmp_path / "out", tmp_path / "results"
    run = ROOT / "golden/antelope/upgrade/run"
    options = ("--to", "md", "-o", out, "--results", results, "--cache", cache)
    assert run_assay("build", "antelope/upgrade", "--run", run, *options).status == 0
    assert not results.exists()
    rows = json.loads(run_assay("results", "export", out, "--to", "json").out)
    metrics = json.loads((out / "results.json").read_text(encoding="utf-8"))["metrics"]
    assert {(row["metric"], row["run"]): row["average"] for row in rows if row["size"]} == {
        (name, phase): item["average"] for name, metric in metrics.items() for phase, item in metric["runs"].items()
        if item.get("size")
    }  # fmt: skip
    assert {row["run"] for row in rows} == {"run:before", "run:after"}


def test_report_without_averages_has_no_results(tmp_path: Path, cache: Path) -> None:
    out = tmp_path / "out"
    run = ROOT / "golden/cardano/baseline/run"
    words = ("build", "cardano/host-timelines", "--run", run, "--to", "md", "-o", out, "--cache", cache)
    assert run_assay(*words).status == 0
    result = run_assay("results", "export", out)
    assert (result.status, result.out) == (1, "")
    assert "error[no-metrics]: the build has no results of metrics" in result.err


@pytest.mark.parametrize("words", [("--format", "parquet"), ("--format", "csv", "-o", "file")])
def test_query_writes_files_of_tables_alone(shop: Path, words: tuple[str, ...]) -> None:
    result = run_assay("query", "wait", *words, cwd=shop)
    assert (result.status, result.out) == (2, "")
    assert "-o" in result.err


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_file_that_cannot_be_written_is_named(rows: list[Row], tmp_path: Path, form: str) -> None:
    from assay.util.diagnostics import AssayError

    with pytest.raises(AssayError, match=r"cannot be written.*nothing"):
        write_table_file(rows, form, tmp_path / "nothing" / "file")
