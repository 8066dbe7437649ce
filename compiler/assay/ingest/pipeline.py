"""Ingest of every kind of source: which module reads which."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.discovery import RunFiles
from assay.lang.model.package import Event, Source
from assay.lang.model.vocabulary import BLOCKS, JSON_LINES, RECORDS, SAMPLES, TABLES, TEXT_LINES
from assay.util.progress import Bytes, unwatched

if TYPE_CHECKING:
    from assay.ingest.event_forms import Wanted

#: kind of a source -> the module whose `ingest` reads it, which is loaded when there is such a source
READERS = {
    JSON_LINES: "json_lines",
    TEXT_LINES: "text_lines",
    RECORDS: "json_records",
    TABLES: "tables",
    BLOCKS: "tables",
    SAMPLES: "samples",
}
OF_LINES = (JSON_LINES, TEXT_LINES)


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
    """Write the folder `out`, all or nothing: see `readers.json_lines.ingest`.

    `cache` is the folder whose scratch is used, and where what was read of logs before is found when the files have
    hashes.  `events` may be of other sources too; `workers` bounds those that
    read logs.

    Raises AssayError: a file that cannot be read to its end, too many broken records, none that is recognised; of
    tables a missing column, of texts a missing key; of samples another form of file, or two values of a series at an
    instant.
    """
    read = import_module(f"assay.ingest.readers.{READERS[source.kind]}").ingest
    if source.kind in OF_LINES:
        read = partial(read, workers=workers)
    read(source, events, wanted, files, out, share=share, progress=progress, cache=cache)
