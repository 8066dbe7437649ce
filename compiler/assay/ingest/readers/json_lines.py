"""Read the logs of a run to Parquet, in one pass over its files, on all cores.

The files are read in rounds, so that memory use does not depend on the size of a run. In a round, each worker
recognizes the lines of a share of the files into a table of its own. Then the events are written, one event per worker.
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
    """Reader of logs with one JSON object per line."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the events of the logs of a run. Files with known content are taken from the cache."""
        recognition = Recognition(job.source, numbered(job.events, job.wanted))
        with Engine(job.folder, MEMORY // job.share) as engine:
            batches = Batches(job.cache, batches_key(job.source, job.events, job.wanted, recognition.forms))
            reading = Reading(job.folder, job.progress, job.files.size, batches, engine=engine, how=recognition)
            workers = min(job.workers or os.cpu_count() or 1, WORKERS // job.share)
            reading.read(log_files(job.files), workers, job.share)
            write_summary(
                engine.connection, recognition, job.files, reading.counts, reading.incomplete_rows, job.folder
            )
        notes = (*overlap_warnings(job.files, reading.counts), *nul_padding_warnings(job.files, reading.counts))
        return Outcome(bool(reading.incomplete_rows), notes)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield lines of logs."""
        return locate_lines(files, places)


READER = JsonLines()


@dataclass(slots=True, kw_only=True)
class Reading(Collected):
    """State of reading a run.

    `careful` are the events that need the strict query, `lines` the line counts of files or chunks by number and begin.
    `hosts` are those of the run until the engine has a type of them; `texts` are compiled statements.
    """

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
        """Yield the files of each round.

        A large compressed file that only one worker could read is decompressed first and read in chunks.
        """
        for part in rounds(files, share, workers, scanned=scanner.is_there()):
            if len(part) > 1 or workers == 1 or not part[0].is_large:
                yield part
            else:
                yield from self.in_pieces(part[0], workers, share)

    def in_pieces(self, file: LogFile, workers: int, share: int) -> Iterator[list[LogFile]]:
        """Yield rounds of the chunks of a compressed file that are not cached."""
        folder = self.folder / "plain" / "whole"
        folder.mkdir(parents=True)
        cached, rest = self.batches.known(pieces([unpacked(file, folder)]))
        for batch in cached:
            self.count(batch.files, batch.lines)
        self.tell(sum(batch.size for batch in cached))
        self.kept += cached
        yield from rounds(rest, share, workers)
        shutil.rmtree(folder)

    def count(self, files: Sequence[LogFile], lines: Sequence[int]) -> None:
        """Record the line counts of files or chunks."""
        self.lines |= {(file.number, file.begin): count for file, count in zip(files, lines, strict=True)}

    def lines_before(self, file: LogFile) -> int:
        """Return the line count of a file before a chunk of it."""
        return sum(
            count for (number, begin), count in self.lines.items() if number == file.number and begin < file.begin
        )

    @property
    def events(self) -> list[Event]:
        """Return the required events, those with the most fields first, since writing them takes longest."""
        forms = sorted((item for item in self.how.forms if item.needed), key=lambda item: -len(item.fields))
        return list({item.event.name: item.event for item in forms}.values())

    def round(
        self,
        pool: ThreadPoolExecutor,
        parts: Sequence[Sequence[LogFile]],
        fills: Sequence[Filling],
    ) -> tuple[Batch, list[LogFile]]:
        """Read files, a share per worker, and write their events; return the batch and the files left for later."""
        place = self.folder / FOLDER / str(len(self.kept))
        place.mkdir(parents=True)
        filled = [pool.submit(self.fill, part, filling) for part, filling in zip(parts, fills, strict=False)]
        if self.hosts:
            enumerate_hosts(self.engine.connection, self.hosts)
            self.hosts.clear()
        results = [item for future in filled for item in future.result()]
        read = {(file.number, file.begin) for item in results for file in item.files}
        left = [file for part in parts for file in part if (file.number, file.begin) not in read]
        for item in results:
            self.count(item.files, item.share.lines)
        results.sort(key=lambda item: item.extent)
        results = [replace(item, share=moved(item.share, list(map(self.lines_before, item.files)))) for item in results]
        rows = Rows(Statements(self.how, self.texts), tuple(results), place)
        writes = [pool.submit(self.write, rows, event) for event in self.events]
        whole = [item.result() for item in writes]
        incomplete = [
            row
            for event, is_whole in zip(self.events, whole, strict=True)
            if not is_whole
            for row in self.lost(event, rows)
        ]
        with closing(Cursor(self.engine)) as cursor:
            if tables := [item.table for item in results if item.table]:
                cursor.drop(tables)
        for item in results:
            if item.scan:
                item.scan.close()
        files = [file for item in results for file in item.files]
        return self.batches.keep(place, files, [item.share for item in results], incomplete), left

    def fill(self, files: Sequence[LogFile], filling: Filling) -> list[ScanResult]:
        """Recognize the lines of files."""
        results = fill(self.engine, filling, files, self.folder / "plain" / str(filling.number))
        self.tell(sum(file.size for item in results for file in item.files))
        return results

    def write(self, rows: Rows, event: Event) -> bool:
        """Write the rows of an event; return whether all of them are whole."""
        with self.engine.connection.cursor() as cursor:
            return rows.write(cursor, event, swift=event.name not in self.careful)

    def lost(self, event: Event, rows: Rows) -> list[Lacking]:
        """Return the rows of an event without a required field; rewrite the event by the strict query if necessary."""
        if event.name not in self.careful:
            self.careful.add(event.name)
            if self.write(rows, event):
                return []
        with self.engine.connection.cursor() as cursor:
            return [(host, seq, event.name) for host, seq in rows.broken(cursor, event)]
