"""Read files of samples, whose format is determined by their content."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.decompress import iter_decompressed
from assay.ingest.plain_copies import decompress_file, read_lines
from assay.ingest.readers import openmetrics, otlp_metrics, prometheus_response
from assay.ingest.readers.native_histograms import HistogramSample
from assay.ingest.readers.sample_store import (
    LABELS,
    add_samples,
    add_series,
    build_unreadable_error,
    drop_tables,
    execute,
    get_first_line,
)
from assay.util.diagnostics import AssayError, fail
from assay.util.os_errors import is_disk_full_error

if TYPE_CHECKING:
    import duckdb

#: beginning of a file with one sample per line
LINES = rb"#|[a-zA-Z_:]|\{\s*[a-zA-Z_]|" + openmetrics.BEGINS.encode()
TEXT = re.compile(rb"(?!PAR1)(?:\xef\xbb\xbf)?\s*(?:" + LINES + rb")")
PROBED = 4096  # leading bytes that determine the format
UNNAMED = "no name, or no labels"
COLUMNS = {"name": "VARCHAR", "labels": LABELS, "t_ns": "BIGINT", "value": "DOUBLE"}
FORMS = (
    "a saved response of Prometheus (JSON), a text of samples with instants, or Parquet with name, labels, t_ns, value"
)


def load(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    file: int,
    folder: Path,
    read_names: Collection[str] | None = None,
) -> tuple[tuple[str, ...], list[HistogramSample]]:
    """Add the samples of a file with an index; return the warnings that a server sent with them, and histograms.

    `folder` is for temporary files. Native histograms of series that are read as numbers, by `read_names`, are an error
    or malformed samples. Raises AssayError if the format is unknown.
    """
    warnings: tuple[str, ...] = ()
    histograms: list[HistogramSample] = []
    content = decompress_file(path, folder, f"{file}.plain")
    with content.open("rb") as stream:
        head = stream.read(PROBED).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        _load_parquet(connection, path, content, file)
    elif re.match(LINES, head):
        histograms = openmetrics.load(connection, path, content, file, folder, read_names)
    elif otlp_metrics.MARK in head:
        histograms = otlp_metrics.load(connection, path, content, file)
    elif re.match(rb'[\[{]\s*($|["\]}\[{])', head):
        warnings, histograms = prometheus_response.load(connection, path, content, file, folder, read_names)
    else:
        raise _build_format_error(path, head)
    if content != path:
        content.unlink()
    return warnings, histograms


def has_lines(path: Path) -> bool:
    """Return whether a file of samples has one sample per line."""
    return bool(TEXT.match(next(iter_decompressed(path), b"")))


def find_sample_offsets(path: Path, numbers: Collection[int]) -> dict[int, int]:
    """Return the byte offsets of samples by their numbers, of their lines if the file has lines.

    Offsets are in the uncompressed content. Samples in Parquet have none.
    """
    if has_lines(path):
        return {line.number: line.offset for line in read_lines(path, numbers)}
    is_parquet = next(iter_decompressed(path), b"").startswith(b"PAR1")
    return {} if is_parquet else prometheus_response.locate_samples(path, numbers)


def _build_format_error(path: Path, head: bytes) -> AssayError:
    beginning = repr(head[:40].decode("utf-8", errors="replace")) if head else "an empty file"
    return fail("not-samples", f"the file has no samples: {path}", expected=FORMS, found=beginning)


#: rows of a Parquet file, with their labels as text. Incomplete rows have no instant.
_STORED = """
CREATE TABLE stored AS
SELECT
    row_number() OVER () AS number,
    coalesce(name, '') AS name,
    labels,
    coalesce(CAST(to_json(labels) AS VARCHAR), '') AS label_text,
    CASE WHEN name IS NOT NULL AND labels IS NOT NULL THEN t_ns END AS t_ns,
    value
FROM read_parquet($file)
"""
_SERIES = """
CREATE TABLE stored_series AS
SELECT row_number() OVER () AS place, name, label_text, labels
FROM (SELECT name, label_text, any_value(labels) AS labels FROM stored GROUP BY name, label_text)
"""
_SAMPLES = f"""
CREATE TABLE stored_samples AS
SELECT
    place,
    number,
    t_ns,
    value,
    CASE WHEN name = '' OR label_text = '' THEN '{UNNAMED}' END AS fault,
    concat(name, label_text, ' ', value, ' ', t_ns) AS text
FROM stored JOIN stored_series USING (name, label_text)
"""


def _load_parquet(connection: duckdb.DuckDBPyConnection, path: Path, content: Path, file: int) -> None:
    """Add the samples of a Parquet file."""
    import duckdb

    pattern = glob.escape(str(content))
    try:
        _check_columns(connection, path, pattern)
        execute(connection, _STORED, file=pattern)
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        raise build_unreadable_error(path, get_first_line(error)) from None
    connection.execute(_SERIES)
    add_series(connection, file, "SELECT place, name, labels FROM stored_series")
    connection.execute(_SAMPLES)
    add_samples(connection, file, "stored_samples")
    drop_tables(connection, "stored", "stored_series", "stored_samples")


def _check_columns(connection: duckdb.DuckDBPyConnection, path: Path, pattern: str) -> None:
    """Check the columns of a Parquet file. Raises AssayError."""
    rows = execute(connection, "DESCRIBE SELECT * FROM read_parquet($file)", file=pattern)
    columns = {name: kind for name, kind, *_ in rows}
    if any(columns.get(name) != kind for name, kind in COLUMNS.items()):
        raise fail(
            "not-samples",
            f"the Parquet file has no samples: {path}",
            expected=", ".join(f"{name} {kind}" for name, kind in COLUMNS.items()),
            found=", ".join(f"{name} {kind}" for name, kind in columns.items()),
        )
