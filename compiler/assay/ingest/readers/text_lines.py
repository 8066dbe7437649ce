"""Read text logs: lines recognized by patterns, and why a broken line fails.

Each file is read once into a table of what its lines are; then the rows of events are written out of it.  Of lines that
are no event nothing is kept but how many there are.
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


LONGEST = 10_000  # characters of a line that are looked at
FOUND = 24  # characters that are shown where something else was expected


def reasons(connection: duckdb.DuckDBPyConnection, how: TextForms) -> Callable[[Lost, Line], str]:
    """What tells why a line is broken."""
    matcher = _Matcher(connection)
    return lambda item, line: _reason(matcher, how, item, line)


class _Matcher:
    """The engine's expressions, so that a line is told apart just as it was when it was read."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def match_group(self, text: str, expression: str, group: int = 0) -> str:
        """What an expression, or a group of it, finds in a text; empty when nothing."""
        return str(self._extracted(text, expression, dialect.integer(group)) or "")

    def places(self, text: str, pattern: Pattern) -> dict[str, str | None]:
        """What stands at the places of a pattern that a text matches."""
        if not pattern.places:
            return {}
        # By names, as groups by their numbers end at 9; by these, as the engine's names are the same in any case.
        names = [f"p{index}" for index, _ in enumerate(pattern.places)]
        listed = exp.Array(expressions=[builder.text(name) for name in names])
        found = self._extracted(text, pattern.expression(pattern.places), listed)
        return {place: found[name] or None for place, name in zip(pattern.places, names, strict=True)}

    def _extracted(self, text: str, expression: str, *groups: exp.Expr) -> Any:
        value = builder.call("regexp_extract", exp.Placeholder(this="text"), builder.text(expression), *groups)
        row = self.connection.execute(dialect.text(exp.select(value)), {"text": text}).fetchone()
        assert row is not None
        return row[0]


def _reason(matcher: _Matcher, how: TextForms, item: Lost, line: Line) -> str:
    if line.fault:
        return line.fault
    text = line.text[:LONGEST].rstrip(" \t")
    head = matcher.places(text, how.layout) if how.layout else {}
    body = head.get(how.source.body[0]) if how.layout else text
    if body is None:
        assert how.layout is not None
        return f"no line of the log: {_fault(matcher, text, how.layout)[1]}"
    if item.form == TIMELESS:
        said = head.get(how.time) or _time(matcher, how, body)
        return f"bad time: {truncate_value(said)}" if said else "no time"
    if item.form == LACKING:
        return find_missing_field(matcher, how, item.event, head, body)
    likely = [variant for variant in how.variants if body.startswith(variant.pattern.mark.split(" ")[0])]
    faults = [(*_fault(matcher, body, variant.pattern), variant) for variant in likely or how.variants]
    _, said, variant = max(faults, key=lambda fault: fault[0])
    return f"not the pattern of {variant.item.event.name}: {said}"


def _time(matcher: _Matcher, how: TextForms, body: str) -> str:
    found = (matcher.places(body, variant.pattern).get(how.time) for variant in how.variants)
    return next((text for text in found if text), "")


def _fault(matcher: _Matcher, text: str, pattern: Pattern) -> tuple[int, str]:
    """How far a text goes along with a pattern, and what was expected there and found."""
    length, expected = 0, pattern.pieces[0].pattern_text
    for index, item in enumerate(pattern.beginnings()):
        before = matcher.match_group(text, item.expression) if item.expression != "^" else ""
        if not before and index:  # ahead of the first there may be optional parts alone, which match no character
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


def find_missing_field(matcher: _Matcher, how: TextForms, event: str, head: dict[str, str | None], body: str) -> str:
    """The first field of the event that cannot be had, by the pattern that the line matches."""
    matching = [item for item in how.own(event) if matcher.match_group(body, item.pattern.expression(()))]
    for variant in matching:
        if said := _of_variant(matcher, variant, event, head, body):
            return said
    return "a field is missing"


def _of_variant(matcher: _Matcher, variant: Variant, event: str, head: dict[str, str | None], body: str) -> str:
    places = {**head, **matcher.places(body, variant.pattern)}
    return next((said for field in variant.item.fields if (said := missing_field_reason(event, field, places))), "")


class TextLines:
    """Reads text logs, whose lines match patterns; every file is a batch."""

    def read(self, job: IngestJob) -> Outcome:
        """Write what the logs of a run hold.  Files of known content are taken from the cache."""
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
        """Find lines of logs."""
        return locate_lines(files, places)


READER = TextLines()


@dataclass(slots=True, kw_only=True)
class Reading(Collected):
    """A run being read; the events that are written with care."""

    connection: duckdb.DuckDBPyConnection
    how: TextForms
    careful: set[str] = field(default_factory=set)

    @property
    def events(self) -> list[str]:
        """The names of the wanted events."""
        return list(dict.fromkeys(item.item.event.name for item in self.how.variants if item.item.needed))

    def read(self, files: Sequence[LogFile], workers: int) -> None:
        """Read all files, some at a time."""
        self.kept, rest = self.batches.known(files)
        self.tell(sum(batch.size for batch in self.kept))
        query = recognition(self.how)
        with ThreadPoolExecutor(max_workers=workers) as pool:
            self.kept += pool.map(lambda file: self.file(file, query), rest)
        gather(self.kept, self.events, self.folder, lambda: self.connection)

    def file(self, file: LogFile, query: exp.Select) -> Batch:
        """What the lines of a file are; those of events are written."""
        table = f"rows_{file.number}"
        place = self.folder / FOLDER / str(file.number)
        place.mkdir(parents=True)
        with self.connection.cursor() as cursor:
            share, ended = _filled(cursor, table, query, file, self.folder / "plain" / str(file.number))
            lacking = [row for name in self.events for row in self.write(cursor, name, table, file, place)]
            cursor.execute(exp.Drop(tables=[exp.to_table(table)], kind="TABLE").sql(dialect.DIALECT))
        self.tell(file.size)
        share = share if ended else marked(self.how, share, lacking)
        return self.batches.keep(place, [file], [share], lacking)

    def write(
        self, cursor: duckdb.DuckDBPyConnection, event: str, table: str, file: LogFile, place: Path
    ) -> list[Lacking]:
        """Write the rows of an event; those that lack what must be there."""
        rows = partial(event_rows, self.how, event, table, file.host, file.order * FILE_STEP + 1)
        lost = write_event_rows(cursor, event, rows, place / f"{event}.parquet", self.careful)
        return [(host, seq, event) for host, seq in lost]


def _filled(
    cursor: duckdb.DuckDBPyConnection, table: str, query: exp.Select, file: LogFile, folder: Path
) -> tuple[Share, bool]:
    """Fill a table with the lines of a file: as it is, or, when the scan refuses it, out of a mended copy.

    What they are, and whether the last one has its end.
    """
    import duckdb

    creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
    text = creation.sql(dialect=dialect.DIALECT)
    folder.mkdir(parents=True)
    try:
        source = file.held.source(folder, "log.held")
        ended = _scanned(cursor, text, source, folder)
        if source == file.path and not file.held.steady:
            # It grew meanwhile: now it is read out of a copy.
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
    """Fill a table out of a file, by the statement `text`; whether its last line has its end."""
    place = plain(source, folder, "log.plain")
    ended = last_byte(place) in (b"\n", b"\r")
    if may_scan(place):
        with contextlib.suppress(*refusals()):
            cursor.execute(text, scanned([place]))
            return ended
    copy, _ = mended(source, folder, "log.mended")
    cursor.execute(text, scanned([copy]))
    return ended
