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

from assay.app.stages import log_stage
from assay.ingest.file_snapshots import FileSnapshot, create_hashed_snapshot
from assay.ingest.hashing import FileHash, hash_files
from assay.util.diagnostics import AssayError

if TYPE_CHECKING:
    from assay.ingest.discovery import RunFiles
    from assay.ingest.hashing import BackgroundHasher
    from assay.lang.model.package import Event, Source

HashedFiles: TypeAlias = "tuple[RunFiles, tuple[FileHash, ...]]"
HashWaiter = Callable[[], "HashedFiles"]


class RunHasher:
    """A background hasher of the files of runs: one run and source at a time, each with all cores.

    `memo` is the file that stores hashes. `background_hasher` may have started before the required files are known.
    """

    def __init__(self, memo: Path, background_hasher: BackgroundHasher | None = None) -> None:
        self._memo = memo
        self._background_hasher = background_hasher
        self._required_files: set[Path] = set()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._pending: dict[tuple[Path, Source], tuple[RunFiles, Future[HashedFiles]]] = {}
        self._stop_event = threading.Event()

    def begin(self, runs: Sequence[tuple[str, Path]], sources: Sequence[Source], events: Sequence[Event]) -> None:
        """Begin to hash runs (id and directory) that will be read.

        Begins only if there is a single source, as it is not yet known which of several are required. Problems of a run
        are left to its reader.
        """
        self._pending.clear()  # hashes that nobody used may be outdated
        discovered_runs = []
        for run, directory in runs if len(sources) == 1 else ():
            with contextlib.suppress(AssayError):
                discovered_runs.append((run, directory, self._discover(directory, sources[0], events)))
        for run, directory, files in discovered_runs:
            self._pending[directory, sources[0]] = files, self._submit(run, sources[0], files)

    def get_files(
        self, run: str, directory: Path, source: Source, events: Sequence[Event]
    ) -> tuple[RunFiles, HashWaiter]:
        """Return the files of a run, and a function that waits for their hashes.

        The files are those that `begin` found, if it did. Raises AssayError, now or when waiting, if files are missing
        or unreadable.
        """
        pending = self._pending.pop((directory, source), None)
        if pending:
            return pending[0], pending[1].result
        files = self._discover(directory, source, events)
        return files, lambda: self._submit(run, source, files).result()

    def close(self) -> None:
        """Stop hashing."""
        self._stop_event.set()
        if self._background_hasher:
            self._background_hasher.stop()
        self._pool.shutdown(cancel_futures=True)

    def _submit(self, run: str, source: Source, files: RunFiles) -> Future[HashedFiles]:
        return self._pool.submit(self._hash_files, run, source, files)

    def _discover(self, directory: Path, source: Source, events: Sequence[Event]) -> RunFiles:
        """Find the files of a run, and remember them as required."""
        from assay.ingest.discovery import find_run  # imports sqlglot, which a cached build does not need

        files = find_run(source, directory, events)
        self._required_files |= {path for host in files.hosts for path in host.files}
        return files

    def _hash_files(self, run: str, source: Source, files: RunFiles) -> HashedFiles:
        if self._background_hasher:
            # All required files are known before the first hash is used.
            self._background_hasher.stop(self._required_files)
        with log_stage("hash", run=run, source=source.name, bytes=files.size):
            return hash_files(files, self._memo, self._reuse_or_hash)

    def _reuse_or_hash(self, item: FileSnapshot) -> FileSnapshot:
        reused_snapshot = self._background_hasher.get_hashed(item) if self._background_hasher else None
        return reused_snapshot or create_hashed_snapshot(item.path, item.stamp, self._stop_event.is_set)
