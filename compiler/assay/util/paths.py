"""Resolve paths, with every symbolic link followed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

LOOP = "a loop of symbolic links"


def resolve_path(path: Path) -> Path:
    """Return the absolute path without links; a part that does not exist stays as it is.

    Raises OSError (ELOOP) with the path if links form a loop.  `Path.resolve` raises RuntimeError there, or nothing,
    depending on the version of Python.
    """
    if is_loop(path):
        raise OSError(errno.ELOOP, LOOP, str(path))
    return Path(os.path.realpath(path))


def is_loop(path: Path) -> bool:
    """Return whether symbolic links of a path form a loop."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def format_listing(directory: Path) -> str:
    """Return the names in a directory as text, at most eight."""
    names = sorted(map(_format_entry, directory.iterdir()))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _format_entry(path: Path) -> str:
    """Return the name of an entry of a directory, with its type unless it is a regular file."""
    if path.is_dir():
        return f"{path.name}/"
    if path.is_file():
        return path.name
    if is_loop(path):
        return f"{path.name} ({LOOP})"
    return f"{path.name} ({'a broken link' if path.is_symlink() else 'not a regular file'})"
