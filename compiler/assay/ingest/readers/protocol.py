"""Interface of the readers. Everything else about ingest is the same for all kinds of sources.

The reader of a kind is `READER` of the module with the name of the kind: that of `json-lines` is in `json_lines.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import RequiredFields
from assay.ingest.plain_copies import read_texts
from assay.lang.model.package import Event, Source
from assay.util.progress import ByteProgress, ignore


@dataclass(frozen=True, slots=True)
class IngestJob:
    """One source of a run to ingest into `folder`; `events` may also have those of other sources.

    `workers` limits the threads that read logs. `share` is the number of jobs that run at once and share memory. With a
    `cache`, files whose content is cached are not read again.
    """

    source: Source
    events: Sequence[Event]
    required_fields: RequiredFields
    files: RunFiles
    folder: Path
    workers: int | None = None
    share: int = 1
    progress: ByteProgress = ignore
    cache: Path | None = None

    @property
    def source_events(self) -> list[Event]:
        """Return the events of the source."""
        return [event for event in self.events if event.source == self.source.name]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a reader for the manifest.

    `has_missing_fields` is true if rows without a required field were left out. `notes` are warnings about the raw
    data, `field_notes` about the values of required fields.
    """

    has_missing_fields: bool
    notes: tuple[str, ...] = ()
    field_notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The place of a record: its host (empty if there is none), and its number among the records of the host."""

    host: str
    seq: int


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A raw record: its file relative to the run, its line number, and its text.

    `number` counts the records of the file from 1. `line` is the first line of the record. It is 0 if several records
    share a line, or if the file has no lines; then the text is built from the values. The text of a record in a list is
    on one line, that of a block has its pairs, separated by semicolons.
    """

    file: str
    line: int
    number: int
    text: str

    @property
    def location(self) -> str:
        """Return file and line, or file and record number."""
        return f"{self.file}:{self.line}" if self.line else f"{self.file}#{self.number}"


class SourceReader(Protocol):
    """Reads the files of a kind of source."""

    def read(self, job: IngestJob, /) -> Outcome:
        """Write events/EVENT/*.parquet, logs.parquet, counts.parquet and quarantine.parquet into the folder of the job.

        Raises AssayError if a file cannot be read to its end, too many records are malformed, or none is recognized.
        """

    def locate(self, source: Source, files: RunFiles, places: Sequence[Place], /) -> Iterator[tuple[Place, RawRecord]]:
        """Yield the records at sorted places of the files of a run, in any order."""


@runtime_checkable
class BatchReader(Protocol):
    """A reader that reads some files of a run without the others, into batches."""

    def read_batches(self, job: IngestJob, /) -> tuple[Path, ...]:
        """Read the files of the job, whose hashes are known, into batches of its cache; return their folders.

        The folder of the job is temporary.
        """


def find_batch_reader(kind: str) -> BatchReader | None:
    """Return the reader of a kind of source if it reads batches."""
    reader = find_reader(kind)
    return reader if isinstance(reader, BatchReader) else None


def find_reader(kind: str) -> SourceReader:
    """Return the reader of a kind of source; load its module on first use."""
    return cast(SourceReader, import_module(f"{__package__}.{kind.replace('-', '_')}").READER)


def group_by_file(files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Path, str, list[Place]]]:
    """Group sorted places by file; yield path, name relative to the run, and places."""
    hosts = {host.host: host for host in files.hosts}
    for (host, index), group in itertools.groupby(places, key=lambda item: (item.host, item.seq // FILE_STEP)):
        path = hosts[host].files[index]
        yield path, path.relative_to(files.directory).as_posix(), list(group)


def locate_lines(files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    """Yield records of logs, each of which is a line."""
    for path, name, group in group_by_file(files, places):
        texts = read_texts(path, {item.seq % FILE_STEP for item in group})
        for item in group:
            line = item.seq % FILE_STEP
            yield item, RawRecord(name, line, line, texts[line])
