"""Measure a cache and make it smaller: the least recently used entries are removed first.

An entry is a file or folder, complete or absent; its modification time is that of its last use.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.util.locks import acquire, release
from assay.util.os_errors import is_disk_full_error
from assay.util.progress import ignore
from assay.util.scratch import FOLDER as SCRATCH
from assay.util.scratch import clean_up, sweep

#: kind of entries -> the folders of the cache that hold them, each with the depth of entries below it
KINDS = {
    "logs": (("ingest", 2), ("batches", 2), ("runs", 1), ("quarantine", 1)),
    "results": (("results", 1), ("tables", 1), ("portions", 1), ("own-portions", 2), ("facts", 1), ("answers", 1)),
    "reports": (("builds", 1), ("rendered", 1), ("drawings", 1)),
    "specs": (("specs", 1), ("dhall", 2), ("names", 1), ("checks", 1)),
    "mirrors": (("mirror", 1),),
}

#: names of entries begin with a hash: `--cache` may name a folder with `specs` or `results` of other programs
NAME = re.compile(r"(index-)?[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: kind, path, time of last use (seconds since 1970), and its files as (inode, bytes on disk)."""

    kind: str
    path: Path
    last_used: float
    files: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The disk use of a kind: entries, bytes (a shared file counts once), and time of last use."""

    kind: str
    entries: int
    size: int
    last_used: float | None


@dataclass(frozen=True, slots=True)
class Limits:
    """Which entries may stay: those used since an instant (seconds since 1970), and a total of bytes."""

    since: float | None = None
    size: int | None = None


def mark_used(path: Path) -> None:
    """Record that an entry is used now; ignore a cache that cannot be written."""
    with contextlib.suppress(OSError):
        os.utime(path)


def list_entries(cache: Path) -> tuple[Entry, ...]:
    """Return all entries of a cache, the least recently used first."""
    entries = [
        entry
        for kind, folders in KINDS.items()
        for name, depth in folders
        for path in sorted((cache / name).glob("/".join(["*"] * depth)))
        if NAME.match(path.name)
        for entry in _read_entry(kind, path)
    ]
    return tuple(sorted(entries, key=lambda item: (item.last_used, item.path)))


def _read_entry(kind: str, path: Path) -> Iterator[Entry]:
    with contextlib.suppress(FileNotFoundError):  # another process has removed it
        is_folder = path.is_dir() and not path.is_symlink()
        file_paths = [item for item in path.rglob("*") if item.is_file()] if is_folder else [path]
        states = [item.lstat() for item in file_paths]
        files = tuple((state.st_ino, state.st_blocks * 512) for state in states)
        yield Entry(kind, path, path.lstat().st_mtime, files)


def measure_uses(entries: Sequence[Entry]) -> tuple[DiskUse, ...]:
    """Return the disk use of each kind."""
    entries_by_kind = {kind: [entry for entry in entries if entry.kind == kind] for kind in KINDS}
    return tuple(
        DiskUse(kind, len(items), measure_size(items), max((item.last_used for item in items), default=None))
        for kind, items in entries_by_kind.items()
    )


def measure_size(entries: Sequence[Entry]) -> int:
    """Return the bytes on disk of entries together; a file that several entries share counts once."""
    return sum(dict(file for entry in entries for file in entry.files).values())


def select_surplus(entries_by_use: Sequence[Entry], limits: Limits) -> tuple[Entry, ...]:
    """Return the entries to remove.

    These are the entries not used since `limits.since`, then the least recently used ones until the rest is small
    enough.  `entries_by_use` is sorted by last use.
    """
    removed = [entry for entry in entries_by_use if limits.since is not None and entry.last_used < limits.since]
    remaining = entries_by_use[len(removed) :]
    if limits.size is None:
        return tuple(removed)
    holders = Counter(inode for entry in remaining for inode, _ in entry.files)
    total = measure_size(remaining)
    for entry in remaining:
        if total <= limits.size and limits.size:
            break
        removed.append(entry)
        holders.subtract(inode for inode, _ in entry.files)
        total -= sum(file_size for inode, file_size in dict(entry.files).items() if not holders[inode])
    return tuple(removed)


def prune(
    cache: Path, choose: Callable[[tuple[Entry, ...]], Sequence[Entry]], waiting: Callable[[], None] = ignore
) -> tuple[Entry, ...]:
    """Remove the entries that `choose` returns, and the remains of killed commands, with the cache locked.

    `waiting` is called when another process uses the cache.  Raises OSError when the cache cannot be written.
    """
    clean_up(cache)
    lock = acquire(cache, can_wait=False)
    if lock is None:
        waiting()
        lock = acquire(cache)
    try:
        removed = tuple(choose(list_entries(cache)))
        scratch_folder = cache / SCRATCH
        sweep(scratch_folder)
        trash = None
        for number, entry in enumerate(removed):
            trash = trash or _create_trash(scratch_folder)
            _remove(entry.path, trash / str(number) if trash else None)
            with contextlib.suppress(OSError):  # other entries are in it
                entry.path.parent.rmdir()
        if trash:
            shutil.rmtree(trash)
        with contextlib.suppress(OSError):  # folders of other processes are in it
            scratch_folder.rmdir()
        return removed
    finally:
        release(lock if lock is not None else -1)


def _create_trash(scratch_folder: Path) -> Path | None:
    """Create a folder for removed entries; None if a full disk has no space for it.  Raises OSError."""
    try:
        scratch_folder.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(dir=scratch_folder))
    except OSError as error:
        if not is_disk_full_error(error):
            raise
        return None


def _remove(path: Path, trash_path: Path | None) -> None:
    """Remove an entry, after moving it to `trash_path` if that is not None.

    Without the move, a kill may leave half of an entry, which readers ignore because its checksum is wrong.
    """
    if trash_path:
        path.replace(trash_path)
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
