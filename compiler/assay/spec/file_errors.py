"""What a system says against reading or writing a file, as one clear error."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from assay.spec.diagnostics import AssayError, fail

FULL = (errno.ENOSPC, errno.EDQUOT)
#: what the engine says when it means the same
FULL_TEXTS = re.compile(
    r"No space left on device|Disk quota exceeded|failed to offload data block|max_temp_directory_size"
    r"|Could not write all bytes",
    re.IGNORECASE,
)
RESUMES = "make room, then run the same command again: what is whole is kept, and it goes on from there"


def unwritable(code: str, what: str, place: Path, error: OSError, hint: str) -> AssayError:
    """The error of a file or folder (`what` it is, where it is) that cannot be written."""
    if error.errno in FULL:
        return disk_full(what, place, hint)
    cause = os.strerror(error.errno) if error.errno else str(error)
    return fail(code, f"the {what} cannot be written: {cause}: {place}", hint=hint)


def disk_full(what: str, place: Path, hint: str = "") -> AssayError:
    """The error of a disk without room."""
    notes = [f"or {hint}"] if hint else []
    return fail("disk-full", f"the disk of the {what} is full: {place}", hint=", ".join([RESUMES, *notes]))


def is_full(error: Exception) -> bool:
    """Whether an error of the system, or of the engine, says that a disk has no room."""
    return error.errno in FULL if isinstance(error, OSError) else bool(FULL_TEXTS.search(str(error)))


def of_system(error: OSError) -> AssayError:
    """The error of a file of which nothing more is known than what the system says."""
    place = Path(os.fsdecode(error.filename)) if error.filename else None
    if error.errno in FULL:
        return disk_full("file" if place else "output", place or Path.cwd())
    cause = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    if place is None:
        return fail("file", f"a file cannot be read or written: {cause}")
    return fail("file", f"the file cannot be read or written: {cause}: {place}")
