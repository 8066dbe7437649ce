"""Lock folders; the operating system releases a lock when its process dies.

The lock is on the folder itself, so that no lock file has to be removed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.util.progress import ignore

try:
    import fcntl
except ImportError:  # a system without flock: assume that no other process writes
    fcntl = None  # type: ignore[assignment]


def acquire(folder: Path, *, is_shared: bool = False, can_wait: bool = True) -> int | None:
    """Return a descriptor that holds the lock on a folder until it is closed.

    None when another process holds it and `can_wait` is false; -1 where the file system has no locks.  Raises OSError
    when the folder cannot be opened.
    """
    while True:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            if not _lock_descriptor(descriptor, is_shared, can_wait):
                os.close(descriptor)
                return None
            if _is_same_folder(folder, descriptor):
                return descriptor
        except OSError:
            os.close(descriptor)
            return -1
        os.close(descriptor)  # removed or replaced while we waited


def _lock_descriptor(descriptor: int, is_shared: bool, can_wait: bool) -> bool:
    if fcntl is None:
        return True
    kind = (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | (0 if can_wait else fcntl.LOCK_NB)
    try:
        fcntl.flock(descriptor, kind)
    except BlockingIOError:
        return False
    return True


def _is_same_folder(folder: Path, descriptor: int) -> bool:
    """Return whether the path is still the folder of the descriptor."""
    try:
        return os.path.samestat(folder.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def release(*descriptors: int) -> None:
    """Release locks."""
    for descriptor in descriptors:
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(descriptor)


@contextmanager
def acquire_lock(folder: Path, report_wait: Callable[[], None] = ignore) -> Iterator[None]:
    """Lock a folder, creating it if needed.  `report_wait` is called when another process has the lock.

    Raises OSError when the folder cannot be created or opened.
    """
    descriptor = _acquire_now(folder)
    if descriptor is None:
        report_wait()
        while descriptor is None:
            with contextlib.suppress(FileNotFoundError):  # the process that had the lock removed the folder
                folder.mkdir(parents=True, exist_ok=True)
                descriptor = acquire(folder)
    try:
        yield
    finally:
        release(descriptor)


def _acquire_now(folder: Path) -> int | None:
    """Acquire the lock on a folder without waiting; None when another process has it."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            return acquire(folder, can_wait=False)
