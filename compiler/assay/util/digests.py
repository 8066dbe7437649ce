"""Hashes of files that are read again and again, such as fonts: of one that is as it was, the hash that it had."""

from __future__ import annotations

import functools
import hashlib
import time
from pathlib import Path

SETTLED = 2 * 10**9  # ns: a file that changed so shortly before may change again, and its time stay


def sha256(path: Path) -> str:
    """The hash of a file's bytes; it is not read again in this process while size, times of change and inode are the
    same.  Raises OSError."""
    found = path.stat()
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < SETTLED:
        return _read(path)
    return read_known_digest(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


@functools.lru_cache(maxsize=4096)
def read_known_digest(path: Path, *_mark: int) -> str:
    return _read(path)


def _read(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
