"""Which files a system's specs were made of last time, so that unchanged ones need not be scanned for imports again.

A file is unchanged when its size, times of change and inode are: what it imports is then what it imported.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from assay.util.atomic import write_file
from assay.util.checksums import sealed, unsealed
from assay.util.paths import resolve_path

File = tuple[str, Path, bytes]
"""Name, path and content of a source."""


def unchanged(cache: Path, root: Path, system: str) -> str | None:
    """The hash of the sources of a system's specs when none of their files has changed; None when that is unknown.

    A file of the workspace `root` that now stands in front of a shipped one of its name is a change, too.
    """
    try:
        place = _place(cache, root, system)
        found = json.loads(unsealed(place.name, place.read_text(encoding="utf-8")) or "{}")
        same = all(_same(root, name, *entry) for name, entry in found["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return str(found["sources"]) if same and found["files"] else None


def is_known(cache: Path, root: Path, system: str) -> bool:
    """Whether it is known of which files a system's specs were made last time."""
    return _place(cache, root, system).is_file()


def _same(root: Path, name: str, path: str, mark: list[int]) -> bool:
    own = root / name
    return _mark(Path(path)) == mark and (not own.exists() or str(resolve_path(own)) == path)


def remember(cache: Path, root: Path, system: str, files: Sequence[File], sources: str) -> None:
    """Note the files (name, path, content) of a system's specs and their hash.

    Nothing is noted when a file has other content by now; a cache that cannot be written is no matter.
    """
    try:
        marks = {name: [str(resolve_path(path)), _mark(path)] for name, path, _ in files}
        if any(path.read_bytes() != content for _, path, content in files):  # after the marks: they are of this content
            return
        place = _place(cache, root, system)
        write_file(cache, place, sealed(place.name, json.dumps({"sources": sources, "files": marks})))
    except OSError:
        return


def _place(cache: Path, root: Path, system: str) -> Path:
    key = hashlib.sha256(os.fsencode(f"{resolve_path(root)}|{system}")).hexdigest()[:32]
    return cache / "specs" / f"index-{key}.json"


def _mark(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
