"""What a system says against reading or writing a file, as one clear error."""

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
#: what the engine says when it means the same
FULL_TEXTS = re.compile(
    r"No space left on device|Disk quota exceeded|failed to offload data block|max_temp_directory_size"
    r"|Could not write (all bytes|file)",
    re.IGNORECASE,
)
ROOM = 2**20  # bytes: a disk with more is not full
NAMED = "rename the file or folder; reports name what they are made of, and are UTF-8"
RESUMES = "make room, then run the same command again: what is whole is kept, and it goes on from there"


def unwritable(code: str, what: str, place: Path, error: OSError, hint: str) -> AssayError:
    """The error of a file or folder (`what` it is, where it is) that cannot be written."""
    if is_full(error):
        return disk_full(what, place, hint)
    cause = _in_the_way(place, error) or _cause(error)
    return fail(code, f"the {what} cannot be written: {cause}: {place}", hint=hint)


def _in_the_way(place: Path, error: OSError) -> str:
    """What is at a place where something else is to be; nothing where that is not why it cannot be, or where it cannot
    be told."""
    with contextlib.suppress(OSError):  # a name that is too long, a folder into which nobody may look
        return _taken_by(place, error)
    return ""


def _taken_by(place: Path, error: OSError) -> str:
    if is_loop(place):
        return LOOP
    if place.is_file():
        return "it is a file"
    if place.is_symlink() and not place.exists():
        return f"it is a link to what is not there, {place.readlink()}"
    if isinstance(error, (FileExistsError, NotADirectoryError)) and place.exists() and not place.is_dir():
        return "it is no folder"
    return ""


def disk_full(what: str, place: Path, hint: str = "") -> AssayError:
    """The error of a disk without room."""
    notes = [f"or {hint}"] if hint else []
    return fail("disk-full", f"the disk of the {what} is full: {place}", hint=", ".join([RESUMES, *notes]))


def some_disk_full() -> AssayError:
    """The error of a disk without room, of which the system does not say which it is."""
    return fail("disk-full", "a disk is full: that of the cache or of temporary files", hint=RESUMES)


def is_memory(error: Exception) -> bool:
    """Whether an error of Python, or of the engine, says that there is no more memory, or are no more threads."""
    named = type(error).__name__ in ("MemoryError", "OutOfMemoryException")
    return named or (isinstance(error, RuntimeError) and "can't start new thread" in str(error))


def out_of_memory(error: Exception, where: str = "") -> AssayError:
    """The error of memory that ran out, `where` says at what."""
    cause = (str(error) or type(error).__name__).split("\n")[0][:500]
    hint = "is it bounded (`ulimit`, a container)? 2 GB are enough for logs of any size"
    return fail("memory", f"memory ran out{where}: {cause}", hint=hint)


def has_room(folder: Path) -> bool:
    """Whether the disk of a folder is not full."""
    place = next((item for item in (folder, *folder.absolute().parents) if item.exists()), Path.cwd())
    return shutil.disk_usage(place).free > ROOM


def is_full(error: Exception) -> bool:
    """Whether an error of the system, or of the engine, says that a disk has no room."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in FULL
    return bool(FULL_TEXTS.search(str(error)))


def is_within(error: OSError, folder: Path) -> bool:
    """Whether an error is about a file of a folder, or about none in particular."""
    place = place_of(error)
    return place is None or place.absolute().is_relative_to(folder.absolute())


def of_system(error: OSError) -> AssayError:
    """The error of a file of which nothing more is known than what the system says."""
    place = place_of(error)
    if is_full(error):
        return disk_full("file" if place else "output", place or Path.cwd())
    if not (place or _is_somewhere()):
        return fail("file", "the current folder is not there any more", hint="change into one that is", status=USAGE)
    said = f"{_cause(error)}: {place}" if place else _cause(error)
    return fail("file", f"a file cannot be read or written: {said}")


def _is_somewhere() -> bool:
    try:
        return bool(Path.cwd())
    except FileNotFoundError:
        return False


def place_of(error: OSError) -> Path | None:
    """The file that an error is about: of many that could not be copied the first one's copy."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return Path(error.args[0][0][1])
    return Path(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes)) else None


def _cause(error: OSError) -> str:
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return str(error.args[0][0][2])
    if error.errno == errno.ELOOP:
        return LOOP
    return os.strerror(error.errno) if error.errno else str(error) or type(error).__name__


def whole(name: str, what: str, status: int = SPECS_OR_DATA, hint: str = NAMED) -> str:
    """A name of a file, or a text with one; AssayError where it is not UTF-8, and has halves of surrogate pairs."""
    try:
        name.encode()
    except UnicodeEncodeError:
        told = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise fail("not-utf8", f"{what} is not UTF-8: `{told}`", hint=hint, status=status) from None
    return name


def is_below(name: str) -> bool:
    """Whether a name leads to something below the folder from which it is looked up."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name
