"""Hash the files of runs in the background while the rest of a command is loaded.

Files are read only after their hash is known, and hashing requires only the files. A large run is hashed in portions,
so that each is read right after it was hashed, while the system still has it in memory.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from assay.app.session.stages import log_stage
from assay.ingest.file_snapshots import FileSnapshot, create_hashed_snapshot
from assay.ingest.hashing import FileHash, hash_files
from assay.util.diagnostics import AssayError

if TYPE_CHECKING:
    from assay.ingest.discovery import RunFiles
    from assay.ingest.hashing import BackgroundHasher
    from assay.lang.model.package import Event, Source

HashedFiles: TypeAlias = "tuple[RunFiles, tuple[FileHash, ...]]"
MEMORY = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # bytes
LARGE = MEMORY // 2  # bytes of a run from which the system may drop its first files before the last are hashed
PORTION = MEMORY // 16  # bytes of a large run that are hashed before the first of them is read


@dataclass(slots=True)
class PendingHashes:
    """The files of a run, which `submit` hashes in the background: all at once, or a large run in portions of hosts."""

    files: RunFiles
    submit: Callable[[RunFiles], Future[HashedFiles]]
    portions: Sequence[RunFiles] = field(init=False)
    _futures: list[Future[HashedFiles]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.portions = _divide_hosts(self.files, PORTION) if self.files.size > LARGE else [self.files]

    def start(self) -> None:
        """Begin to hash the first portion."""
        self._submit_first(1)

    def iter_portions(self) -> Iterator[RunFiles]:
        """Yield each portion as soon as it is hashed. The next one is hashed meanwhile, but none beyond.

        Raises AssayError if a file is missing, unreadable or changed.
        """
        for number in range(len(self.portions)):
            self._submit_first(number + 2)
            yield self._futures[number].result()[0]

    def join(self) -> HashedFiles:
        """Return all files with their hashes. Raises AssayError as `iter_portions` does."""
        self._submit_first(len(self.portions))
        results = [item.result() for item in self._futures]
        hosts = tuple(host for portion, _ in results for host in portion.hosts)
        return replace(self.files, hosts=hosts), tuple(item for _, hashes in results for item in hashes)

    def _submit_first(self, count: int) -> None:
        for portion in self.portions[len(self._futures) : count]:
            self._futures.append(self.submit(portion))


def _divide_hosts(files: RunFiles, size: int) -> list[RunFiles]:
    """Divide the hosts of a run, in order, into portions of about `size` bytes."""
    portions: list[RunFiles] = []
    for host in files.hosts:
        if portions and portions[-1].size < size:
            portions[-1] = replace(portions[-1], hosts=(*portions[-1].hosts, host))
        else:
            portions.append(replace(files, hosts=(host,)))
    return portions


class RunHasher:
    """A background hasher of the files of runs: one run and source at a time, each with all cores.

    `memo` is the file that stores hashes. `background_hasher` may have started before the required files are known.
    """

    def __init__(self, memo: Path, background_hasher: BackgroundHasher | None = None) -> None:
        self._memo = memo
        self._background_hasher = background_hasher
        self._required_files: set[Path] = set()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._pending: dict[tuple[Path, Source], PendingHashes] = {}
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
            pending = self._pending[directory, sources[0]] = self._create_pending(run, sources[0], files)
            pending.start()

    def get_pending(self, run: str, directory: Path, source: Source, events: Sequence[Event]) -> PendingHashes:
        """Return the files of a run, whose hashes are pending.

        The files are those that `begin` found, if it did. Raises AssayError if files are missing or unreadable.
        """
        pending = self._pending.pop((directory, source), None)
        return pending or self._create_pending(run, source, self._discover(directory, source, events))

    def close(self) -> None:
        """Stop hashing."""
        self._stop_event.set()
        if self._background_hasher:
            self._background_hasher.stop()
        self._pool.shutdown(cancel_futures=True)

    def _create_pending(self, run: str, source: Source, files: RunFiles) -> PendingHashes:
        return PendingHashes(files, lambda portion: self._pool.submit(self._hash_files, run, source, portion))

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
