"""Convert errors of the operating system about files, disks and memory to diagnostics."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from pathlib import Path, PurePosixPath

from assay.util.diagnostics import SPECS_OR_DATA, USAGE, AssayError, fail
from assay.util.paths import LOOP, is_loop

FULL = (errno.ENOSPC, errno.EDQUOT)
#: messages of the engine for a full disk
FULL_TEXTS = re.compile(
    r"No space left on device|Disk quota exceeded|failed to offload data block|max_temp_directory_size"
    r"|Could not write (all bytes|file)",
    re.IGNORECASE,
)
ROOM = 2**20  # bytes: a disk with more free space is not full
NAMED = "rename the file or folder; reports name what they are made of, and are UTF-8"
RESUMES = "make room, then run the same command again: what is whole is kept, and it goes on from there"


def make_write_error(code: str, label: str, place: Path, error: OSError, hint: str) -> AssayError:
    """Return the error for a file or folder that cannot be written; `label` is its kind in messages."""
    if is_full(error):
        return disk_full(label, place, hint)
    cause = _describe_obstacle(place, error) or _describe_cause(error)
    return fail(code, f"the {label} cannot be written: {cause}: {place}", hint=hint)


def _describe_obstacle(place: Path, error: OSError) -> str:
    """Return what is at a place instead of the wanted file or folder; empty when that is not the cause."""
    with contextlib.suppress(OSError):  # such as a name that is too long, or a folder without permission
        return _inspect_obstacle(place, error)
    return ""


def _inspect_obstacle(place: Path, error: OSError) -> str:
    if is_loop(place):
        return LOOP
    if place.is_file():
        return "it is a file"
    if place.is_symlink() and not place.exists():
        return f"it is a link to what is not there, {place.readlink()}"
    if isinstance(error, (FileExistsError, NotADirectoryError)) and place.exists() and not place.is_dir():
        return "it is no folder"
    return ""


def disk_full(label: str, place: Path, hint: str = "") -> AssayError:
    """Return the error for a full disk."""
    notes = [f"or {hint}"] if hint else []
    return fail("disk-full", f"the disk of the {label} is full: {place}", hint=", ".join([RESUMES, *notes]))


def some_disk_full() -> AssayError:
    """Return the error for a full disk when the system does not say which one."""
    return fail("disk-full", "a disk is full: that of the cache or of temporary files", hint=RESUMES)


def is_memory(error: Exception) -> bool:
    """Return whether an error of Python or the engine means that memory or threads ran out."""
    has_known_name = type(error).__name__ in ("MemoryError", "OutOfMemoryException")
    return has_known_name or (isinstance(error, RuntimeError) and "can't start new thread" in str(error))


def out_of_memory(error: Exception, where: str = "") -> AssayError:
    """Return the error for memory that ran out; `where` is appended to the message."""
    cause = (str(error) or type(error).__name__).split("\n")[0][:500]
    hint = "is it bounded (`ulimit`, a container)? 2 GB are enough for logs of any size"
    return fail("memory", f"memory ran out{where}: {cause}", hint=hint)


def has_room(folder: Path) -> bool:
    """Return whether the disk of a folder is not full."""
    place = next((item for item in (folder, *folder.absolute().parents) if item.exists()), Path.cwd())
    return shutil.disk_usage(place).free > ROOM


def is_full(error: Exception) -> bool:
    """Return whether an error of the system or the engine means that a disk is full."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in FULL
    return bool(FULL_TEXTS.search(str(error)))


def is_within(error: OSError, folder: Path) -> bool:
    """Return whether an error is about a file in a folder, or about no file in particular."""
    place = place_of(error)
    return place is None or place.absolute().is_relative_to(folder.absolute())


def convert_os_error(error: OSError) -> AssayError:
    """Return the diagnostic for an OSError that nothing else has explained."""
    place = place_of(error)
    if is_full(error):
        return disk_full("file" if place else "output", place or Path.cwd())
    if not (place or _has_current_folder()):
        return fail("file", "the current folder is not there any more", hint="change into one that is", status=USAGE)
    cause = f"{_describe_cause(error)}: {place}" if place else _describe_cause(error)
    return fail("file", f"a file cannot be read or written: {cause}")


def _has_current_folder() -> bool:
    try:
        return bool(Path.cwd())
    except FileNotFoundError:
        return False


def place_of(error: OSError) -> Path | None:
    """Return the file that an error is about; for several failed copies, the first copy."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return Path(error.args[0][0][1])
    return Path(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes)) else None


def _describe_cause(error: OSError) -> str:
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return str(error.args[0][0][2])
    if error.errno == errno.ELOOP:
        return LOOP
    return os.strerror(error.errno) if error.errno else str(error) or type(error).__name__


def require_utf8(name: str, label: str, status: int = SPECS_OR_DATA, hint: str = NAMED) -> str:
    """Return a file name, or a text with one; raise AssayError if it is not UTF-8 (has lone surrogates)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        escaped = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise fail("not-utf8", f"{label} is not UTF-8: `{escaped}`", hint=hint, status=status) from None
    return name


def is_below(name: str) -> bool:
    """Return whether a relative path stays below its folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name
