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
from assay.registry.tables import COLUMNS, format_table, write_parquet, write_table_file
from tests.support.documentation import find_code_spans, parse_page

HOSTILE = 'a"b\\c\nd'


@pytest.fixture
def recorded() -> list[RecordedResults]:
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
    return [RecordedResults(Path("x"), "0123", content)]


def test_parquet_has_documented_columns_and_values(recorded: list[RecordedResults], tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    write_parquet(recorded, file)
    relation = duckdb.connect().sql(f"SELECT * FROM '{file}'")
    assert relation.columns == list(COLUMNS)
    kinds = [str(kind).replace('"', "") for kind in relation.types]
    assert kinds == list(COLUMNS.values())
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    empty, share, wait = rows
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


def test_text_formats_have_the_same_rows(recorded: list[RecordedResults]) -> None:
    rows = json.loads(format_table(recorded, "json"))
    lines = list(csv.DictReader(io.StringIO(format_table(recorded, "csv"))))
    assert [row["metric"] for row in rows] == [row["metric"] for row in lines] == ["empty", "share", "wait[kind=read]"]
    assert [row["run"] for row in lines] == [HOSTILE] * 3
    assert (lines[1]["average"], lines[2]["average"], rows[2]["average"]) == ("0.25", "nan", "NaN")


def test_openmetrics_has_unique_escaped_samples(recorded: list[RecordedResults]) -> None:
    text = format_table(recorded, "openmetrics")
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
def test_promtool_accepts_openmetrics(recorded: list[RecordedResults]) -> None:
    text = format_table(recorded, "openmetrics")
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_file_that_cannot_be_written_is_named(recorded: list[RecordedResults], tmp_path: Path, form: str) -> None:
    from assay.util.diagnostics import AssayError

    with pytest.raises(AssayError, match=r"cannot be written.*nothing"):
        write_table_file(recorded, form, tmp_path / "nothing" / "file")
