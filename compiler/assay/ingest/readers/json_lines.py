"""Read the logs of a run to Parquet, in one pass over its files, on all cores.

The files are read in rounds, so that memory use does not depend on the size of a run. In a round, each worker
recognizes the lines of a share of the files in its own table. Then the events are written, one event per worker.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.ingest import scanner
from assay.ingest.batches import (
    FOLDER,
    WORKERS,
    Batch,
    BatchCache,
    IncompleteRow,
    IngestState,
    assemble_events,
    compute_batches_key,
)
from assay.ingest.chunks import (
    LogFile,
    divide_among_workers,
    divide_into_rounds,
    list_log_files,
    split_files,
    unpack_file,
)
from assay.ingest.damaged_lines import list_nul_padding_warnings
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import number_forms
from assay.ingest.event_writer import EventWriter, StatementCache, enumerate_hosts
from assay.ingest.line_counts import list_overlap_warnings, shift_counts
from assay.ingest.output_folder import MEMORY, Cursor, Engine
from assay.ingest.readers.json_lines_worker import ScanResult, WorkerSettings, create_worker_settings, read_log_files
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, locate_lines
from assay.ingest.recognition import Recognition
from assay.ingest.summary import write_summary
from assay.lang.model.package import Event, Source


class JsonLines:
    """Reader of logs with one JSON object per line."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the events of the logs of a run. Files with known content are taken from the cache."""
        with _open_reading(job) as reading:
            reading.read(list_log_files(job.files), _count_workers(job), job.share)
            write_summary(
                reading.engine.connection,
                reading.recognition,
                job.files,
                reading.counts,
                reading.incomplete_rows,
                job.folder,
            )
        notes = (
            *list_overlap_warnings(job.files, reading.counts),
            *list_nul_padding_warnings(job.files, reading.counts),
        )
        return Outcome(bool(reading.incomplete_rows), notes)

    def read_batches(self, job: IngestJob) -> tuple[Path, ...]:
        """Read files of known content into batches of the cache; return their folders."""
        with _open_reading(job) as reading:
            reading.read_batches(list_log_files(job.files), _count_workers(job), job.share)
            return tuple(batch.folder for batch in reading.finished_batches)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield lines of logs."""
        return locate_lines(files, places)


READER = JsonLines()


@contextmanager
def _open_reading(job: IngestJob) -> Iterator[Reading]:
    """Yield the state of reading a run, with an engine that lasts as long as the block."""
    recognition = Recognition(job.source, number_forms(job.events, job.required_fields))
    with Engine(job.folder, MEMORY // job.share) as engine:
        batches = BatchCache(
            job.cache, compute_batches_key(job.source, job.events, job.required_fields, recognition.forms)
        )
        yield Reading(job.folder, job.progress, job.files.size, batches, engine=engine, recognition=recognition)


def _count_workers(job: IngestJob) -> int:
    return min(job.workers or os.cpu_count() or 1, WORKERS // job.share)


@dataclass(slots=True, kw_only=True)
class Reading(IngestState):
    """State of reading a run.

    `strict_events` are the events that need the strict query. `line_counts` are the line counts of files or chunks by
    number and begin. `hosts` are the hosts of the run until the engine has a type for them. `statements` is the content
    of the `StatementCache`.
    """

    engine: Engine
    recognition: Recognition
    strict_events: set[str] = field(default_factory=set)
    line_counts: dict[tuple[int, int], int] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    statements: dict[tuple[object, ...], str] = field(default_factory=dict)

    def read(self, files: Sequence[LogFile], workers: int, share: int) -> None:
        """Read all files and assemble the events of the run."""
        self.read_batches(files, workers, share)
        assemble_events(
            self.finished_batches, [event.name for event in self.events], self.folder, lambda: self.engine.connection
        )

    def read_batches(self, files: Sequence[LogFile], workers: int, share: int) -> None:
        """Read all files into batches."""
        self.hosts = {file.host for file in files}
        self.finished_batches, rest = self.batch_cache.find_cached(split_files(files))
        for batch in self.finished_batches:
            self.record_line_counts(batch.files, batch.lines)
        self.report_progress(sum(batch.size for batch in self.finished_batches))
        worker_count = workers if any(file.is_large for file in rest) else min(workers, len(rest))
        worker_settings = create_worker_settings(self.recognition, worker_count, share)
        with ThreadPoolExecutor(max_workers=workers) as pool:
            for round_files in self.iter_rounds(rest, workers, share):
                remaining = round_files
                while remaining:
                    batch, remaining = self.read_round(pool, divide_among_workers(remaining, workers), worker_settings)
                    self.finished_batches.append(batch)

    def iter_rounds(self, files: Sequence[LogFile], workers: int, share: int) -> Iterator[list[LogFile]]:
        """Yield the files of each round.

        A large file that is the only one of its round is read in chunks by several workers; a compressed one is
        decompressed first.
        """
        for part in divide_into_rounds(files, share, workers, is_scanned=scanner.is_available()):
            if len(part) > 1 or workers == 1 or not part[0].is_large:
                yield part
            else:
                yield from self.iter_chunk_rounds(part[0], workers, share)

    def iter_chunk_rounds(self, file: LogFile, workers: int, share: int) -> Iterator[list[LogFile]]:
        """Yield rounds of the chunks of a large file that are not cached."""
        folder = self.folder / "plain" / "whole"
        folder.mkdir(parents=True)
        cached, rest = self.batch_cache.find_cached(split_files([unpack_file(file, folder)]))
        for batch in cached:
            self.record_line_counts(batch.files, batch.lines)
        self.report_progress(sum(batch.size for batch in cached))
        self.finished_batches += cached
        yield from divide_into_rounds(rest, share, workers)
        shutil.rmtree(folder)

    def record_line_counts(self, files: Sequence[LogFile], lines: Sequence[int]) -> None:
        """Record the line counts of files or chunks."""
        self.line_counts |= {(file.number, file.begin): count for file, count in zip(files, lines, strict=True)}

    def count_lines_before(self, file: LogFile) -> int:
        """Return the number of lines of a file before one of its chunks."""
        if not file.begin:  # the usual case, in runs of many files
            return 0
        return sum(
            count for (number, begin), count in self.line_counts.items() if number == file.number and begin < file.begin
        )

    @property
    def events(self) -> list[Event]:
        """Return the required events, those with the most fields first, since writing them takes longest."""
        forms = sorted(
            (item for item in self.recognition.forms if item.is_required), key=lambda item: -len(item.fields)
        )
        return list({item.event.name: item.event for item in forms}.values())

    def read_round(
        self,
        pool: ThreadPoolExecutor,
        parts: Sequence[Sequence[LogFile]],
        worker_settings: Sequence[WorkerSettings],
    ) -> tuple[Batch, list[LogFile]]:
        """Read files, a share per worker, and write their events; return the batch and the files left for later."""
        batch_folder = self.folder / FOLDER / str(len(self.finished_batches))
        batch_folder.mkdir(parents=True)
        fill_futures = [
            pool.submit(self.recognize_lines, part, settings)
            for part, settings in zip(parts, worker_settings, strict=False)
        ]
        if self.hosts:
            enumerate_hosts(self.engine.connection, self.hosts)
            self.hosts.clear()
        results = [item for future in fill_futures for item in future.result()]
        read_keys = {(file.number, file.begin) for item in results for file in item.files}
        remaining = [file for part in parts for file in part if (file.number, file.begin) not in read_keys]
        for item in results:
            self.record_line_counts(item.files, item.counts.lines)
        results.sort(key=lambda item: item.extent)
        results = [
            replace(item, counts=shift_counts(item.counts, list(map(self.count_lines_before, item.files))))
            for item in results
        ]
        writer = EventWriter(StatementCache(self.recognition, self.statements), tuple(results), batch_folder)
        write_futures = [pool.submit(self.write, writer, event) for event in self.events]
        whole_flags = [item.result() for item in write_futures]
        incomplete = [
            row
            for event, is_whole in zip(self.events, whole_flags, strict=True)
            if not is_whole
            for row in self.find_incomplete_rows(event, writer, is_whole)
        ]
        with closing(Cursor(self.engine)) as cursor:
            if tables := [item.table for item in results if item.table]:
                cursor.drop(tables)
        for item in results:
            if item.scan:
                item.scan.close()
        files = [file for item in results for file in item.files]
        return self.batch_cache.store_batch(
            batch_folder, files, [item.counts for item in results], incomplete
        ), remaining

    def recognize_lines(self, files: Sequence[LogFile], settings: WorkerSettings) -> list[ScanResult]:
        """Recognize the lines of files."""
        results = read_log_files(self.engine, settings, files, self.folder / "plain" / str(settings.number))
        self.report_progress(sum(file.size for item in results for file in item.files))
        return results

    def write(self, writer: EventWriter, event: Event) -> bool | None:
        """Write the rows of an event; return whether all of them are whole, None if the fast query cannot decide."""
        with self.engine.connection.cursor() as cursor:
            return writer.write(cursor, event, is_fast=event.name not in self.strict_events)

    def find_incomplete_rows(self, event: Event, writer: EventWriter, is_whole: bool | None) -> list[IncompleteRow]:
        """Return the rows of an event without a required field; rewrite the event by the strict query if necessary."""
        if is_whole is None:
            self.strict_events.add(event.name)
            if self.write(writer, event):
                return []
        with self.engine.connection.cursor() as cursor:
            return [(host, seq, event.name) for host, seq in writer.list_incomplete(cursor, event)]
