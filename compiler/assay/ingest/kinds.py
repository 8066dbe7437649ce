"""Ingest of every kind of source: which module reads which."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from assay.ingest.files import RunFiles
from assay.ingest.forms import Wanted
from assay.ingest.json_records import ingest as ingest_records
from assay.ingest.reader import ingest as ingest_logs
from assay.ingest.samples import ingest as ingest_samples
from assay.ingest.tables import ingest as ingest_tables
from assay.ingest.text_lines import ingest as ingest_text_lines
from assay.spec.model import Event, Source
from assay.spec.source_kinds import BLOCKS, JSON_LINES, RECORDS, SAMPLES, TABLES, TEXT_LINES
from assay.storage.progress import Bytes, unwatched

#: kind of a source whose files are no logs -> what ingests it
KINDS = {
    TABLES: ingest_tables,
    BLOCKS: ingest_tables,
    SAMPLES: ingest_samples,
    RECORDS: ingest_records,
}
LINES = {JSON_LINES: ingest_logs, TEXT_LINES: ingest_text_lines}


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
    """Write the folder `out`, all or nothing: see `reader.ingest`.

    `cache` is the folder whose scratch is used, and where what was read of logs before is found when the files have
    hashes.  `events` may be of other sources too; `workers` bounds those that
    read logs.

    Raises AssayError: a file that cannot be read to its end, too many broken records, none that is recognised; of
    tables a missing column, of texts a missing key; of samples another form of file, or two values of a series at an
    instant.
    """
    of_lines = LINES.get(source.kind)
    read = partial(of_lines, workers=workers) if of_lines else KINDS[source.kind]
    read(source, events, wanted, files, out, share=share, progress=progress, cache=cache)
