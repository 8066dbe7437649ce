"""What is kept of a run that is refused for its broken records: all of them, for whoever is to mend it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.ingest.unknown_records import UnknownTally
from assay.util.diagnostics import AssayError, Diagnostic
from assay.util.paths import resolve_path
from assay.util.scratch import process_dir

FOLDER = "quarantine"  # in the cache
TABLE = "quarantine.parquet"


class QuarantineLimitError(AssayError):
    """More records are broken than a source bears; `quarantine` is a Parquet file of `described` of all `broken`, until
    the process ends."""

    def __init__(self, diagnostics: Sequence[Diagnostic], broken: int, described: int) -> None:
        super().__init__(diagnostics)
        self.broken, self.described = broken, described
        self.quarantine: Path | None = None

    def hold(self, table: Path, root: Path) -> None:
        """Let the table, which is in a folder that is to vanish, be in the scratch of a cache.  May raise OSError."""
        if table.is_file():
            place = Path(tempfile.mkdtemp(dir=process_dir(root))) / TABLE
            self.quarantine = table.replace(place)

    def with_table_at(self, place: Path) -> AssayError:
        """The error that names the table, which is at `place` from now on.  May raise OSError."""
        if not self.quarantine:
            return self
        place.parent.mkdir(parents=True, exist_ok=True)
        self.quarantine.replace(place)
        count = "all" if self.described == self.broken else f"the first {self.described}"
        note = f"{count} of them, with file, line, offset, reason and text, are in {place}"
        return AssayError([replace(item, notes=(*item.notes, note)) for item in self.diagnostics], self.status)


class NothingRecognisedError(AssayError):
    """No record of a run is an event; `unknown` are the names that its records have instead."""

    def __init__(self, problem: AssayError, unknown: Sequence[UnknownTally]) -> None:
        super().__init__(problem.diagnostics, problem.status)
        self.unknown = tuple(unknown)


def place_of(cache: Path, directory: Path, source: str) -> Path:
    """Where the broken records of a run's source are kept when it is refused."""
    name = hashlib.sha256(os.fsencode(f"{resolve_path(directory)}\0{source}")).hexdigest()[:32]
    return cache / FOLDER / f"{name}.parquet"
