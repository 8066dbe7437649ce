"""Files of runs hashed before it is known which of them are read: while all that finds this out is being loaded.

It imports no more than that takes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path

from assay.ingest.fingerprint import FileSnapshot, hashed, mark_of
from assay.ingest.hashing import remembered
from assay.util.diagnostics import AssayError

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
