"""Room on the disk of the cache: asked before it is taken, and told when it is out."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from assay.util.diagnostics import AssayError, fail

KEPT = 64 * 2**20  # bytes of a disk that are left free: all that works beside needs some


def check_room(folder: Path, needed: int, what: str) -> None:
    """AssayError `disk-full` when the folder's disk has no room for so many bytes."""
    free = shutil.disk_usage(folder).free
    if needed + KEPT > free:
        raise _full(folder, what, f"{_size(needed)}", f"{_size(free)} free")


def write_error(folder: Path, what: str, error: OSError) -> AssayError:
    """The error of a file that could not be written below the cache's folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(folder, what, "room for it", error.strerror or "none")
    return fail(
        "cache",
        f"the cache folder cannot be written: {error.strerror or error}: {folder}",
        hint="name another with --cache",
    )


def _full(folder: Path, what: str, expected: str, found: str) -> AssayError:
    return fail(
        "disk-full",
        f"the disk of the cache has no room for {what}: {folder}",
        expected=expected,
        found=found,
        hint="free some, or name a folder on another disk with --cache",
    )


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
