"""Hashes of raw files, stored between runs and computed in the background.

A file is not read again if its path, size, times of change and inode are the same.

This module imports little, since it is loaded first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.fingerprint import FileSnapshot, hashed, mark_of
from assay.util import atomic
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import AssayError

if TYPE_CHECKING:
    from assay.ingest.discovery import RunFiles


MEMO = "files.json"  # name of the file in a cache that stores hashes


@dataclass(frozen=True, slots=True)
class FileHash:
    """A raw file: its path relative to the run, its bytes and its sha256."""

    name: str
    size: int
    sha256: str


def hash_of(item: FileSnapshot) -> FileSnapshot:
    """Return a snapshot with its hash: see `hashed`."""
    return hashed(item.path, item.mark)


def file_hashes(
    files: RunFiles, memo: Path, worked_out: Callable[[FileSnapshot], FileSnapshot] = hash_of
) -> tuple[RunFiles, tuple[FileHash, ...]]:
    """Return the hash of every file of a run, hosts in order, files oldest first.

    `memo` is a JSON file with stored hashes; `worked_out` computes the others. The returned files are snapshots of the
    hashed bytes: of a log that grows meanwhile, its whole lines. Raises AssayError if a file is unreadable or changed.
    """
    stored, now_ns = remembered(memo), time.time_ns()
    snapshots = [item for host in files.hosts for item in host.held]
    missing = [item for item in snapshots if item.key not in stored]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        read = dict(zip(missing, pool.map(worked_out, missing), strict=True))
    steady = {
        item.key: now.sha256
        for item, now in read.items()
        if now.size == now.mark.size and now.steady and now.mark.settled(now_ns)
    }
    if steady:
        _remember(memo, stored | steady)
    by_snapshot = {item: read.get(item) or replace(item, sha256=stored[item.key]) for item in snapshots}
    hosts = tuple(replace(host, held=tuple(by_snapshot[item] for item in host.held)) for host in files.hosts)
    hashes = tuple(
        FileHash(now.path.relative_to(files.directory).as_posix(), now.size, now.sha256) for now in by_snapshot.values()
    )
    return replace(files, hosts=hosts), hashes


def content_key(hashes: Sequence[FileHash], files: RunFiles) -> str:
    """Return a hash of the raw data of a run: hosts, and the contents of their files in order, without paths."""
    names = [(host.host, len(host.files)) for host in files.hosts]
    text = json.dumps([names, [item.sha256 for item in hashes]])
    return hashlib.sha256(text.encode()).hexdigest()


def remembered(memo: Path) -> dict[str, str]:
    """Return the stored hashes by `FileSnapshot.key`."""
    try:
        hashes = json.loads(unseal_text(memo.name, memo.read_text(encoding="utf-8")) or "{}")
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def _remember(memo: Path, hashes: dict[str, str]) -> None:
    atomic.write_file(memo.parent, memo, seal_text(memo.name, json.dumps(hashes)))


WORTH = 2**20  # bytes; smaller files are hashed on request


class BackgroundHasher:
    """Hashes the files in some folders, one after another, until it learns which are required.

    `memo` stores hashes; files in it are skipped.
    """

    def __init__(self, folders: Sequence[Path], memo: Path) -> None:
        self._folders = folders
        self._memo = memo
        self._changed = threading.Condition()
        self._done: dict[Path, FileSnapshot] = {}
        self._at: Path | None = None
        self._needed: Collection[Path] | None = None
        self._left = self._files()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait until all files are hashed."""
        self._thread.join()

    def end(self, needed: Collection[Path] = ()) -> None:
        """Start no further file, and cancel the current one unless it is required."""
        self._needed = needed  # without the lock, which the search for the next file holds until it succeeds
        with self._changed:
            self._changed.notify_all()

    def reuse(self, item: FileSnapshot) -> FileSnapshot | None:
        """Return a file with its hash if hashing it was started and it did not change since, else None."""
        with self._changed:
            while item.path == self._at and not self._given_up(item.path):
                self._changed.wait()
        snapshot = self._done.get(item.path)
        return snapshot if snapshot and snapshot.mark == item.mark else None

    def _given_up(self, path: Path) -> bool:
        return self._needed is not None and path not in self._needed

    def _work(self) -> None:
        while item := self._next():
            try:
                self._done[item.path] = hashed(item.path, item.mark, partial(self._given_up, item.path))
            except (AssayError, CancelledError):
                pass  # the reader of the file reports the problem
            finally:
                with self._changed:
                    self._at = None
                    self._changed.notify_all()

    def _next(self) -> FileSnapshot | None:
        """Select the next file to hash and return it, None at the end."""
        with self._changed:
            item = None if self._needed is not None else next(self._left, None)
            if item:
                self._at = item.path
            return item

    def _files(self) -> Iterator[FileSnapshot]:
        """Yield the files of the folders without a stored hash, in the order of their names."""
        stored = remembered(self._memo)
        for folder in self._folders:
            for above, folders, names in os.walk(folder):
                folders.sort()
                for path in (Path(above, name) for name in sorted(names)):
                    if self._needed is not None:
                        return
                    item = _worth(path)
                    if item and item.key not in stored:
                        yield item


def _worth(path: Path) -> FileSnapshot | None:
    """Return a snapshot of a file that is worth hashing in the background, else None."""
    with contextlib.suppress(AssayError):
        mark = mark_of(path)
        if mark.size >= WORTH and path.is_file():
            return FileSnapshot(path, mark, mark.size)
    return None
