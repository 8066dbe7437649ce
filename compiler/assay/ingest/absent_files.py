"""Absent files: placeholders of logs whose bytes are on object storage, where workers read them.

A placeholder has the size of the log and no content. Its time of change marks it, so that no reader takes it for data:
whoever needs its bytes gets an `AbsentFileError`, fetches the file, and tries again.
"""

from __future__ import annotations

import os
from pathlib import Path

from assay.util.diagnostics import AssayError, Diagnostic
from assay.util.time_units import SECOND

CHANGED_NS = 271_828 * SECOND  # in January 1970: no log is as old


class AbsentFileError(AssayError):
    """The bytes of a file are needed, but it is a placeholder."""

    def __init__(self, path: Path) -> None:
        super().__init__((Diagnostic("broken-file", f"the log is not on this machine: {path}"),))
        self.path = path


def create_placeholder(path: Path, size: int) -> None:
    """Create the placeholder of a file of `size` bytes. Raises OSError."""
    with path.open("wb") as stream:
        stream.truncate(size)
    os.utime(path, ns=(CHANGED_NS, CHANGED_NS))


def is_absent(path: Path) -> bool:
    """Return whether a file is a placeholder; false if there is no file."""
    try:
        return path.stat().st_mtime_ns == CHANGED_NS
    except OSError:
        return False


def require_content(path: Path) -> None:
    """Raise AbsentFileError if a file is a placeholder."""
    if is_absent(path):
        raise AbsentFileError(path)
