"""Ingest of every kind of source: which module reads which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.ingest.files import LOGS, RunFiles
from assay.ingest.forms import Wanted
from assay.ingest.json_records import ingest as ingest_records
from assay.ingest.reader import Progress, silent
from assay.ingest.reader import ingest as ingest_logs
from assay.ingest.samples import ingest as ingest_samples
from assay.ingest.tables import ingest as ingest_tables
from assay.ingest.text_lines import ingest as ingest_text_lines
from assay.spec.check_lines import RECORDS, TEXT_LINES
from assay.spec.model import Event, Source

#: kind of a source whose files are no logs -> what ingests it
KINDS = {
    "csv": ingest_tables,
    "blocks": ingest_tables,
    "samples": ingest_samples,
    TEXT_LINES: ingest_text_lines,
    RECORDS: ingest_records,
}


def ingest(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    out: Path,
    *,
    workers: int | None = None,
    share: int = 1,
    progress: Progress = silent,
) -> None:
    """Write the folder `out`, all or nothing: see `reader.ingest`.

    `events` may be of other sources too; `workers` bounds those that read logs.

    Raises AssayError: a file that cannot be read to its end, too many broken records, none that is recognised; of
    tables a missing column, of texts a missing key; of samples another form of file, or two values of a series at an
    instant.
    """
    if source.kind == LOGS:
        ingest_logs(source, events, wanted, files, out, workers=workers, share=share, progress=progress)
    else:
        KINDS[source.kind](source, events, wanted, files, out, share=share, progress=progress)
