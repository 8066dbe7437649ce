"""Paths with every symbolic link followed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

LOOP = "a loop of symbolic links"


def resolve_path(path: Path) -> Path:
    """Return the absolute path without links; what is not there stays as it is named.

    Raises OSError (ELOOP) that names the path where links lead back to themselves.  `Path.resolve` raises RuntimeError
    there, or nothing, depending on the release of Python.
    """
    if is_loop(path):
        raise OSError(errno.ELOOP, LOOP, str(path))
    return Path(os.path.realpath(path))


def is_loop(path: Path) -> bool:
    """Return whether symbolic links of a path lead back to themselves."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False
