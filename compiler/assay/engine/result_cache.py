"""Cache results and intermediate tables by the hash of all their inputs.

Entries are atomic: complete or absent.

Intermediate tables are cached if some outputs of a run are cached and some are not, since then specs are being edited.
A first build caches no tables.
"""

from __future__ import annotations

import functools
import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.util import atomic, checksums, scratch
from assay.util.diagnostics import AssayError, fail
from assay.util.locks import acquire_lock
from assay.util.os_errors import build_disk_full_error, build_write_error, is_disk_full_error, is_within

if TYPE_CHECKING:
    pass


ELSEWHERE = "pass --cache DIR"
SHORT = 65_536  # bytes: smaller texts are cached in memory, too


def get_default_folder() -> Path:
    """Return the default folder for caches: `assay` in the user's cache folder.

    Relative paths in the environment are ignored, as the XDG Base Directory Specification demands.  Raises AssayError
    when the user has no home.
    """
    xdg_folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg_folder.is_absolute():
        return xdg_folder / "assay"
    home = Path(os.environ.get("HOME", ""))
    if not home.is_absolute():
        try:
            home = Path(pwd.getpwuid(os.getuid()).pw_dir)
        except KeyError:
            hint = "pass --cache DIR, or set HOME or XDG_CACHE_HOME"
            raise fail("cache", "this user has no home folder for a cache", hint=hint) from None
    return home / ".cache" / "assay"


@dataclass(frozen=True, slots=True)
class Store:
    """A cache folder."""

    folder: Path

    def get_path(self, kind: str, key: str) -> Path:
        """Return the path of an entry, which need not exist."""
        return self.folder / kind / key

    @property
    def scratch(self) -> Path:
        """Return the temporary folder of this process.  Raises AssayError when the cache cannot be written."""
        with self.convert_write_errors():
            return scratch.get_process_folder(self.folder)

    def create_folder(self) -> Path:
        """Create an empty folder that is removed when the process ends.

        Raises AssayError when the cache cannot be written.
        """
        return Path(tempfile.mkdtemp(dir=self.scratch))

    def has(self, kind: str, key: str) -> bool:
        """Return whether an entry that is a folder exists and has its checksum."""
        return checksums.is_sealed(self.get_path(kind, key))

    def put(self, kind: str, key: str, content: str | bytes) -> None:
        """Write an entry that is a file.  Raises AssayError when the cache cannot be written."""
        with self.convert_write_errors():
            atomic.write_file(self.folder, self.get_path(kind, key), content)

    @contextmanager
    def fill_entry(self, kind: str, key: str, ends: bool = False, replaces_sealed: bool = False) -> Iterator[Path]:
        """Yield an empty folder that becomes the entry when the block succeeds, and is removed when it fails.

        The entry gets a checksum; with `ends`, only the size and the ends of large files enter it. A complete entry
        that was put there meanwhile stays, since it may be in use; with `replaces_sealed`, it is replaced.
        """
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            with self.convert_write_errors():
                yield folder
                checksums.seal(folder, key, ends)
                atomic.install(self.folder, folder, self.get_path(kind, key), replaces_sealed=replaces_sealed)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def lock_folder(self, folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the lock on a folder of the cache; `waiting` is called when another process holds it."""
        with ExitStack() as stack:
            with self.convert_write_errors():
                atomic.create_parents(self.folder, folder / "entry")
                stack.enter_context(acquire_lock(folder, waiting))
            yield

    @contextmanager
    def convert_write_errors(self) -> Iterator[None]:
        """Convert errors of the system or the engine while writing to the cache into AssayError."""
        try:
            yield
        except AssayError:
            raise
        except OSError as error:
            if not is_within(error, self.folder):
                raise
            raise build_write_error("cache", "cache folder", self.folder, error, ELSEWHERE) from None
        except Exception as error:
            if not is_disk_full_error(error):
                raise
            raise self.build_full_error() from None

    def build_full_error(self) -> AssayError:
        """Return the error of a cache on a full disk."""
        return build_disk_full_error("cache folder", self.folder, ELSEWHERE)


def read_sealed_text(path: Path) -> str | None:
    """Return the text of an entry that is a sealed file; None if there is none, or if it is damaged."""
    if not path.is_file():
        return None
    try:
        text = _read_text(path) if path.stat().st_size < SHORT else path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):  # another process may remove it after the first look
        return None
    return checksums.unseal_text(path.name, text)


@functools.lru_cache(maxsize=2048)  # `assay watch` reads most answers again
def _read_text(path: Path) -> str:
    """Return the content of a file, whose name is a hash of all inputs of the content."""
    return path.read_text(encoding="utf-8")
