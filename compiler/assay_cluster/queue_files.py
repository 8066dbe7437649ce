"""Read and write the files of a queue. Others may put any file there: none is trusted before it has been decoded."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from assay.registry.model import get_reader
from assay.util.atomic import replace_durably
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import LONGEST, escape_text
from assay.util.progress import Notice

T = TypeVar("T")
NEW_PREFIX = ".new-"
FOREIGN_HINT = "build again; does anything else write into the folder of the queue?"
LARGEST = 2**30  # bytes of a file: a task of 100,000 hosts has a hundredth
LONGEST_LEASE = 10**6  # seconds
#: names of files: of a task, the number of the attempt, and the worker that took it
WAITING = re.compile(r"([0-9A-Za-z_-]+)\.([0-9]{1,4})\.json")
TAKEN = re.compile(r"([0-9A-Za-z_-]+)\.([0-9]{1,4})\.(.+)\.json", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BuildFile:
    """The content of `build.json`: the lease in seconds, and the coordinator's name."""

    lease: float
    coordinator: str = ""


@dataclass(frozen=True, slots=True)
class QueueFile:
    """A file that is named as those of a task: its path, task, attempt, and the worker that took it."""

    path: Path
    task: str
    attempt: int
    worker: str = ""


class ForeignFiles:
    """Gives the user one notice of each file of a queue that is passed over."""

    def __init__(self, notice: Notice) -> None:
        self._notice = notice
        self._noticed: set[Path] = set()

    def report(self, path: Path, reason: str) -> None:
        """Report a file, once."""
        if path not in self._noticed:
            self._noticed.add(path)
            self._notice(f"passed over in the queue: {escape_text(str(path))}: {reason}")

    def list_named(self, folder: Path, form: re.Pattern[str]) -> list[QueueFile]:
        """Return the files of a folder whose names have a form, and report others."""
        files = []
        for path in list_files(folder):
            if match := form.fullmatch(path.name):
                files.append(QueueFile(path, match[1], int(match[2]), *match.groups()[2:]))
            else:
                self.report(path, "it has no name of a task")
        return files

    def read_lease(self, path: Path) -> float | None:
        """Return the lease of a build; None, and a report unless the file is gone, if it cannot be read."""
        try:
            lease = read_file(path, BuildFile).lease
        except AssayError as error:
            if os.path.lexists(path) or not path.parent.is_dir():
                self.report(path, error.diagnostics[0].found)
            return None
        if 0 < lease <= LONGEST_LEASE:
            return lease
        self.report(path, f"its lease is not between 0 and {LONGEST_LEASE} seconds")
        return None


def write_file(target: Path, content: bytes) -> None:
    """Write a file of the queue, which appears complete, and is so after a loss of power. Raises OSError."""
    handle, temporary = tempfile.mkstemp(prefix=NEW_PREFIX, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        replace_durably(Path(temporary), target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_file(path: Path, kind: Callable[..., T]) -> T:
    """Return the content of a file of the queue. Raises AssayError for another file, folder, link or device."""
    from pydantic import ValidationError  # slow to import

    try:
        content: T = get_reader(kind).validate_json(_read_bytes(path), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "".join(f"`{'.'.join(map(str, first['loc']))}`: " if first["loc"] else "")
        cause = f"{place}{first['msg']}"
    except (OSError, ValueError, MemoryError) as error:
        cause = getattr(error, "strerror", None) or str(error)
    else:
        return content
    raise fail(
        "queue-file",
        f"a file of the queue cannot be used: {escape_text(str(path))}",
        found=escape_text(cause)[:LONGEST],
        hint=FOREIGN_HINT,
    )


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises OSError, ValueError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a file")
        if status.st_size > LARGEST:
            raise ValueError("it is too large")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(LARGEST)
    finally:
        os.close(descriptor)


def touch(path: Path) -> float:
    """Renew the time of change of a file, and return it: the time of the file server. Raises OSError."""
    os.utime(path, follow_symlinks=False)
    return path.lstat().st_mtime


def list_files(folder: Path) -> list[Path]:
    """Return the complete files of a folder by name; none if it is gone, or is no folder."""
    with contextlib.suppress(OSError):
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return []


def is_alive(path: Path, now: float, lease: float) -> bool:
    """Return whether the time of change of a file was renewed within the lease."""
    try:
        return now - path.lstat().st_mtime <= lease
    except OSError:
        return False
