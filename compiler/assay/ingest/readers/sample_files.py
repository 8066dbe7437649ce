"""Read files of samples, whose format is determined by their content."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.decompress import iter_decompressed
from assay.ingest.plain_copies import decompress_file, read_lines
from assay.ingest.readers import openmetrics, prometheus_response
from assay.ingest.readers.sample_store import (
    LABELS,
    add_samples,
    add_series,
    build_row_number,
    build_unreadable_error,
    create_table,
    drop_tables,
    execute_statement,
    get_first_line,
)
from assay.sql import dialect
from assay.sql.dialect import build_column, build_scan
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


def load(connection: duckdb.DuckDBPyConnection, path: Path, file: int, folder: Path) -> tuple[str, ...]:
    """Add the samples of a file with an index; return the warnings that a server sent with them.

    `folder` is for temporary files. Raises AssayError if the format is unknown.
    """
    warnings: tuple[str, ...] = ()
    content = decompress_file(path, folder, f"{file}.plain")
    with content.open("rb") as stream:
        head = stream.read(PROBED).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        _load_parquet(connection, path, content, file)
    elif re.match(LINES, head):
        openmetrics.load(connection, path, content, file, folder)
    elif re.match(rb'[\[{]\s*($|["\]}\[{])', head):
        warnings = prometheus_response.load(connection, path, content, file, folder)
    else:
        raise _build_format_error(path, head)
    if content != path:
        content.unlink()
    return warnings


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


def _load_parquet(connection: duckdb.DuckDBPyConnection, path: Path, content: Path, file: int) -> None:
    """Add the samples of a Parquet file."""
    import duckdb

    source = build_scan(glob.escape(str(content)))
    try:
        _check_columns(connection, path, source)
        create_table(connection, "stored", _build_stored_query(source.copy()))
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        raise build_unreadable_error(path, get_first_line(error)) from None
    labels = builder.build_alias(builder.call("any_value", build_column("labels")), "labels")
    each = builder.set_source(dialect.select("name", "said", labels), "stored").group_by("name", "said").subquery("g")
    place = builder.build_alias(build_row_number(), "place")
    create_table(connection, "said_series", builder.set_source(dialect.select(place, "name", "said", "labels"), each))
    add_series(connection, file, builder.set_source(dialect.select("place", "name", "labels"), "said_series"))
    words = [
        build_column("name"),
        build_column("said"),
        builder.build_text(" "),
        build_column("value"),
        builder.build_text(" "),
        build_column("t_ns"),
    ]
    text = builder.build_alias(builder.call("concat", *words), "text")
    is_unnamed = exp.or_(
        *(exp.EQ(this=build_column(part), expression=builder.build_text("")) for part in ("name", "said"))
    )
    fault = builder.build_alias(builder.build_if(is_unnamed, builder.build_text(UNNAMED)), "fault")
    pairs = builder.set_source(dialect.select("place", "number", "t_ns", "value", fault, text), "stored")
    create_table(connection, "pairs", pairs.join("said_series", using=["name", "said"], copy=False))
    add_samples(connection, file, "pairs")
    drop_tables(connection, "stored", "said_series", "pairs")


def _build_stored_query(source: exp.Expr) -> exp.Select:
    """Return the query for the rows of a Parquet file: number, name, labels, said (labels as text), t_ns, value."""
    empty = builder.build_text("")
    name = builder.build_alias(builder.build_coalesce([build_column("name"), empty]), "name")
    labels_text = builder.build_coalesce(
        [builder.cast(builder.call("to_json", build_column("labels")), "TEXT"), empty.copy()]
    )
    is_complete = exp.and_(builder.is_not_null(build_column("name")), builder.is_not_null(build_column("labels")))
    t_ns = builder.build_alias(builder.build_if(is_complete, build_column("t_ns")), "t_ns")
    query = dialect.select(
        builder.build_alias(build_row_number(), "number"),
        name,
        "labels",
        builder.build_alias(labels_text, "said"),
        t_ns,
        "value",
    )
    return builder.set_source(query, source)


def _check_columns(connection: duckdb.DuckDBPyConnection, path: Path, source: exp.Expr) -> None:
    """Check the columns of a Parquet file. Raises AssayError."""
    query = builder.set_source(dialect.select("*"), source)
    columns = {name: kind for name, kind, *_ in execute_statement(connection, exp.Describe(this=query))}
    wrong_columns = [f"{name} {kind}" for name, kind in COLUMNS.items() if columns.get(name) != kind]
    if wrong_columns:
        raise fail(
            "not-samples",
            f"the Parquet file has no samples: {path}",
            expected=", ".join(f"{name} {kind}" for name, kind in COLUMNS.items()),
            found=", ".join(f"{name} {kind}" for name, kind in columns.items()),
        )
