"""Checksums of files, of cached folders (`seal.json`) and of cached texts.

Renames are atomic, but after a power failure a renamed file may be empty or full of zeros.  A cache entry that does not
match its checksum, or has the checksum of another name, counts as absent.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
import zlib
from pathlib import Path

from assay.util.time_units import SECOND

SETTLED = 2 * SECOND  # ns: a file that changed more recently may change again within the resolution of its time


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file.  Raises OSError.

    It is cached in this process while size, times of change and inode are the same.
    """
    status = path.stat()
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < SETTLED:
        return _hash_contents(path)
    return _hash_stamped_file(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@functools.lru_cache(maxsize=4096)
def _hash_stamped_file(path: Path, *_stamp: int) -> str:
    """Return the SHA-256 of a file; its stamp is only part of the key of the cache."""
    return _hash_contents(path)


def _hash_contents(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


FILE = "seal.json"
END = 2**16  # bytes at each end of a large file
CHUNK = 2**20  # bytes per read


def seal(folder: Path, name: str, checks_ends_only: bool = False) -> None:
    """Write the checksums of a folder that will be cached as `name`.  Raises OSError.

    With `checks_ends_only`, only size and ends of large files are checked later, while their time of change is the
    same.
    """
    files = {path: _compute_fingerprint(file, checks_ends_only) for path, file in _list_files(folder).items()}
    (folder / FILE).write_text(json.dumps({"name": name, "files": files}), encoding="utf-8")


def is_sealed(folder: Path) -> bool:
    """Return whether a folder has the contents and the name that it was sealed with."""
    try:
        entry = json.loads((folder / FILE).read_text(encoding="utf-8"))
        name, fingerprints, files = entry["name"], entry["files"], _list_files(folder)
        if name != folder.name or fingerprints.keys() != files.keys():
            return False
        return all(_is_unchanged(file, *fingerprints[path]) for path, file in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def is_copied(folder: Path, copy: Path) -> bool:
    """Return whether a copy has all files of a sealed folder, each of its size; other files may be there, too."""
    try:
        entry = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return all((copy / path).stat().st_size == fingerprint[0] for path, fingerprint in entry["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def restore_times(folder: Path) -> None:
    """Set the times of change of large files to those of the seal, so that later only their ends are checked.

    The folder is a copy that has just been checked.  Raises OSError.
    """
    entry = json.loads((folder / FILE).read_text(encoding="utf-8"))
    for path, (_, _, *ends) in entry["files"].items():
        if ends:
            os.utime(folder / path, ns=(ends[1], ends[1]))


def _list_files(folder: Path) -> dict[str, Path]:
    """Return every file of a folder except the seal, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    return {path.relative_to(folder).as_posix(): path for path in files}


def _compute_fingerprint(file: Path, checks_ends_only: bool) -> list[int]:
    """Return size and checksum of a file.

    With `checks_ends_only`, for a large file, also the checksum of its ends and its time of change (ns).
    """
    status = file.stat()
    fingerprint = [status.st_size, _compute_checksum(file)]
    if checks_ends_only and status.st_size > 2 * END:
        fingerprint += [_compute_end_checksum(file), status.st_mtime_ns]
    return fingerprint


def _is_unchanged(file: Path, size: int, checksum: int, end_checksum: int = 0, changed_ns: int = -1) -> bool:
    status = file.stat()
    if status.st_size != size:
        return False
    return (
        _compute_end_checksum(file) == end_checksum
        if status.st_mtime_ns == changed_ns
        else _compute_checksum(file) == checksum
    )


def _compute_checksum(file: Path) -> int:
    checksum = 0
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            checksum = zlib.crc32(chunk, checksum)
    return checksum


def _compute_end_checksum(file: Path) -> int:
    with file.open("rb") as stream:
        first = zlib.crc32(stream.read(END))
        stream.seek(-END, os.SEEK_END)
        return zlib.crc32(stream.read(), first)


def seal_text(name: str, text: str) -> str:
    """Return a text with its checksum (of `name` and text) in front."""
    return f"{_hash_text(name, text)}\n{text}"


def unseal_text(name: str, text: str) -> str | None:
    """Return the text behind a checksum; None where the checksum does not match."""
    checksum, _, content = text.partition("\n")
    return content if checksum == _hash_text(name, content) else None


def _hash_text(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
