"""Cache which files the specs of a system consist of, so that unchanged specs are recognized without reading them.

A file is unchanged when its size, times of change and inode are; then its imports are unchanged too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from assay.util.atomic import write_file
from assay.util.checksums import seal_text, unseal_text
from assay.util.paths import resolve_path

IndexedFile = tuple[str, Path, bytes]
"""Name, path and content of a source."""


def read_unchanged_sources(cache: Path, root: Path, system: str) -> str | None:
    """Return the hash of the sources of a system if none of its files has changed; otherwise, or if unknown, None.

    A new file of the workspace that replaces a shipped one of its name is a change, too.
    """
    try:
        index_path = _get_index_path(cache, root, system)
        index = json.loads(unseal_text(index_path.name, index_path.read_text(encoding="utf-8")) or "{}")
        is_unchanged = all(_is_same_file(root, name, *entry) for name, entry in index["files"].items())
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return str(index["sources"]) if is_unchanged and index["files"] else None


def _is_same_file(root: Path, name: str, path: str, stamp: list[int]) -> bool:
    workspace_file = root / name
    return _get_stamp(Path(path)) == stamp and (
        not workspace_file.exists() or str(resolve_path(workspace_file)) == path
    )


def write_index(cache: Path, root: Path, system: str, files: Sequence[IndexedFile], sources: str) -> None:
    """Record the files (name, path, content) of a system's specs and their hash.

    Nothing is recorded when a file has changed since it was read, or when the cache cannot be written.
    """
    try:
        stamps = {name: [str(resolve_path(path)), _get_stamp(path)] for name, path, _ in files}
        if any(path.read_bytes() != content for _, path, content in files):  # compared after the stamps were taken
            return
        index_path = _get_index_path(cache, root, system)
        write_file(cache, index_path, seal_text(index_path.name, json.dumps({"sources": sources, "files": stamps})))
    except OSError:
        return


def _get_index_path(cache: Path, root: Path, system: str) -> Path:
    key = hashlib.sha256(os.fsencode(f"{resolve_path(root)}|{system}")).hexdigest()[:32]
    return cache / "specs" / f"index-{key}.json"


def _get_stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
