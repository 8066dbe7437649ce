"""Ingest the sources of runs, and find raw records again; the reader of each kind does what is particular to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.discovery import RunFiles
from assay.ingest.manifest import MANIFEST, manifest
from assay.ingest.readers.protocol import IngestJob, Place, RawRecord, find_reader
from assay.ingest.workspace_dir import atomic_output_dir
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.progress import Bytes, ignore_bytes

if TYPE_CHECKING:
    from assay.ingest.event_forms import Wanted


def ingest(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    out: Path,
    *,
    workers: int | None = None,
    share: int = 1,
    progress: Bytes = ignore_bytes,
    cache: Path | None = None,
) -> None:
    """Write the folder `out`, all or nothing: events/EVENT/N.parquet, logs.parquet, counts.parquet,
    quarantine.parquet, ingest.json.  `IngestJob` explains the parameters.

    Raises AssayError: a file that cannot be read to its end or changed meanwhile, too many broken records, none that
    is recognized; in tables a missing column, in texts a missing key; in samples another form of file, or two values
    of a series at an instant.
    """
    job = IngestJob(source, events, wanted, files, out, workers, share, progress, cache)
    with atomic_output_dir(out, cache) as folder:
        outcome = find_reader(source.kind).read(replace(job, folder=folder))
        if not SOURCE_KINDS[source.kind].is_log:  # a log may grow; its reader sees to what was there
            files.unchanged()
        text = manifest(source, events, wanted, files, outcome.has_missing_fields, outcome.notes, outcome.field_notes)
        (folder / MANIFEST).write_text(text, encoding="utf-8")


def find_records(source: Source, files: RunFiles, places: Iterable[Place]) -> dict[Place, RawRecord]:
    """Return the raw records at some places of the files of a run that a source reads.

    Raises AssayError when a file cannot be read, or has changed since.
    """
    ordered = sorted(set(places))
    return dict(find_reader(source.kind).locate(source, files, ordered)) if ordered else {}
