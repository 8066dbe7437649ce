"""Checksums of files, and seals that show whether a cached folder or text still holds what was written.

Names are given in one step, but a machine that loses its power may have given them to content that never came to the
disk: such files are empty, or hold zeros.  What is damaged so is as if it were not kept; so is what stands under the
name of another.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import time
import zlib
from pathlib import Path

SETTLED = 2 * 10**9  # ns: a file that changed so shortly before may change again, and its time stay


def hash_file(path: Path) -> str:
    """The hash of a file's bytes; it is not read again in this process while size, times of change and inode are the
    same.  Raises OSError."""
    found = path.stat()
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < SETTLED:
        return _hash_contents(path)
    return read_known_digest(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


@functools.lru_cache(maxsize=4096)
def read_known_digest(path: Path, *_mark: int) -> str:
    return _hash_contents(path)


def _hash_contents(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


FILE = "seal.json"
END = 2**16  # bytes at each end of a large file
PIECE = 2**20  # bytes that are read at a time


def seal(folder: Path, name: str, ends: bool = False) -> None:
    """Write down what a folder holds that is to be kept by a name; `ends`: large files whose time of change stays the
    same are looked at by their sizes and ends alone.  Raises OSError."""
    files = {path: _mark(file, ends) for path, file in _files(folder).items()}
    (folder / FILE).write_text(json.dumps({"name": name, "files": files}), encoding="utf-8")


def is_sealed(folder: Path) -> bool:
    """Whether a folder holds what it held when it was sealed, by that name; not when it never was."""
    try:
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        name, marks, files = told["name"], told["files"], _files(folder)
        if name != folder.name or marks.keys() != files.keys():
            return False
        return all(_is_as_marked(file, *marks[path]) for path, file in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _files(folder: Path) -> dict[str, Path]:
    """Every file of a folder but the seal, by its path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    return {path.relative_to(folder).as_posix(): path for path in files}


def _mark(file: Path, ends: bool) -> list[int]:
    """Size and checksum of a file; of a large one, where its `ends` may do, also their checksum and its time of change
    (ns)."""
    found = file.stat()
    whole = [found.st_size, _checksum(file)]
    return [*whole, _checksum_of_ends(file), found.st_mtime_ns] if ends and found.st_size > 2 * END else whole


def _is_as_marked(file: Path, size: int, checksum: int, ends: int = 0, changed_ns: int = -1) -> bool:
    found = file.stat()
    if found.st_size != size:
        return False
    return _checksum_of_ends(file) == ends if found.st_mtime_ns == changed_ns else _checksum(file) == checksum


def _checksum(file: Path) -> int:
    found = 0
    with file.open("rb") as stream:
        while piece := stream.read(PIECE):
            found = zlib.crc32(piece, found)
    return found


def _checksum_of_ends(file: Path) -> int:
    with file.open("rb") as stream:
        first = zlib.crc32(stream.read(END))
        stream.seek(-END, os.SEEK_END)
        return zlib.crc32(stream.read(), first)


def sealed(name: str, text: str) -> str:
    """A text that is to be kept by a name, with its seal ahead of it."""
    return f"{_hash(name, text)}\n{text}"


def unsealed(name: str, text: str) -> str | None:
    """The text that was sealed by a name; None where it is another, or none was."""
    told, _, said = text.partition("\n")
    return said if told == _hash(name, said) else None


def _hash(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
