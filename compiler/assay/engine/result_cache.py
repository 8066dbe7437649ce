"""The cache: a folder of results by the hash of all that they were made of.  Entries appear whole or not at all."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.util import atomic, checksums, scratch
from assay.util.diagnostics import AssayError, fail
from assay.util.locks import locked
from assay.util.os_errors import disk_full, is_full, is_within, unwritable

ELSEWHERE = "name another with --cache"


def default_folder() -> Path:
    """Where caches go when nothing is said: `assay` in the user's cache folder.  AssayError when the user has none.

    Paths that are not absolute count as none, as the XDG Base Directory Specification has it.
    """
    said = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if said.is_absolute():
        return said / "assay"
    home = Path(os.environ.get("HOME", ""))
    if not home.is_absolute():
        try:
            home = Path(pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            hint = "say --cache DIR, or set HOME or XDG_CACHE_HOME"
            raise fail("cache", "no folder for a cache is known: this user has no home", hint=hint) from None
    return home / ".cache" / "assay"


@dataclass(frozen=True, slots=True)
class Store:
    """A cache folder."""

    folder: Path

    def place(self, kind: str, key: str) -> Path:
        """Where an entry stands, or would."""
        return self.folder / kind / key

    @property
    def scratch(self) -> Path:
        """This process's folder for what is there for a while only.  AssayError when the cache cannot be written."""
        with self.writing():
            return scratch.process_dir(self.folder)

    def room(self) -> Path:
        """A fresh folder that is gone when the process ends.  AssayError when the cache cannot be written."""
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def has(self, kind: str, key: str) -> bool:
        """Whether an entry that is a folder is there, and as it was written."""
        return checksums.is_sealed(self.place(kind, key))

    def put(self, kind: str, key: str, content: str | bytes) -> None:
        """Write an entry that is a file.  AssayError when the cache cannot be written."""
        with self.writing():
            atomic.write_file(self.folder, self.place(kind, key), content)

    @contextmanager
    def filling(self, kind: str, key: str, ends: bool = False) -> Iterator[Path]:
        """A fresh folder that becomes the entry when the block ends well, and vanishes when it does not.

        It is sealed; `ends`: of large files their sizes and ends alone.
        """
        fresh = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            with self.writing():
                yield fresh
                checksums.seal(fresh, key, ends)
                atomic.install(self.folder, fresh, self.place(kind, key))
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    @contextmanager
    def alone(self, folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the lock on a folder of the cache; `waiting` is called when another process has it."""
        with ExitStack() as stack:
            with self.writing():
                atomic.clear_way(self.folder, folder / "entry")
                stack.enter_context(locked(folder, waiting))
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What the system or the engine says against writing to the cache, as the one error that it is."""
        try:
            yield
        except AssayError:
            raise
        except OSError as error:
            if not is_within(error, self.folder):
                raise
            raise unwritable("cache", "cache folder", self.folder, error, ELSEWHERE) from None
        except Exception as error:
            if not is_full(error):
                raise
            raise self.full() from None

    def full(self) -> AssayError:
        """The error of a cache on a disk that is full."""
        return disk_full("cache folder", self.folder, ELSEWHERE)
