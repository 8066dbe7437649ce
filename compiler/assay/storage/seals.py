"""Seals: what tells whether a kept folder, or text, still holds what was written.

Names are given in one step, but a machine that loses its power may have given them to content that never came to the
disk: such files are empty, or hold zeros.  What is damaged so is as if it were not kept.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

FILE = "seal.json"
END = 2**16  # bytes at each end of a large file


def seal(folder: Path, ends: bool = False) -> None:
    """Write down what a folder holds; `ends`: of large files their sizes and ends alone.  Raises OSError."""
    (folder / FILE).write_text(json.dumps({"ends": ends, "files": _marks(folder, ends)}), encoding="utf-8")


def is_sealed(folder: Path) -> bool:
    """Whether a folder holds what it held when it was sealed; not when it never was."""
    try:
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return bool(told["files"] == _marks(folder, bool(told["ends"])))
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


def sealed(text: str) -> str:
    """A text with its seal ahead of it."""
    return f"{_hash(text)}\n{text}"


def unsealed(text: str) -> str | None:
    """The text that was sealed; None where it is another, or none was."""
    told, _, said = text.partition("\n")
    return said if told == _hash(said) else None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
