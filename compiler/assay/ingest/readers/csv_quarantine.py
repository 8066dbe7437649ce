"""Quarantine rows of tables: find those that are no events, with file, line and reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from assay.ingest import invalid_text, sql_trees
from assay.ingest.chunks import FILE_STEP
from assay.ingest.quarantine import DESCRIBED, TEXT_LIMIT, MalformedRecord, explain_missing_field, truncate_value
from assay.ingest.readers import csv_text
from assay.ingest.readers.csv_tables import ROWS, MalformedRow, TableFile, Tables, get_relative_path, is_event_row
from assay.sql import dialect


def find_non_events(tables: Tables) -> list[MalformedRow]:
    """Return the rows that cannot be events."""
    query = sql_trees.set_source(dialect.select("host", "seq"), ROWS).where(exp.not_(is_event_row(tables)), copy=False)
    rows = tables.connection.execute(dialect.to_sql(query.order_by("host", "seq"))).fetchall()
    return [MalformedRow(host, seq, "") for host, seq in rows]


def locate_malformed(
    tables: Tables, files: Sequence[TableFile], malformed: Sequence[MalformedRecord]
) -> Iterator[MalformedRecord]:
    """Yield malformed rows in order, with offsets in the file instead of offsets in their lines."""
    contents = {get_relative_path(tables, file): file.plain for file in files}
    ordered = sorted(malformed, key=lambda item: (item.host, item.file, item.line, item.offset or 0))
    for name, group in itertools.groupby(ordered, key=lambda item: item.file):
        items = list(group)
        offsets = csv_text.find_line_offsets(contents[name], {item.line for item in items})
        for item in items:  # `dataclasses.replace` takes five times as long
            offset = offsets[item.line] + (item.offset or 0)
            yield MalformedRecord(item.host, item.file, item.line, offset, item.reason, item.text)


def describe_malformed(
    tables: Tables, files: Sequence[TableFile], incomplete: Sequence[MalformedRow]
) -> Iterator[MalformedRecord]:
    """Yield descriptions of rows that are not events, for each file up to a limit."""
    events_by_file: dict[tuple[str, int], dict[int, str]] = {}
    for item in incomplete:
        events_by_file.setdefault((item.host, item.seq // FILE_STEP), {}).setdefault(item.seq % FILE_STEP, item.event)
    columns = tables.required_columns
    for file in files:
        path = get_relative_path(tables, file)
        rows = events_by_file.get((file.host.host, file.order), {})
        numbers = sorted(rows)[:DESCRIBED]
        for number, record in tables.table_format.find_records(file.path, file.plain, numbers).items():
            body = {name: text or None for name, text in zip(file.columns, record.cells, strict=False)}
            reason = _find_reason(tables, rows[number], record.text[:1], body, columns)
            text = record.text[:TEXT_LIMIT]
            yield MalformedRecord(file.host.host, path, record.line, record.bytes_before, reason, text)


def _find_reason(
    tables: Tables, event: str, beginning: str, body: Mapping[str, str | None], columns: Sequence[str]
) -> str:
    """Return why a row is malformed: invalid text in `columns`, no instant, or no valid value of a field."""
    texts = [beginning, *(body.get(name) or "" for name in columns)]
    if fault := next(filter(None, map(invalid_text.find_fault, texts)), ""):
        return fault
    if not event:
        cells = [cell for name in tables.source.time if (cell := body.get(name)) is not None]
        is_complete = len(cells) == len(tables.source.time)
        return f"bad time: {truncate_value(' '.join(cells))}" if is_complete else "no time"
    for item in tables.events[event].fields:
        if text := explain_missing_field(tables.events[event], item, body):
            return text
    return "a field is missing"
