"""Hashes of raw files, stored between runs and computed in the background.

A file whose path, size, times of change and inode are the same is not read again.

This module imports little, since it is loaded first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.file_snapshots import FileSnapshot, create_hashed_snapshot, read_stamp
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


def hash_snapshot(item: FileSnapshot) -> FileSnapshot:
    """Return a snapshot with its hash. Raises AssayError if the file is unreadable or changed."""
    return create_hashed_snapshot(item.path, item.stamp)


def hash_files(
    files: RunFiles, memo: Path, compute_hash: Callable[[FileSnapshot], FileSnapshot] = hash_snapshot
) -> tuple[RunFiles, tuple[FileHash, ...]]:
    """Return the hash of every file of a run, hosts in order, files oldest first.

    `memo` is a JSON file with stored hashes; `compute_hash` computes the others. The returned files are snapshots of
    the hashed bytes; of a log that grew in the meantime, these are whole lines. Raises AssayError if a file is
    unreadable or changed.
    """
    stored_hashes, now_ns = load_hashes(memo), time.time_ns()
    snapshots = [item for host in files.hosts for item in host.snapshots]
    unhashed_snapshots = [item for item in snapshots if item.key not in stored_hashes]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        hashed_snapshots = dict(zip(unhashed_snapshots, pool.map(compute_hash, unhashed_snapshots), strict=True))
    new_hashes = {
        item.key: snapshot.sha256
        for item, snapshot in hashed_snapshots.items()
        if snapshot.size == snapshot.stamp.size and snapshot.is_steady and snapshot.stamp.is_settled(now_ns)
    }
    if new_hashes:
        store_hashes(memo, new_hashes)
    by_snapshot = {
        item: hashed_snapshots.get(item) or replace(item, sha256=stored_hashes[item.key]) for item in snapshots
    }
    hosts = tuple(replace(host, snapshots=tuple(by_snapshot[item] for item in host.snapshots)) for host in files.hosts)
    hashes = tuple(
        FileHash(snapshot.path.relative_to(files.directory).as_posix(), snapshot.size, snapshot.sha256)
        for snapshot in by_snapshot.values()
    )
    return replace(files, hosts=hosts), hashes


def compute_content_key(hashes: Sequence[FileHash], files: RunFiles) -> str:
    """Return a hash of the raw data of a run: hosts, and the contents of their files in order, without paths."""
    names = [(host.host, len(host.files)) for host in files.hosts]
    text = json.dumps([names, [item.sha256 for item in hashes]])
    return hashlib.sha256(text.encode()).hexdigest()


def load_hashes(memo: Path) -> dict[str, str]:
    """Return the stored hashes by `FileSnapshot.key`."""
    try:
        hashes = json.loads(unseal_text(memo.name, memo.read_text(encoding="utf-8")) or "{}")
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def store_hashes(memo: Path, hashes: Mapping[str, str]) -> None:
    """Add hashes by `FileSnapshot.key` to the stored ones."""
    text = json.dumps(load_hashes(memo) | dict(hashes))
    atomic.write_file(memo.parent, memo, seal_text(memo.name, text))


MINIMUM_SIZE = 2**20  # bytes; smaller files are hashed on request


class BackgroundHasher:
    """Hashes the files in some folders in a thread, one after another, until `stop` tells it which are required.

    `memo` stores hashes; files in it are skipped.
    """

    def __init__(self, folders: Sequence[Path], memo: Path) -> None:
        self._folders = folders
        self._memo = memo
        self._changed = threading.Condition()
        self._snapshots: dict[Path, FileSnapshot] = {}
        self._current: Path | None = None
        self._required: Collection[Path] | None = None
        self._remaining = self._iter_files()
        self._thread = threading.Thread(target=self._hash_files, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait until all files are hashed."""
        self._thread.join()

    def stop(self, required: Collection[Path] = ()) -> None:
        """Start no further file, and cancel the current one unless it is required."""
        self._required = required  # without the lock, which `_select_next` holds while it searches for a file
        with self._changed:
            self._changed.notify_all()

    def get_hashed(self, item: FileSnapshot) -> FileSnapshot | None:
        """Return a file with its hash if hashing it was started and it did not change since, else None."""
        with self._changed:
            while item.path == self._current and not self._is_cancelled(item.path):
                self._changed.wait()
        snapshot = self._snapshots.get(item.path)
        return snapshot if snapshot and snapshot.stamp == item.stamp else None

    def _is_cancelled(self, path: Path) -> bool:
        return self._required is not None and path not in self._required

    def _hash_files(self) -> None:
        while item := self._select_next():
            try:
                self._snapshots[item.path] = create_hashed_snapshot(
                    item.path, item.stamp, partial(self._is_cancelled, item.path)
                )
            except (AssayError, CancelledError):
                pass  # the reader of the file reports the problem
            finally:
                with self._changed:
                    self._current = None
                    self._changed.notify_all()

    def _select_next(self) -> FileSnapshot | None:
        """Select the next file to hash and return it, None at the end."""
        with self._changed:
            item = None if self._required is not None else next(self._remaining, None)
            if item:
                self._current = item.path
            return item

    def _iter_files(self) -> Iterator[FileSnapshot]:
        """Yield the files of the folders without a stored hash, in the order of their names."""
        stored_hashes = load_hashes(self._memo)
        for folder in self._folders:
            for parent, folders, names in os.walk(folder):
                folders.sort()
                for path in (Path(parent, name) for name in sorted(names)):
                    if self._required is not None:
                        return
                    item = _snapshot_large_file(path)
                    if item and item.key not in stored_hashes:
                        yield item


def _snapshot_large_file(path: Path) -> FileSnapshot | None:
    """Return a snapshot of a file that is worth hashing in the background, else None."""
    with contextlib.suppress(AssayError):
        stamp = read_stamp(path)
        if stamp.size >= MINIMUM_SIZE and path.is_file():
            return FileSnapshot(path, stamp, stamp.size)
    return None
