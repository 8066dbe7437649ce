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
NAMED = "rename the file or folder: reports are UTF-8, and print its name"
RESUMES = "free disk space and run the same command again: it keeps complete files, and continues"


def build_write_error(code: str, label: str, path: Path, error: OSError, hint: str) -> AssayError:
    """Return the error for a file or folder that cannot be written; `label` is its kind in messages."""
    if is_disk_full_error(error):
        return build_disk_full_error(label, path, hint)
    cause = _describe_obstacle(path, error) or _describe_cause(error)
    return fail(code, f"the {label} cannot be written: {cause}: {path}", hint=hint)


def _describe_obstacle(path: Path, error: OSError) -> str:
    """Return what is at a path instead of a file or folder to write; empty when that is not the cause."""
    with contextlib.suppress(OSError):  # for example a name that is too long, or a folder without permission
        return _inspect_obstacle(path, error)
    return ""


def _inspect_obstacle(path: Path, error: OSError) -> str:
    if is_loop(path):
        return LOOP
    if path.is_file():
        return "it is a file"
    if path.is_symlink() and not path.exists():
        return f"it is a link to a missing path, {path.readlink()}"
    if isinstance(error, (FileExistsError, NotADirectoryError)) and path.exists() and not path.is_dir():
        return "it is not a folder"
    return ""


def build_disk_full_error(label: str, path: Path, hint: str = "") -> AssayError:
    """Return the error for a full disk."""
    notes = [f"or {hint}"] if hint else []
    return fail("disk-full", f"the disk of the {label} is full: {path}", hint=", ".join([RESUMES, *notes]))


def build_unnamed_disk_full_error() -> AssayError:
    """Return the error for a full disk when the system does not say which one."""
    return fail("disk-full", "a disk is full: that of the cache or of temporary files", hint=RESUMES)


def is_memory_error(error: Exception) -> bool:
    """Return whether an error of Python or the engine means that memory or threads ran out."""
    has_known_name = type(error).__name__ in ("MemoryError", "OutOfMemoryException")
    return has_known_name or (isinstance(error, RuntimeError) and "can't start new thread" in str(error))


def build_memory_error(error: Exception, context: str = "") -> AssayError:
    """Return the error for memory that ran out; `context` is appended to the message."""
    cause = (str(error) or type(error).__name__).split("\n")[0][:500]
    hint = "raise its limit (`ulimit`, container): 2 GB are enough for logs of any size"
    return fail("memory", f"memory ran out{context}: {cause}", hint=hint)


def has_room(folder: Path) -> bool:
    """Return whether the disk of a folder is not full."""
    path = next((item for item in (folder, *folder.absolute().parents) if item.exists()), Path.cwd())
    return shutil.disk_usage(path).free > ROOM


def is_disk_full_error(error: Exception) -> bool:
    """Return whether an error of the system or the engine means that a disk is full."""
    if isinstance(error, OSError) and error.errno:
        return error.errno in FULL
    return bool(FULL_TEXTS.search(str(error)))


def is_within(error: OSError, folder: Path) -> bool:
    """Return whether an error is about a file in a folder, or about no file in particular."""
    path = get_error_path(error)
    return path is None or path.absolute().is_relative_to(folder.absolute())


def convert_os_error(error: OSError) -> AssayError:
    """Return the error for an OSError that no caller has converted."""
    path = get_error_path(error)
    if is_disk_full_error(error):
        return build_disk_full_error("file" if path else "output", path or Path.cwd())
    if not (path or _has_current_folder()):
        return fail("file", "the current folder no longer exists", hint="change to another folder", status=USAGE)
    cause = f"{_describe_cause(error)}: {path}" if path else _describe_cause(error)
    return fail("file", f"a file cannot be read or written: {cause}")


def _has_current_folder() -> bool:
    try:
        return bool(Path.cwd())
    except FileNotFoundError:
        return False


def get_error_path(error: OSError) -> Path | None:
    """Return the file that an error is about; of several failed copies, the first: its source or target."""
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        source, copy, cause = error.args[0][0]
        return Path(source if str(cause).endswith(f": {str(source)!r}") else copy)
    return Path(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes)) else None


def _describe_cause(error: OSError) -> str:
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        return re.sub(r"^\[Errno \d+\] |: '.*", "", str(error.args[0][0][2]))
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
