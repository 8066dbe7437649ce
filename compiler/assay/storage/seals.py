"""Seals: what tells whether a kept folder, or text, still holds what was written.

Names are given in one step, but a machine that loses its power may have given them to content that never came to the
disk: such files are empty, or hold zeros.  What is damaged so is as if it were not kept; so is what stands under the
name of another.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

FILE = "seal.json"
END = 2**16  # bytes at each end of a large file


def seal(folder: Path, name: str, ends: bool = False) -> None:
    """Write down what a folder holds that is to be kept by a name; `ends`: of large files their sizes and ends alone.
    Raises OSError."""
    told = {"name": name, "ends": ends, "files": _marks(folder, ends)}
    (folder / FILE).write_text(json.dumps(told), encoding="utf-8")


def is_sealed(folder: Path) -> bool:
    """Whether a folder holds what it held when it was sealed, by that name; not when it never was."""
    try:
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return bool(told["name"] == folder.name and told["files"] == _marks(folder, bool(told["ends"])))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _marks(folder: Path, ends: bool) -> dict[str, list[int]]:
    """Size and checksum of every file of a folder but the seal, by its path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    return {path.relative_to(folder).as_posix(): [path.stat().st_size, _checksum(path, ends)] for path in files}


def _checksum(path: Path, ends: bool) -> int:
    size = path.stat().st_size
    if not ends or size <= 2 * END:
        return zlib.crc32(path.read_bytes())
    with path.open("rb") as stream:
        first = zlib.crc32(stream.read(END))
        stream.seek(size - END)
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
