"""Files of runs hashed before it is known which of them are read: while all that finds this out is being loaded.

It imports no more than that takes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path

from assay.ingest.hashes import remembered
from assay.ingest.steady import Held, hashed, mark_of
from assay.spec.diagnostics import AssayError

WORTH = 2**20  # bytes: what is smaller is hashed as soon as it is asked for


class Ahead(threading.Thread):
    """Hashes the files in some folders, one after the other, until it is told which are needed, or that none is.

    `memo` remembers hashes, those of files that need none.
    """

    def __init__(self, folders: Sequence[Path], memo: Path) -> None:
        super().__init__(daemon=True)
        self._folders = folders
        self._memo = memo
        self._changed = threading.Condition()
        self._done: dict[Path, Held] = {}
        self._at: Path | None = None
        self._ended = False
        self._given_up = False

    def run(self) -> None:
        """Hash files."""
        known = remembered(self._memo)
        for item in self._files():
            if item.key in known:
                continue
            with self._changed:
                if self._ended:
                    return
                self._at = item.path
            try:
                self._done[item.path] = hashed(item.path, item.mark, lambda: self._given_up)
            except (AssayError, CancelledError):
                pass  # what is wrong, whoever reads the file tells
            finally:
                with self._changed:
                    self._at = None
                    self._changed.notify_all()

    def end(self, needed: Collection[Path] = ()) -> None:
        """Begin with no other file, and give up the one at hand unless it is among those that are needed."""
        with self._changed:
            self._ended = True
            self._given_up = self._at not in needed
            self._changed.notify_all()

    def held(self, item: Held) -> Held | None:
        """A file with its hash, if it was begun with and is as it was then."""
        with self._changed:
            while self._at == item.path and not self._given_up:
                self._changed.wait()
        found = self._done.get(item.path)
        return found if found and found.mark == item.mark else None

    def _files(self) -> Iterator[Held]:
        """The files of the folders, in the order of their names."""
        for folder in self._folders:
            for above, folders, names in os.walk(folder):
                folders.sort()
                for path in (Path(above, name) for name in sorted(names)):
                    if self._ended:
                        return
                    with contextlib.suppress(AssayError):
                        mark = mark_of(path)
                        if mark.size >= WORTH and path.is_file():
                            yield Held(path, mark, mark.size)
