"""Ingest: the logs of a run to Parquet, in one pass over its files, all cores at once.

The files are read in rounds, so that memory stays the same for any size of a run.  In a round each worker recognises
the lines of a share of the files into a table of its own; then the events are written, an event a worker.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace

from assay.ingest import scanner
from assay.ingest.batches import FOLDER, WORKERS, Batch, Batches, Collected, Lacking, batches_key, gather
from assay.ingest.chunks import LogFile, log_files, pieces, rounds, shares, unpacked
from assay.ingest.damaged_lines import nul_padding_warnings
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import numbered
from assay.ingest.event_writer import Rows, Statements, enumerate_hosts
from assay.ingest.line_counts import moved, overlap_warnings
from assay.ingest.readers.json_lines_worker import Filling, ScanResult, fill, fillings
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, locate_lines
from assay.ingest.recognition import Recognition
from assay.ingest.summary import write_summary
from assay.ingest.workspace_dir import MEMORY, Cursor, Engine
from assay.lang.model.package import Event, Source


class JsonLines:
    """Reads logs of JSON objects, a record a line."""

    def read(self, job: IngestJob) -> Outcome:
        """Write what the logs of a run hold.  Files of known content are taken from the cache."""
        how = Recognition(job.source, numbered(job.events, job.wanted))
        with Engine(job.folder, MEMORY // job.share) as engine:
            batches = Batches(job.cache, batches_key(job.source, job.events, job.wanted, how.forms))
            reading = Reading(job.folder, job.progress, job.files.size, batches, engine=engine, how=how)
            workers = min(job.workers or os.cpu_count() or 1, WORKERS // job.share)
            reading.read(log_files(job.files), workers, job.share)
            write_summary(engine.connection, how, job.files, reading.counts, reading.incomplete_rows, job.folder)
        notes = (*overlap_warnings(job.files, reading.counts), *nul_padding_warnings(job.files, reading.counts))
        return Outcome(bool(reading.incomplete_rows), notes)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Find lines of logs."""
        return locate_lines(files, places)


READER = JsonLines()


@dataclass(slots=True, kw_only=True)
class Reading(Collected):
    """A run being read; how many lines its files, or pieces of them, have; the events that are written with care; the
    hosts, until the engine is told of them."""

    engine: Engine
    how: Recognition
    careful: set[str] = field(default_factory=set)
    lines: dict[tuple[int, int], int] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    texts: dict[tuple[object, ...], str] = field(default_factory=dict)

    def read(self, files: Sequence[LogFile], workers: int, share: int) -> None:
        """Read all files."""
        self.hosts = {file.host for file in files}
        self.kept, rest = self.batches.known(pieces(files))
        for batch in self.kept:
            self.count(batch.files, batch.lines)
        self.tell(sum(batch.size for batch in self.kept))
        busy = workers if any(file.is_large for file in rest) else min(workers, len(rest))
        fills = fillings(self.how, busy, share)
        with ThreadPoolExecutor(max_workers=workers) as pool:
            for part in self.parts(rest, workers, share):
                left = part
                while left:
                    batch, left = self.round(pool, shares(left, workers), fills)
                    self.kept.append(batch)
        gather(self.kept, [event.name for event in self.events], self.folder, lambda: self.engine.connection)

    def parts(self, files: Sequence[LogFile], workers: int, share: int) -> Iterator[list[LogFile]]:
        """What is read at a time.  A large packed file that all but one worker would wait for is unpacked before."""
        for part in rounds(files, share, workers, scanned=scanner.is_there()):
            if len(part) > 1 or workers == 1 or not part[0].is_large:
                yield part
            else:
                yield from self.in_pieces(part[0], workers, share)

    def in_pieces(self, file: LogFile, workers: int, share: int) -> Iterator[list[LogFile]]:
        """The pieces of a packed file of which nothing is kept, in rounds."""
        folder = self.folder / "plain" / "whole"
        folder.mkdir(parents=True)
        kept, rest = self.batches.known(pieces([unpacked(file, folder)]))
        for batch in kept:
            self.count(batch.files, batch.lines)
        self.tell(sum(batch.size for batch in kept))
        self.kept += kept
        yield from rounds(rest, share, workers)
        shutil.rmtree(folder)

    def count(self, files: Sequence[LogFile], lines: Sequence[int]) -> None:
        """Note how many lines files, or pieces of files, have."""
        self.lines |= {(file.number, file.begin): found for file, found in zip(files, lines, strict=True)}

    def lines_before(self, file: LogFile) -> int:
        """The lines of a file before a piece of it."""
        return sum(
            found for (number, begin), found in self.lines.items() if number == file.number and begin < file.begin
        )

    @property
    def events(self) -> list[Event]:
        """The wanted events, those of most fields first: they take longest, and none of them is to be left over."""
        forms = sorted((item for item in self.how.forms if item.needed), key=lambda item: -len(item.fields))
        return list({item.event.name: item.event for item in forms}.values())

    def round(
        self,
        pool: ThreadPoolExecutor,
        parts: Sequence[Sequence[LogFile]],
        fills: Sequence[Filling],
    ) -> tuple[Batch, list[LogFile]]:
        """Read some files, a part a worker, and write what they hold of each event; those that were left for later."""
        place = self.folder / FOLDER / str(len(self.kept))
        place.mkdir(parents=True)
        filled = [pool.submit(self.fill, part, filling) for part, filling in zip(parts, fills, strict=False)]
        if self.hosts:
            enumerate_hosts(self.engine.connection, self.hosts)
            self.hosts.clear()
        found = [item for future in filled for item in future.result()]
        read = {(file.number, file.begin) for item in found for file in item.files}
        left = [file for part in parts for file in part if (file.number, file.begin) not in read]
        for item in found:
            self.count(item.files, item.share.lines)
        found.sort(key=lambda item: item.extent)
        found = [replace(item, share=moved(item.share, list(map(self.lines_before, item.files)))) for item in found]
        rows = Rows(Statements(self.how, self.texts), tuple(found), place)
        written = [pool.submit(self.write, rows, event) for event in self.events]
        whole = [item.result() for item in written]
        lacking = [
            row
            for event, is_whole in zip(self.events, whole, strict=True)
            if not is_whole
            for row in self.lost(event, rows)
        ]
        with closing(Cursor(self.engine)) as cursor:
            if tables := [item.table for item in found if item.table]:
                cursor.drop(tables)
        for item in found:
            if item.scan:
                item.scan.close()
        files = [file for item in found for file in item.files]
        return self.batches.keep(place, files, [item.share for item in found], lacking), left

    def fill(self, files: Sequence[LogFile], filling: Filling) -> list[ScanResult]:
        """What the lines of some files are."""
        found = fill(self.engine, filling, files, self.folder / "plain" / str(filling.number))
        self.tell(sum(file.size for item in found for file in item.files))
        return found

    def write(self, rows: Rows, event: Event) -> bool:
        """Write the rows of an event; whether all of them are whole."""
        with self.engine.connection.cursor() as cursor:
            return rows.write(cursor, event, swift=event.name not in self.careful)

    def lost(self, event: Event, rows: Rows) -> list[Lacking]:
        """The rows of an event that lack what must be there, if any do; they are written with care."""
        if event.name not in self.careful:
            self.careful.add(event.name)
            if self.write(rows, event):
                return []
        with self.engine.connection.cursor() as cursor:
            return [(host, seq, event.name) for host, seq in rows.broken(cursor, event)]
