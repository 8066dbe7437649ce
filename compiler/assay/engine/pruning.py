"""The size of a cache, and making it smaller: what was used longest ago goes first.

An entry is a folder or file that is there whole or not at all; its time of change is that of its last use.
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

from assay.util.locks import acquire, ignore_wait, release
from assay.util.os_errors import is_full
from assay.util.scratch import FOLDER as SCRATCH
from assay.util.scratch import clean_up, sweep

#: kinds of entries: the folders of the cache that hold them and how deep they are in these, what they are
KINDS = {
    "logs": (("ingest", 2), ("batches", 2), ("runs", 1), ("quarantine", 1)),
    "results": (("results", 1), ("tables", 1)),
    "reports": (("builds", 1), ("rendered", 1), ("drawings", 1)),
    "specs": (("specs", 1), ("dhall", 2)),
    "mirrors": (("mirror", 1),),
}

#: what the names of entries begin with, a hash: `--cache` may name a folder that has others' `specs` or `results`
NAME = re.compile(r"(index-)?[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: kind, place, when it was used last (seconds since 1970), its files by inode with their bytes."""

    kind: str
    place: Path
    used: float
    files: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Use:
    """What a kind takes: entries, bytes on disk (a file that several have counts once), when one was used last."""

    kind: str
    entries: int
    size: int
    used: float | None


@dataclass(frozen=True, slots=True)
class Limits:
    """What may stay: entries used since an instant (seconds since 1970), so many bytes in all; None is no limit."""

    since: float | None = None
    size: int | None = None


def used(place: Path) -> None:
    """Note that an entry is used now; a cache that cannot be written is no matter."""
    with contextlib.suppress(OSError):
        os.utime(place)


def entries(cache: Path) -> tuple[Entry, ...]:
    """All entries of a cache, the one that was used longest ago first."""
    found = [
        entry
        for kind, folders in KINDS.items()
        for name, depth in folders
        for place in sorted((cache / name).glob("/".join(["*"] * depth)))
        if NAME.match(place.name)
        for entry in _entry(kind, place)
    ]
    return tuple(sorted(found, key=lambda item: (item.used, item.place)))


def _entry(kind: str, place: Path) -> Iterator[Entry]:
    with contextlib.suppress(FileNotFoundError):  # removed meanwhile
        is_folder = place.is_dir() and not place.is_symlink()
        paths = [path for path in place.rglob("*") if path.is_file()] if is_folder else [place]
        states = [path.lstat() for path in paths]
        files = tuple((state.st_ino, state.st_blocks * 512) for state in states)
        yield Entry(kind, place, place.lstat().st_mtime, files)


def uses(found: Sequence[Entry]) -> tuple[Use, ...]:
    """What each kind takes."""
    by_kind = {kind: [entry for entry in found if entry.kind == kind] for kind in KINDS}
    return tuple(
        Use(kind, len(items), size(items), max((item.used for item in items), default=None))
        for kind, items in by_kind.items()
    )


def size(found: Sequence[Entry]) -> int:
    """Bytes on disk of entries together; a file that several have counts once."""
    return sum(dict(file for entry in found for file in entry.files).values())


def surplus(found: Sequence[Entry], limits: Limits) -> tuple[Entry, ...]:
    """The entries that are to go: those not used since, then those used longest ago until the rest is small enough."""
    gone = [entry for entry in found if limits.since is not None and entry.used < limits.since]
    kept = found[len(gone) :]
    if limits.size is None:
        return tuple(gone)
    holders = Counter(inode for entry in kept for inode, _ in entry.files)
    held = size(kept)
    for entry in kept:
        if held <= limits.size and limits.size:
            break
        gone.append(entry)
        holders.subtract(inode for inode, _ in entry.files)
        held -= sum(taken for inode, taken in dict(entry.files).items() if not holders[inode])
    return tuple(gone)


def prune(
    cache: Path, choose: Callable[[tuple[Entry, ...]], Sequence[Entry]], waiting: Callable[[], None] = ignore_wait
) -> tuple[Entry, ...]:
    """Remove the entries that are chosen, and what commands that were killed left; nobody else works with the cache.

    `waiting` is called when others do.  Raises OSError when the cache cannot be written.
    """
    clean_up(cache)
    lock = acquire(cache, wait=False)
    if lock is None:
        waiting()
        lock = acquire(cache)
    try:
        gone = tuple(choose(entries(cache)))
        aside = cache / SCRATCH
        sweep(aside)
        bin_ = None
        for number, entry in enumerate(gone):
            bin_ = bin_ or _bin(aside)
            _remove(entry.place, bin_ / str(number) if bin_ else None)
            with contextlib.suppress(OSError):  # it holds others
                entry.place.parent.rmdir()
        if bin_:
            shutil.rmtree(bin_)
        with contextlib.suppress(OSError):  # it holds what is not ours
            aside.rmdir()
        return gone
    finally:
        release(lock if lock is not None else -1)


def _bin(aside: Path) -> Path | None:
    """A folder for what is to go; None where a full disk has no room for one.  Raises OSError."""
    try:
        aside.mkdir(exist_ok=True)
        return Path(tempfile.mkdtemp(dir=aside))
    except OSError as error:
        if not is_full(error):
            raise
        return None


def _remove(place: Path, way: Path | None) -> None:
    """Remove an entry, by way of another place if there is one: half of it, which is left if we are stopped where there
    is none, is no entry to those who look at its seal."""
    if way:
        place.replace(way)
    elif place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()
