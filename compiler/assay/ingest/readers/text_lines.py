"""Ingest of text logs: lines told apart by patterns.

Each file is read once into a table of what its lines are; then the rows of events are written out of it.  Of lines that
are no event nothing is kept but how many there are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest.batches import FOLDER, Batch, Batches, Lacking, batches_key, gather
from assay.ingest.chunks import FILE_STEP, LogFile, log_files
from assay.ingest.collected import WORKERS, Collected
from assay.ingest.counts import share_of
from assay.ingest.discovery import RunFiles
from assay.ingest.event_files import write_rows
from assay.ingest.event_forms import Wanted, in_order
from assay.ingest.line_counts import Share, unreadable
from assay.ingest.manifest import MANIFEST, manifest
from assay.ingest.overlaps import overlap_warnings
from assay.ingest.padding import nul_padding_warnings
from assay.ingest.plain_copies import last_byte, may_scan, mended, plain
from assay.ingest.readers.lines import refusals, scanned
from assay.ingest.readers.malformed_text_lines import reasons
from assay.ingest.readers.text_line_forms import TextForms, text_forms
from assay.ingest.readers.text_lines_sql import event_rows, recognition
from assay.ingest.summary import summarised
from assay.ingest.unterminated import marked, unended
from assay.ingest.workspace_dir import MEMORY, atomic_output_dir, open_engine
from assay.lang.model.package import Event, Source
from assay.sql import dialect
from assay.util.os_errors import is_full
from assay.util.progress import Bytes, unwatched

if TYPE_CHECKING:
    import duckdb


def ingest(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    out: Path,
    *,
    workers: int | None = None,
    share: int = 1,
    progress: Bytes = unwatched,
    cache: Path | None = None,
) -> None:
    """Write the folder `out`, as `reader.ingest` does, of a run's text logs; every file is a batch.

    Raises AssayError: a file that cannot be read to its end, too many broken lines, no recognised line at all.
    """
    own = [event for event in events if event.source == source.name]
    how = text_forms(source, in_order(own, wanted))
    with atomic_output_dir(out, cache) as fresh:
        with open_engine(fresh, MEMORY // share) as connection:
            numbers = [variant.item for variant in how.variants]
            batches = Batches(cache, batches_key(source, events, wanted, numbers))
            reading = Reading(fresh, progress, files.size, batches, connection=connection, how=how)
            reading.read(log_files(files), min(workers or os.cpu_count() or 1, WORKERS // share))
            names = {variant.number: variant.item.event.name for variant in how.variants}
            summarised(
                connection,
                source,
                names,
                files,
                reading.counts,
                reading.incomplete_rows,
                fresh,
                reasons(connection, how),
            )
        notes = (*overlap_warnings(files, reading.counts), *nul_padding_warnings(files, reading.counts))
        read = unended(files, reading.counts)
        text = manifest(source, events, wanted, files, bool(reading.incomplete_rows), notes, read)
        (fresh / MANIFEST).write_text(text, encoding="utf-8")


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
        lost = write_rows(cursor, event, rows, place / f"{event}.parquet", self.careful)
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
