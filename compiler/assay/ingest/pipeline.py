"""Ingest the sources of runs and locate raw records; each kind of source has a reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.discovery import RunFiles
from assay.ingest.manifest import MANIFEST, format_manifest
from assay.ingest.output_folder import open_output_folder
from assay.ingest.readers.protocol import IngestJob, Place, RawRecord, find_batch_reader, find_reader
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util import scratch
from assay.util.progress import ByteProgress, ignore

if TYPE_CHECKING:
    from assay.ingest.event_forms import RequiredFields


def ingest(
    source: Source,
    events: Sequence[Event],
    required_fields: RequiredFields,
    files: RunFiles,
    out: Path,
    *,
    workers: int | None = None,
    share: int = 1,
    progress: ByteProgress = ignore,
    cache: Path | None = None,
) -> None:
    """Write the folder `out` atomically: events/EVENT/N.parquet, logs.parquet, counts.parquet, quarantine.parquet,
    ingest.json. `IngestJob` explains the parameters.

    Raises AssayError if a file cannot be read to its end or changed meanwhile, if too many records are malformed or
    none is recognized, if a table lacks a column or a text a key, if a file of samples has another format, and for two
    values of a series at one instant.
    """
    job = IngestJob(source, events, required_fields, files, out, workers, share, progress, cache)
    with open_output_folder(out, cache) as folder:
        outcome = find_reader(source.kind).read(replace(job, folder=folder))
        if not SOURCE_KINDS[source.kind].is_log:  # a log may grow; its reader checks the bytes at discovery
            files.check_unchanged()
        text = format_manifest(
            source, events, required_fields, files, outcome.has_missing_fields, outcome.notes, outcome.field_notes
        )
        (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_batches(
    source: Source,
    events: Sequence[Event],
    required_fields: RequiredFields,
    files: RunFiles,
    cache: Path,
    *,
    workers: int | None = None,
    share: int = 1,
    progress: ByteProgress = ignore,
) -> tuple[Path, ...]:
    """Read the logs of some hosts of a run, whose hashes are known, into batches of a cache; return their folders.

    A later `ingest` of the run takes the batches from there. Raises AssayError as `ingest` does for single files.
    """
    reader = find_batch_reader(source.kind)
    assert reader
    with scratch.create_temporary_folder(cache) as folder:
        job = IngestJob(source, events, required_fields, files, folder, workers, share, progress, cache)
        return reader.read_batches(job)


def find_records(source: Source, files: RunFiles, places: Iterable[Place]) -> dict[Place, RawRecord]:
    """Return the raw records at some places of the files of a run that a source reads.

    Raises AssayError if a file cannot be read or has changed.
    """
    ordered = sorted(set(places))
    return dict(find_reader(source.kind).locate(source, files, ordered)) if ordered else {}
