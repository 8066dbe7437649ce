"""Read text logs: lines recognized by patterns, and the reasons why lines are malformed.

Each file is read once into a table of recognized lines, from which the rows of events are written. Other lines are only
counted.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.batches import FOLDER, WORKERS, Batch, Batches, Collected, Lacking, batches_key, gather
from assay.ingest.chunks import FILE_STEP, LogFile, log_files
from assay.ingest.damaged_lines import marked, nul_padding_warnings, unended
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import LACKING, TIMELESS, in_order
from assay.ingest.event_writer import write_event_rows
from assay.ingest.line_counts import Share, overlap_warnings, share_of, unreadable
from assay.ingest.plain_copies import Line, last_byte, may_scan, mended, plain
from assay.ingest.quarantine import Lost, missing_field_reason, truncate_value
from assay.ingest.readers.lines import refusals, scanned
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, locate_lines
from assay.ingest.readers.text_lines_sql import TextForms, Variant, event_rows, recognition, text_forms
from assay.ingest.summary import summarised
from assay.ingest.workspace_dir import MEMORY, open_engine
from assay.lang.line_pattern import Pattern
from assay.lang.model.package import Source
from assay.sql import dialect
from assay.util.os_errors import is_full

if TYPE_CHECKING:
    import duckdb


LONGEST = 10_000  # characters of a line that are examined
FOUND = 24  # characters of unexpected text in a message


def reasons(connection: duckdb.DuckDBPyConnection, forms: TextForms) -> Callable[[Lost, Line], str]:
    """Return a function that explains why a line is malformed."""
    matcher = _Matcher(connection)
    return lambda item, line: _reason(matcher, forms, item, line)


class _Matcher:
    """Matches texts with the regular expressions of the engine, so that results are those of ingest."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def match_group(self, text: str, expression: str, group: int = 0) -> str:
        """Return what an expression, or a group of it, matches in a text; empty if nothing."""
        return str(self._extracted(text, expression, dialect.integer(group)) or "")

    def places(self, text: str, pattern: Pattern) -> dict[str, str | None]:
        """Return the texts at the places of a pattern that a text matches."""
        if not pattern.places:
            return {}
        # Named groups, since numbers end at 9; with these names, since the engine ignores the case of names.
        names = [f"p{index}" for index, _ in enumerate(pattern.places)]
        listed = exp.Array(expressions=[builder.text(name) for name in names])
        groups = self._extracted(text, pattern.expression(pattern.places), listed)
        return {place: groups[name] or None for place, name in zip(pattern.places, names, strict=True)}

    def _extracted(self, text: str, expression: str, *groups: exp.Expr) -> Any:
        value = builder.call("regexp_extract", exp.Placeholder(this="text"), builder.text(expression), *groups)
        row = self.connection.execute(dialect.text(exp.select(value)), {"text": text}).fetchone()
        assert row is not None
        return row[0]


def _reason(matcher: _Matcher, forms: TextForms, item: Lost, line: Line) -> str:
    if line.fault:
        return line.fault
    text = line.text[:LONGEST].rstrip(" \t")
    head = matcher.places(text, forms.layout) if forms.layout else {}
    body = head.get(forms.source.body[0]) if forms.layout else text
    if body is None:
        assert forms.layout is not None
        return f"no line of the log: {_fault(matcher, text, forms.layout)[1]}"
    if item.form == TIMELESS:
        time = head.get(forms.time) or _time(matcher, forms, body)
        return f"bad time: {truncate_value(time)}" if time else "no time"
    if item.form == LACKING:
        return find_missing_field(matcher, forms, item.event, head, body)
    likely = [variant for variant in forms.variants if body.startswith(variant.pattern.mark.split(" ")[0])]
    faults = [(*_fault(matcher, body, variant.pattern), variant) for variant in likely or forms.variants]
    _, problem, variant = max(faults, key=lambda fault: fault[0])
    return f"not the pattern of {variant.item.event.name}: {problem}"


def _time(matcher: _Matcher, forms: TextForms, body: str) -> str:
    texts = (matcher.places(body, variant.pattern).get(forms.time) for variant in forms.variants)
    return next((text for text in texts if text), "")


def _fault(matcher: _Matcher, text: str, pattern: Pattern) -> tuple[int, str]:
    """Return how many characters of a text match a pattern, and what was expected and found there."""
    length, expected = 0, pattern.pieces[0].pattern_text
    for index, item in enumerate(pattern.beginnings()):
        before = matcher.match_group(text, item.expression) if item.expression != "^" else ""
        if not before and index:  # before the first piece, optional parts alone may match no character
            break
        shortest = matcher.match_group(text, item.shortest, 1) if item.shortest else ""
        length, expected = len(shortest or before), item.piece.pattern_text
    else:
        if whole := matcher.match_group(text, pattern.expression(())[:-1]):
            return len(text), f"expected the end of the line, found {truncate_text(text[len(whole) :])}"
    return length, f"expected {json.dumps(expected, ensure_ascii=False)}, found {truncate_text(text[length:])}"


def truncate_text(text: str) -> str:
    if not text:
        return "the end of the line"
    return json.dumps(text[:FOUND] + ("..." if len(text) > FOUND else ""), ensure_ascii=False)


def find_missing_field(matcher: _Matcher, forms: TextForms, event: str, head: dict[str, str | None], body: str) -> str:
    """Return the problem of the first field without a valid value, by the pattern that the line matches."""
    matching = [item for item in forms.own(event) if matcher.match_group(body, item.pattern.expression(()))]
    for variant in matching:
        if reason := _of_variant(matcher, variant, event, head, body):
            return reason
    return "a field is missing"


def _of_variant(matcher: _Matcher, variant: Variant, event: str, head: dict[str, str | None], body: str) -> str:
    places = {**head, **matcher.places(body, variant.pattern)}
    return next((reason for field in variant.item.fields if (reason := missing_field_reason(event, field, places))), "")


class TextLines:
    """Reader of text logs, whose lines match patterns. Every file is a batch."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the events of the logs of a run. Files with known content are taken from the cache."""
        forms = text_forms(job.source, in_order(job.own_events, job.wanted))
        with open_engine(job.folder, MEMORY // job.share) as connection:
            numbers = [variant.item for variant in forms.variants]
            batches = Batches(job.cache, batches_key(job.source, job.events, job.wanted, numbers))
            reading = Reading(job.folder, job.progress, job.files.size, batches, connection=connection, how=forms)
            reading.read(log_files(job.files), min(job.workers or os.cpu_count() or 1, WORKERS // job.share))
            names = {variant.number: variant.item.event.name for variant in forms.variants}
            summarised(
                connection,
                job.source,
                names,
                job.files,
                reading.counts,
                reading.incomplete_rows,
                job.folder,
                reasons(connection, forms),
            )
        notes = (*overlap_warnings(job.files, reading.counts), *nul_padding_warnings(job.files, reading.counts))
        return Outcome(bool(reading.incomplete_rows), notes, tuple(unended(job.files, reading.counts)))

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield lines of logs."""
        return locate_lines(files, places)


READER = TextLines()


@dataclass(slots=True, kw_only=True)
class Reading(Collected):
    """State of reading a run; `careful` are the events that need the strict query."""

    connection: duckdb.DuckDBPyConnection
    how: TextForms
    careful: set[str] = field(default_factory=set)

    @property
    def events(self) -> list[str]:
        """Return the names of the required events."""
        return list(dict.fromkeys(item.item.event.name for item in self.how.variants if item.item.needed))

    def read(self, files: Sequence[LogFile], workers: int) -> None:
        """Read all files, several at a time."""
        self.kept, rest = self.batches.known(files)
        self.tell(sum(batch.size for batch in self.kept))
        query = recognition(self.how)
        with ThreadPoolExecutor(max_workers=workers) as pool:
            self.kept += pool.map(lambda file: self.file(file, query), rest)
        gather(self.kept, self.events, self.folder, lambda: self.connection)

    def file(self, file: LogFile, query: exp.Select) -> Batch:
        """Recognize the lines of a file and write its events; return the batch."""
        table = f"rows_{file.number}"
        place = self.folder / FOLDER / str(file.number)
        place.mkdir(parents=True)
        with self.connection.cursor() as cursor:
            share, ended = _filled(cursor, table, query, file, self.folder / "plain" / str(file.number))
            incomplete = [row for name in self.events for row in self.write(cursor, name, table, file, place)]
            cursor.execute(exp.Drop(tables=[exp.to_table(table)], kind="TABLE").sql(dialect.DIALECT))
        self.tell(file.size)
        share = share if ended else marked(self.how, share, incomplete)
        return self.batches.keep(place, [file], [share], incomplete)

    def write(
        self, cursor: duckdb.DuckDBPyConnection, event: str, table: str, file: LogFile, place: Path
    ) -> list[Lacking]:
        """Write the rows of an event; return those without a required field."""
        rows = partial(event_rows, self.how, event, table, file.host, file.order * FILE_STEP + 1)
        broken = write_event_rows(cursor, event, rows, place / f"{event}.parquet", self.careful)
        return [(host, seq, event) for host, seq in broken]


def _filled(
    cursor: duckdb.DuckDBPyConnection, table: str, query: exp.Select, file: LogFile, folder: Path
) -> tuple[Share, bool]:
    """Fill a table with the lines of a file, or of a mended copy if the scan rejects the file.

    Return the counts, and whether the last line has its end.
    """
    import duckdb

    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    text = creation.sql(dialect=dialect.DIALECT)
    folder.mkdir(parents=True)
    try:
        source = file.held.source(folder, "log.held")
        ended = _scanned(cursor, text, source, folder)
        if source == file.path and not file.held.steady:
            # It grew in the meantime, so it is read from a copy.
            cursor.execute(exp.Drop(tables=[exp.to_table(table)], kind="TABLE").sql(dialect.DIALECT))
            ended = _scanned(cursor, text, file.held.source(folder, "log.held"), folder)
        return share_of(cursor, table, [file]), ended
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise unreadable([file], str(error).split("\n")[0]) from None
    finally:
        shutil.rmtree(folder)


def _scanned(cursor: duckdb.DuckDBPyConnection, text: str, source: Path, folder: Path) -> bool:
    """Fill a table from a file by the statement `text`; return whether its last line has its end."""
    place = plain(source, folder, "log.plain")
    ended = last_byte(place) in (b"\n", b"\r")
    if may_scan(place):
        with contextlib.suppress(*refusals()):
            cursor.execute(text, scanned([place]))
            return ended
    copy, _ = mended(source, folder, "log.mended")
    cursor.execute(text, scanned([copy]))
    return ended
