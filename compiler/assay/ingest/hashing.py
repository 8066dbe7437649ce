"""Hashes of raw files.  A file whose path, size, times of change and inode are as before is not read again."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.fingerprint import FileSnapshot, hashed
from assay.util import atomic
from assay.util.checksums import sealed, unsealed

if TYPE_CHECKING:
    from assay.ingest.discovery import RunFiles

MEMO = "files.json"  # what a cache calls the file that remembers hashes


@dataclass(frozen=True, slots=True)
class FileHash:
    """A raw file: its path relative to the run, bytes, sha256."""

    name: str
    size: int
    sha256: str


def hash_of(item: FileSnapshot) -> FileSnapshot:
    """A file with the hash of what is held of it: see `hashed`."""
    return hashed(item.path, item.mark)


def file_hashes(
    files: RunFiles, memo: Path, worked_out: Callable[[FileSnapshot], FileSnapshot] = hash_of
) -> tuple[RunFiles, tuple[FileHash, ...]]:
    """The hash of every file of a run, hosts in order, files oldest first; `memo` (a JSON file) remembers them, and
    others are `worked_out`.

    The hashes are of what is held of the files, and so are the files that come back: of a log that grows meanwhile
    that is its whole lines.  AssayError when one cannot be read, or is not what was found.
    """
    known, now_ns = remembered(memo), time.time_ns()
    found = [item for host in files.hosts for item in host.held]
    missing = [item for item in found if item.key not in known]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        read = dict(zip(missing, pool.map(worked_out, missing), strict=True))
    steady = {
        item.key: now.sha256
        for item, now in read.items()
        if now.size == now.mark.size and now.steady and now.mark.settled(now_ns)
    }
    if steady:
        _remember(memo, known | steady)
    held = {item: read.get(item) or replace(item, sha256=known[item.key]) for item in found}
    hosts = tuple(replace(host, held=tuple(held[item] for item in host.held)) for host in files.hosts)
    hashes = tuple(
        FileHash(now.path.relative_to(files.directory).as_posix(), now.size, now.sha256) for now in held.values()
    )
    return replace(files, hosts=hosts), hashes


def content_key(hashes: Sequence[FileHash], files: RunFiles) -> str:
    """One hash for the raw data of a run: hosts, and the contents of their files in order; no paths."""
    names = [(host.host, len(host.files)) for host in files.hosts]
    text = json.dumps([names, [item.sha256 for item in hashes]])
    return hashlib.sha256(text.encode()).hexdigest()


def remembered(memo: Path) -> dict[str, str]:
    """The hashes that are remembered, by the keys of files (`Held.key`)."""
    try:
        found = json.loads(unsealed(memo.name, memo.read_text(encoding="utf-8")) or "{}")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(memo: Path, known: dict[str, str]) -> None:
    atomic.write_file(memo.parent, memo, sealed(memo.name, json.dumps(known)))
