"""Hash the files of runs in the background while the rest of a command is loaded.

Files are read only after their hash is known, and hashing requires only the files.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from assay.app.stages import stage
from assay.ingest.discovery import RunFiles, find_run
from assay.ingest.fingerprint import FileSnapshot, hashed
from assay.ingest.hashing import FileHash, file_hashes
from assay.util.diagnostics import AssayError

if TYPE_CHECKING:
    from assay.ingest.hashing import BackgroundHasher
    from assay.lang.model.package import Event, Source

Hashed: TypeAlias = "tuple[RunFiles, tuple[FileHash, ...]]"
Hashing = Callable[[], "Hashed"]


class Hashes:
    """Background hashing of the files of runs: one run and source at a time, each with all cores.

    `memo` is the file that remembers hashes. `ahead` may have begun before it was known which files are required.
    """

    def __init__(self, memo: Path, ahead: BackgroundHasher | None = None) -> None:
        self._memo = memo
        self._first = ahead
        self._needed: set[Path] = set()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._begun: dict[tuple[Path, Source], tuple[RunFiles, Future[Hashed]]] = {}
        self._ended = threading.Event()

    def begin(self, runs: Sequence[tuple[str, Path]], sources: Sequence[Source], events: Sequence[Event]) -> None:
        """Begin to hash runs (id and directory) that will be read.

        Begins only if there is a single source, as it is not yet known which of several are required. Problems of a run
        are left to its reader.
        """
        self._begun.clear()  # hashes that nobody used may be outdated
        discovered = []
        for run, directory in runs if len(sources) == 1 else ():
            with contextlib.suppress(AssayError):
                discovered.append((run, directory, self._discover(directory, sources[0], events)))
        for run, directory, files in discovered:
            self._begun[directory, sources[0]] = files, self._submit(run, sources[0], files)

    def of(self, run: str, directory: Path, source: Source, events: Sequence[Event]) -> tuple[RunFiles, Hashing]:
        """Return the files of a run, and a function that waits for their hashes.

        The files are those that `begin` found, if it did. Raises AssayError, now or when waiting, if files are missing
        or unreadable.
        """
        begun = self._begun.pop((directory, source), None)
        if begun:
            return begun[0], begun[1].result
        files = self._discover(directory, source, events)
        return files, lambda: self._submit(run, source, files).result()

    def close(self) -> None:
        """Stop hashing."""
        self._ended.set()
        if self._first:
            self._first.end()
        self._pool.shutdown(cancel_futures=True)

    def _submit(self, run: str, source: Source, files: RunFiles) -> Future[Hashed]:
        return self._pool.submit(self._hashed, run, source, files)

    def _discover(self, directory: Path, source: Source, events: Sequence[Event]) -> RunFiles:
        """Find the files of a run, and remember them as required."""
        files = find_run(source, directory, events)
        self._needed |= {path for host in files.hosts for path in host.files}
        return files

    def _hashed(self, run: str, source: Source, files: RunFiles) -> Hashed:
        if self._first:
            self._first.end(self._needed)  # all required files are known before the first hash is used
        with stage("hash", run=run, source=source.name, bytes=files.size):
            return file_hashes(files, self._memo, self._reuse)

    def _reuse(self, item: FileSnapshot) -> FileSnapshot:
        reused = self._first.reuse(item) if self._first else None
        return reused or hashed(item.path, item.mark, self._ended.is_set)
