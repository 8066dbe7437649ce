"""Hashes of runs' files, begun as soon as it is known where they are: meanwhile the rest of a command is loaded.

Nothing is read of a file before its hash is known, and for that nothing but the file has to be.
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
    """The files of runs being hashed, those of one run and source after the other, each with all cores.

    `memo` is the file that remembers hashes.  `ahead` began before it was known which files are needed.
    """

    def __init__(self, memo: Path, ahead: BackgroundHasher | None = None) -> None:
        self._memo = memo
        self._first = ahead
        self._needed: set[Path] = set()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._begun: dict[tuple[Path, Source], tuple[RunFiles, Future[Hashed]]] = {}
        self._ended = threading.Event()

    def begin(self, runs: Sequence[tuple[str, Path]], sources: Sequence[Source], events: Sequence[Event]) -> None:
        """Begin with runs (id and directory) that will be read, if their source is the only one: of several it is told
        later which are needed.  What is wrong with a run is left to who reads it."""
        self._begun.clear()  # what nobody asked for is of files as they were then
        found = []
        for run, directory in runs if len(sources) == 1 else ():
            with contextlib.suppress(AssayError):
                found.append((run, directory, self._discover(directory, sources[0], events)))
        for run, directory, files in found:
            self._begun[directory, sources[0]] = files, self._submit(run, sources[0], files)

    def of(self, run: str, directory: Path, source: Source, events: Sequence[Event]) -> tuple[RunFiles, Hashing]:
        """The files of a run, as they were found when they were begun with, or are now; and what waits for their
        hashes.  AssayError, now or then, when they are not there or cannot be read."""
        found = self._begun.pop((directory, source), None)
        if found:
            return found[0], found[1].result
        files = self._discover(directory, source, events)
        return files, lambda: self._submit(run, source, files).result()

    def close(self) -> None:
        """Let go of what nobody waits for."""
        self._ended.set()
        if self._first:
            self._first.end()
        self._pool.shutdown(cancel_futures=True)

    def _submit(self, run: str, source: Source, files: RunFiles) -> Future[Hashed]:
        return self._pool.submit(self._hashed, run, source, files)

    def _discover(self, directory: Path, source: Source, events: Sequence[Event]) -> RunFiles:
        """The files of a run, which are needed."""
        files = find_run(source, directory, events)
        self._needed |= {path for host in files.hosts for path in host.files}
        return files

    def _hashed(self, run: str, source: Source, files: RunFiles) -> Hashed:
        if self._first:
            self._first.end(self._needed)  # all that are needed are found before one is asked for
        with stage("hash", run=run, source=source.name, bytes=files.size):
            return file_hashes(files, self._memo, self._reuse)

    def _reuse(self, item: FileSnapshot) -> FileSnapshot:
        found = self._first.reuse(item) if self._first else None
        return found or hashed(item.path, item.mark, self._ended.is_set)
