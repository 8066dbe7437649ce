"""Locks on folders, which the system drops when their holder dies, however it dies.

The lock is on the folder itself, so that no file stands for it that somebody would have to remove.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without such locks: whoever writes there is alone, as on one without network shares
    fcntl = None  # type: ignore[assignment]


def ignore_wait() -> None:
    """What is told where nobody listens."""


def acquire(folder: Path, *, shared: bool = False, wait: bool = True) -> int | None:
    """A descriptor that holds the lock on a folder until it is closed; None when another holds it and we do not wait.

    -1 where the file system has no locks.  Raises OSError when the folder cannot be opened.
    """
    while True:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            if not _locked(descriptor, shared, wait):
                os.close(descriptor)
                return None
            if _is(folder, descriptor):
                return descriptor
        except OSError:
            os.close(descriptor)
            return -1
        os.close(descriptor)  # removed, or another one put in its place, while we waited


def _locked(descriptor: int, shared: bool, wait: bool) -> bool:
    if fcntl is None:
        return True
    kind = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    try:
        fcntl.flock(descriptor, kind)
    except BlockingIOError:
        return False
    return True


def _is(folder: Path, descriptor: int) -> bool:
    """Whether the folder of that name is the one that is held."""
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def release(*descriptors: int) -> None:
    """Give locks back."""
    for descriptor in descriptors:
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(descriptor)


@contextmanager
def locked(folder: Path, waiting: Callable[[], None] = ignore_wait) -> Iterator[None]:
    """Alone with a folder, which is made when it is not there; `waiting` is called when another process has it first.

    Raises OSError when the folder cannot be made or opened.
    """
    descriptor = _first(folder)
    if descriptor is None:
        waiting()
        while descriptor is None:
            with contextlib.suppress(FileNotFoundError):  # whoever had it took it away
                folder.mkdir(parents=True, exist_ok=True)
                descriptor = acquire(folder)
    try:
        yield
    finally:
        release(descriptor)


def _first(folder: Path) -> int | None:
    """The lock on a folder without waiting for it."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            return acquire(folder, wait=False)
