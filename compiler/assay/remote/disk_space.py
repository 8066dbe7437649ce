"""Check the free space on the disk of the cache, and report when it is full."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from assay.util.diagnostics import AssayError, fail

RESERVED_BYTES = 64 * 2**20  # bytes that are left free for other programs


def check_room(folder: Path, required_bytes: int, subject: str) -> None:
    """Check that the folder's disk has room for `required_bytes` bytes.  Raises AssayError `disk-full`."""
    free = shutil.disk_usage(folder).free
    if required_bytes + RESERVED_BYTES > free:
        raise _build_full_error(folder, subject, _format_size(required_bytes), f"{_format_size(free)} free")


def build_write_error(folder: Path, subject: str, error: OSError) -> AssayError:
    """Return the error of a file that cannot be written below the cache folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _build_full_error(folder, subject, "room for it", error.strerror or "none")
    return fail(
        "cache",
        f"the cache folder cannot be written: {error.strerror or error}: {folder}",
        hint="pass --cache DIR",
    )


def _build_full_error(folder: Path, subject: str, expected: str, free: str) -> AssayError:
    return fail(
        "disk-full",
        f"the disk of the cache has no room for {subject}: {folder}",
        expected=expected,
        found=free,
        hint="free disk space, or pass a folder on another disk with --cache",
    )


def _format_size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
