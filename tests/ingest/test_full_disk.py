"""Test that a full disk during ingest is reported as such, not as a broken file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

from assay.ingest import plain_copies
from assay.ingest.readers import csv, openmetrics, prometheus_response, sample_files
from assay.util.diagnostics import AssayError
from tests.support.ingesting import (
    SOURCE,
    IngestedFolder,
    build_event,
    build_field,
    build_form,
    format_error,
    ingest_log,
)

ANSWER = (
    b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"},"values":[[1,"1"]]}]}}'
)
TEXT = b"up 1 1\n# EOF\n"
PARQUET = "COPY (SELECT 'up' AS name, MAP {'job': 'x'} AS labels, 1::BIGINT AS t_ns, 1.0::DOUBLE AS value) TO "


def raise_disk_full(*_: object, **__: object) -> Any:
    """Fail like the engine when it spills to a full disk."""
    raise duckdb.IOException('Could not write all bytes to file "spill": No space left on device')


def ingest_content(folder: Path, content: bytes) -> IngestedFolder:
    """Ingest a file of samples, or a table."""
    kind = "csv" if content.startswith(b"at,") else "samples"
    source = replace(SOURCE, kind=kind, hosts="", logs=("rows",), time=("at",), body=(), unwrap=(), lookups=())
    value = [build_field("value", "real")]
    events = [build_event("up", build_form(value) if kind == "csv" else build_form(value, v1="up"))]
    return ingest_log(folder, {"rows": content}, events, source=source)


def create_parquet(folder: Path) -> bytes:
    with duckdb.connect() as connection:
        connection.execute(f"{PARQUET}'{folder / 'x'}' (FORMAT parquet)")
    return (folder / "x").read_bytes()


@pytest.mark.parametrize(
    ("content", "module", "step"),
    [
        (lambda _: b"at,value\n1,1\n", csv, "_build_insert"),
        (lambda _: TEXT, openmetrics, "_scan_lines"),
        (lambda _: ANSWER, prometheus_response, "_create_response_table"),
        (create_parquet, sample_files, "_check_columns"),
    ],
)
def test_full_disk_is_not_reported_as_a_broken_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Callable[[Path], bytes], module: ModuleType, step: str
) -> None:
    text = content(tmp_path)
    assert ingest_content(tmp_path / "whole", text).read_rows("up", "value") == [(1.0,)]
    monkeypatch.setattr(module, step, raise_disk_full)
    with pytest.raises(AssayError) as error:
        ingest_content(tmp_path, text)
    assert format_error(error.value, tmp_path) == (
        "error[disk-full]: the disk of the cache folder is full: DIR\n"
        "  hint: free disk space and run the same command again: it keeps complete files, and continues, or "
        "pass --cache DIR"
    )


@pytest.mark.parametrize("end", [b"", b"# " + b"x" * plain_copies.LONGEST])
def test_text_of_samples_is_repaired_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes) -> None:
    """The last line is too long, or the scan refuses the file, or even its repaired copy."""
    copied_names = []

    def copy_mended(_: Path, folder: Path, name: str) -> tuple[Path, tuple[int, ...]]:
        copied_names.append(name)
        place = folder / name
        place.write_bytes(b"\xff" + TEXT)
        return place, ()

    monkeypatch.setattr(openmetrics, "create_repaired_copy", copy_mended)
    with pytest.raises(AssayError) as error:
        ingest_content(tmp_path, b"up 1 1\n\xff\n" + end)
    assert error.value.diagnostics[0].message == f"the samples cannot be read: {tmp_path}/run/rows"
    assert copied_names == ["0.repaired"]
