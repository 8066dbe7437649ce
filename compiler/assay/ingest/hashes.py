"""Hashes of raw files.  A file whose path, size, time of change and inode are as before is not read again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assay.ingest.files import RunFiles
from assay.ingest.plain import broken
from assay.storage import atomic


@dataclass(frozen=True, slots=True)
class FileHash:
    """A raw file: its path relative to the run, bytes, sha256."""

    name: str
    size: int
    sha256: str


def file_hashes(files: RunFiles, memo: Path) -> tuple[FileHash, ...]:
    """The hash of every file of a run, hosts in order, files oldest first; `memo` (a JSON file) remembers them."""
    known = _remembered(memo)
    paths = [path for host in files.hosts for path in host.files]
    marks = {path: _mark(path) for path in paths}
    missing = [path for path in paths if marks[path] not in known]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        known.update(zip((marks[path] for path in missing), pool.map(_sha256, missing), strict=True))
    if missing:
        _remember(memo, known)
    return tuple(
        FileHash(path.relative_to(files.directory).as_posix(), path.stat().st_size, known[marks[path]])
        for path in paths
    )


def content_key(hashes: Sequence[FileHash], files: RunFiles) -> str:
    """One hash for the raw data of a run: hosts, and the contents of their files in order; no paths."""
    names = [(host.host, len(host.files)) for host in files.hosts]
    text = json.dumps([names, [item.sha256 for item in hashes]])
    return hashlib.sha256(text.encode()).hexdigest()


def _mark(path: Path) -> str:
    found = path.stat()
    return f"{path.resolve()}|{found.st_size}|{found.st_mtime_ns}|{found.st_ino}"


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise broken(path, str(error)) from None


def _remembered(memo: Path) -> dict[str, str]:
    try:
        found = json.loads(memo.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(memo: Path, known: dict[str, str]) -> None:
    atomic.put(memo.parent, memo, json.dumps(known))
