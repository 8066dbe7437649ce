"""What orders the log files of a host: the instant of the first line of each that has one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import builder, timestamps
from assay.ingest.plain_copies import first_lines
from assay.lang.line_pattern import parse
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import TEXT_LINES
from assay.sql import dialect
from assay.sql.dialect import column

if TYPE_CHECKING:
    import duckdb

LONGEST = 4096  # characters of a line of text that are looked at
BLANKS = b" \t\r"  # that may stand ahead of an object
AT_ONCE = 8  # lines that are looked at together: each may be as long as a line may be


def first_instant(source: Source, events: Sequence[Event], path: Path, count: int) -> str:
    """The instant as a text that sorts by time, out of so many lines at most; empty when none of them has one.

    `events` are all of the source: where it has no pattern of all lines, theirs tell where the instant is.
    """
    import duckdb

    if source.kind == TEXT_LINES:
        query, lines = _of_text(source, events), _texts(path, count)
    else:
        query, lines = _of_json(source), _objects(path, count)
    with duckdb.connect() as connection:
        first = _first(connection, dialect.text(query), lines)
    return "" if first is None else f"{first + 2**64:021d}"


def _texts(path: Path, count: int) -> Iterator[str]:
    return (line.decode("utf-8", errors="replace").rstrip()[:LONGEST] for line in first_lines(path, count))


def _objects(path: Path, count: int) -> Iterator[str]:
    lines = (line.lstrip(BLANKS) for line in first_lines(path, count))
    return (line.decode("utf-8", errors="replace") for line in lines if line.startswith(b"{"))


def _first(connection: duckdb.DuckDBPyConnection, query: str, lines: Iterable[str]) -> int | None:
    """The first instant that the query finds in the lines; None where there is none."""
    rest = iter(lines)
    while some := list(itertools.islice(rest, AT_ONCE)):
        found = (t_ns for (t_ns,) in connection.execute(query, {"lines": some}).fetchall())
        if (first := next((t_ns for t_ns in found if t_ns is not None), None)) is not None:
            return int(first)
    return None


def _lines() -> exp.Select:
    """The lines `$lines` with their numbers."""
    line = builder.alias(exp.Explode(this=builder.given_list("lines", "TEXT")), "line")
    number = builder.call("generate_subscripts", builder.given_list("lines", "TEXT"), dialect.integer(1))
    return dialect.select(builder.alias(number, "number"), line)


def _of_json(source: Source) -> exp.Select:
    """The instants of lines that are JSON objects, in order; null for a line without one."""
    texts = builder.texts_at(column("line"), source.times)
    found = builder.tried(
        builder.first_of([builder.member(texts.copy(), index + 1) for index in range(len(source.times))])
    )
    said = builder.from_source(dialect.select("number", builder.alias(found, "said")), "lines")
    query = builder.from_source(
        dialect.select(builder.alias(timestamps.of_text(source, column("said")), "t_ns")), "said"
    )
    return dialect.staged(query.order_by("number"), [("lines", _lines()), ("said", said)])


def _of_text(source: Source, events: Sequence[Event]) -> exp.Select:
    """The instants of lines of text, in order; null for a line without one."""
    patterns = (
        [source.line] if source.line else [name.name for event in events for form in event.forms for name in form.names]
    )
    expressions = [builder.text(parse(item).expression((source.time[0],))) for item in patterns]
    found = [builder.call("regexp_extract", column("line"), item, dialect.integer(1)) for item in expressions]
    said = [builder.call("nullif", item, builder.text("")) for item in found]
    stages = [
        ("lines", _lines()),
        (
            "said",
            builder.from_source(
                dialect.select("number", builder.alias(builder.call("coalesce", *said), "said")), "lines"
            ),
        ),
        (
            "parted",
            builder.from_source(
                dialect.select("number", builder.alias(timestamps.parse_parts(source, column("said")), "moment")),
                "said",
            ),
        ),
    ]
    query = builder.from_source(
        dialect.select(builder.alias(timestamps.instant(source, column("moment")), "t_ns")), "parted"
    )
    return dialect.staged(query.order_by("number"), stages)
