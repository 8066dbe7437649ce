"""Hashes of raw files, remembered between runs and computed ahead of time.

A file whose path, size, times of change and inode are as before is not read again.

It imports no more than that takes.
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


MEMO = "files.json"  # what a cache calls the file that remembers hashes


@dataclass(frozen=True, slots=True)
class FileHash:
    """A raw file: its path relative to the run, bytes, sha256."""

    name: str
    size: int
    sha256: str


def hash_of(item: FileSnapshot) -> FileSnapshot:
    """A file with the hash of what is held of it: see `hashed`."""
    return hashed(item.path, item.mark)


def file_hashes(
    files: RunFiles, memo: Path, worked_out: Callable[[FileSnapshot], FileSnapshot] = hash_of
) -> tuple[RunFiles, tuple[FileHash, ...]]:
    """The hash of every file of a run, hosts in order, files oldest first; `memo` (a JSON file) remembers them, and
    others are `worked_out`.

    The hashes are of what is held of the files, and so are the files that come back: of a log that grows meanwhile
    that is its whole lines.  AssayError when one cannot be read, or is not what was found.
    """
    known, now_ns = remembered(memo), time.time_ns()
    found = [item for host in files.hosts for item in host.held]
    missing = [item for item in found if item.key not in known]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        read = dict(zip(missing, pool.map(worked_out, missing), strict=True))
    steady = {
        item.key: now.sha256
        for item, now in read.items()
        if now.size == now.mark.size and now.steady and now.mark.settled(now_ns)
    }
    if steady:
        _remember(memo, known | steady)
    held = {item: read.get(item) or replace(item, sha256=known[item.key]) for item in found}
    hosts = tuple(replace(host, held=tuple(held[item] for item in host.held)) for host in files.hosts)
    hashes = tuple(
        FileHash(now.path.relative_to(files.directory).as_posix(), now.size, now.sha256) for now in held.values()
    )
    return replace(files, hosts=hosts), hashes


def content_key(hashes: Sequence[FileHash], files: RunFiles) -> str:
    """One hash for the raw data of a run: hosts, and the contents of their files in order; no paths."""
    names = [(host.host, len(host.files)) for host in files.hosts]
    text = json.dumps([names, [item.sha256 for item in hashes]])
    return hashlib.sha256(text.encode()).hexdigest()


def remembered(memo: Path) -> dict[str, str]:
    """The hashes that are remembered, by the keys of files (`Held.key`)."""
    try:
        found = json.loads(unseal_text(memo.name, memo.read_text(encoding="utf-8")) or "{}")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(memo: Path, known: dict[str, str]) -> None:
    atomic.write_file(memo.parent, memo, seal_text(memo.name, json.dumps(known)))


WORTH = 2**20  # bytes: what is smaller is hashed as soon as it is asked for


class BackgroundHasher:
    """Hashes the files in some folders, one after the other, until it is told which are needed, or that none is.

    `memo` remembers hashes, those of files that need none.
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
        """Begin."""
        self._thread.start()

    def join(self) -> None:
        """Wait until all is hashed."""
        self._thread.join()

    def end(self, needed: Collection[Path] = ()) -> None:
        """Begin with no other file, and give up the one at hand unless it is among those that are needed."""
        self._needed = needed  # at once: whoever looks for the next file has the lock until one is found
        with self._changed:
            self._changed.notify_all()

    def reuse(self, item: FileSnapshot) -> FileSnapshot | None:
        """A file with its hash, if it was begun with and is as it was then."""
        with self._changed:
            while item.path == self._at and not self._given_up(item.path):
                self._changed.wait()
        found = self._done.get(item.path)
        return found if found and found.mark == item.mark else None

    def _given_up(self, path: Path) -> bool:
        return self._needed is not None and path not in self._needed

    def _work(self) -> None:
        while item := self._next():
            try:
                self._done[item.path] = hashed(item.path, item.mark, partial(self._given_up, item.path))
            except (AssayError, CancelledError):
                pass  # what is wrong, whoever reads the file tells
            finally:
                with self._changed:
                    self._at = None
                    self._changed.notify_all()

    def _next(self) -> FileSnapshot | None:
        """The next file to hash, which is at hand from now on."""
        with self._changed:
            found = None if self._needed is not None else next(self._left, None)
            if found:
                self._at = found.path
            return found

    def _files(self) -> Iterator[FileSnapshot]:
        """The files of the folders whose hash is not remembered, in the order of their names."""
        known = remembered(self._memo)
        for folder in self._folders:
            for above, folders, names in os.walk(folder):
                folders.sort()
                for path in (Path(above, name) for name in sorted(names)):
                    if self._needed is not None:
                        return
                    found = _worth(path)
                    if found and found.key not in known:
                        yield found


def _worth(path: Path) -> FileSnapshot | None:
    """A file as it is found, if it is one, and worth to be hashed ahead."""
    with contextlib.suppress(AssayError):
        mark = mark_of(path)
        if mark.size >= WORTH and path.is_file():
            return FileSnapshot(path, mark, mark.size)
    return None
