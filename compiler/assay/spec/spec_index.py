"""Which files a system's specs were made of last time, so that unchanged ones need not be scanned for imports again.

A file is unchanged when its size, time of change and inode are: what it imports is then what it imported.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path


def unchanged(cache: Path, specs: Path) -> str | None:
    """The hash of the sources of a system's specs when none of their files has changed; None when that is unknown."""
    try:
        found = json.loads(_place(cache, specs).read_text(encoding="utf-8"))
        same = all(_mark(Path(path)) == mark for path, mark in found["files"].items())
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    return str(found["sources"]) if same and found["files"] else None


def remember(cache: Path, specs: Path, files: Iterable[Path], sources: str) -> None:
    """Note the files of a system's specs and the hash of their contents; a cache that cannot be written is no matter."""
    try:
        content = {"sources": sources, "files": {str(path.resolve()): _mark(path) for path in files}}
        place = _place(cache, specs)
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(content), encoding="utf-8")
        partial.replace(place)
    except OSError:
        return


def _place(cache: Path, specs: Path) -> Path:
    key = hashlib.sha256(str(specs.resolve()).encode()).hexdigest()[:32]
    return cache / "specs" / f"index-{key}.json"


def _mark(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ino]
