"""Read files of samples, whose format is determined by their content."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.decompress import decompressed
from assay.ingest.plain_copies import lines_at, plain
from assay.ingest.readers import openmetrics, prometheus_response
from assay.ingest.readers.sample_store import (
    LABELS,
    add_samples,
    add_series,
    counted,
    drop,
    first_of,
    make,
    run,
    unreadable,
)
from assay.sql import dialect
from assay.sql.dialect import column, scan
from assay.util.diagnostics import AssayError, fail
from assay.util.os_errors import is_full

if TYPE_CHECKING:
    import duckdb

#: beginning of a file with one sample per line
LINES = rb"#|[a-zA-Z_:]|\{\s*[a-zA-Z_]|" + openmetrics.BEGINS.encode()
TEXT = re.compile(rb"(?!PAR1)(?:\xef\xbb\xbf)?\s*(?:" + LINES + rb")")
PROBED = 4096  # leading bytes that determine the format
UNNAMED = "no name, or no labels"
COLUMNS = {"name": "VARCHAR", "labels": LABELS, "t_ns": "BIGINT", "value": "DOUBLE"}
FORMS = (
    "a saved answer of Prometheus (JSON), a text of samples with instants, or Parquet with name, labels, t_ns, value"
)


def load(connection: duckdb.DuckDBPyConnection, path: Path, file: int, folder: Path) -> tuple[str, ...]:
    """Add the samples of a file with an index; return the warnings that a server sent with them.

    `folder` is for temporary files. Raises AssayError if the format is unknown.
    """
    warnings: tuple[str, ...] = ()
    content = plain(path, folder, f"{file}.plain")
    with content.open("rb") as stream:
        head = stream.read(PROBED).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        _parquet(connection, path, content, file)
    elif re.match(LINES, head):
        openmetrics.load(connection, path, content, file, folder)
    elif re.match(rb'[\[{]\s*($|["\]}\[{])', head):
        warnings = prometheus_response.load(connection, path, content, file, folder)
    else:
        raise _unknown(path, head)
    if content != path:
        content.unlink()
    return warnings


def has_lines(path: Path) -> bool:
    """Return whether a file of samples has one sample per line."""
    return bool(TEXT.match(next(decompressed(path), b"")))


def places(path: Path, numbers: Collection[int]) -> dict[int, int]:
    """Return the byte offsets of samples by their numbers, of their lines if the file has lines.

    Offsets are in the uncompressed content. Samples in Parquet have none.
    """
    if has_lines(path):
        return {line.number: line.offset for line in lines_at(path, numbers)}
    is_parquet = next(decompressed(path), b"").startswith(b"PAR1")
    return {} if is_parquet else prometheus_response.locate_samples(path, numbers)


def _unknown(path: Path, head: bytes) -> AssayError:
    beginning = repr(head[:40].decode("utf-8", errors="replace")) if head else "an empty file"
    return fail("not-samples", f"the file holds no samples: {path}", expected=FORMS, found=beginning)


def _parquet(connection: duckdb.DuckDBPyConnection, path: Path, content: Path, file: int) -> None:
    """Add the samples of a Parquet file."""
    import duckdb

    source = scan(glob.escape(str(content)))
    try:
        _right_columns(connection, path, source)
        make(connection, "stored", _stored(source.copy()))
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise unreadable(path, first_of(error)) from None
    labels = builder.alias(builder.call("any_value", column("labels")), "labels")
    each = builder.from_source(dialect.select("name", "said", labels), "stored").group_by("name", "said").subquery("g")
    place = builder.alias(counted(), "place")
    make(connection, "said_series", builder.from_source(dialect.select(place, "name", "said", "labels"), each))
    add_series(connection, file, builder.from_source(dialect.select("place", "name", "labels"), "said_series"))
    words = [
        column("name"),
        column("said"),
        builder.text(" "),
        column("value"),
        builder.text(" "),
        column("t_ns"),
    ]
    text = builder.alias(builder.call("concat", *words), "text")
    unnamed = exp.or_(*(exp.EQ(this=column(part), expression=builder.text("")) for part in ("name", "said")))
    fault = builder.alias(builder.when(unnamed, builder.text(UNNAMED)), "fault")
    pairs = builder.from_source(dialect.select("place", "number", "t_ns", "value", fault, text), "stored")
    make(connection, "pairs", pairs.join("said_series", using=["name", "said"], copy=False))
    add_samples(connection, file, "pairs")
    drop(connection, "stored", "said_series", "pairs")


def _stored(source: exp.Expr) -> exp.Select:
    """Return the query for the rows of a Parquet file: number, name, labels, said (labels as text), t_ns, value."""
    empty = builder.text("")
    name = builder.alias(builder.first_of([column("name"), empty]), "name")
    labels_text = builder.first_of([builder.cast(builder.call("to_json", column("labels")), "TEXT"), empty.copy()])
    is_complete = exp.and_(builder.is_not_null(column("name")), builder.is_not_null(column("labels")))
    t_ns = builder.alias(builder.when(is_complete, column("t_ns")), "t_ns")
    query = dialect.select(
        builder.alias(counted(), "number"), name, "labels", builder.alias(labels_text, "said"), t_ns, "value"
    )
    return builder.from_source(query, source)


def _right_columns(connection: duckdb.DuckDBPyConnection, path: Path, source: exp.Expr) -> None:
    """Check the columns of a Parquet file. Raises AssayError."""
    query = builder.from_source(dialect.select("*"), source)
    columns = {name: kind for name, kind, *_ in run(connection, exp.Describe(this=query))}
    wrong = [f"{name} {kind}" for name, kind in COLUMNS.items() if columns.get(name) != kind]
    if wrong:
        raise fail(
            "not-samples",
            f"the Parquet file holds no samples: {path}",
            expected=", ".join(f"{name} {kind}" for name, kind in COLUMNS.items()),
            found=", ".join(f"{name} {kind}" for name, kind in columns.items()),
        )
