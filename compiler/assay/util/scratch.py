"""Temporary folders: one per process, removed by the next process if its owner was killed."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.util.locks import acquire, release

FOLDER = "scratch"  # folder of a cache with those of all processes
BESIDE = ".assay-"  # prefix of temporary folders in an output folder, next to their target
ATTEMPTS = 100  # to create a folder while other processes sweep
SUFFIX = re.compile(r"[a-z0-9_]{8}")  # suffix of `mkdtemp`: a folder with any other name is not ours
_lock = threading.Lock()
_owned: dict[Path, tuple[int, Path, tuple[int, ...]]] = {}
_created: set[Path] = set()  # folders that this process has created; most no longer exist


def process_dir(root: Path) -> Path:
    """Return this process's folder below `root/scratch`; it is removed when the process ends.

    Folders of dead processes are removed first.  From then on this process has a shared lock on `root`: a process that
    needs `root` alone waits.  Raises OSError when it cannot be created.
    """
    key = root.absolute()
    with _lock:
        process, place, descriptors = _owned.get(key, (0, key, ()))
        if process == os.getpid() and place.is_dir():
            return place
        if process == os.getpid():
            release(*descriptors)
        root.mkdir(parents=True, exist_ok=True)
        root_lock = acquire(root, shared=True)
        if os.path.lexists(root / FOLDER) and not (root / FOLDER).is_dir():
            (root / FOLDER).unlink()
        place, descriptor = create_locked_folder(root / FOLDER)
        _owned[key] = (os.getpid(), place, (descriptor, -1 if root_lock is None else root_lock))
        return place


def create_locked_folder(within: Path, prefix: str = "") -> tuple[Path, int]:
    """Create a locked folder in `within`, after removing those of dead processes with the same prefix.

    Return it with the descriptor of its lock.  Raises OSError when it cannot be created.
    """
    refusal: FileNotFoundError | None = None
    for _ in range(ATTEMPTS):
        within.mkdir(parents=True, exist_ok=True)
        sweep(within, prefix)
        try:
            place = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
            descriptor = acquire(place, wait=False)
        except (
            FileNotFoundError
        ) as error:  # removed by another process before we had the lock, or `within` cannot have files
            refusal = error
            continue
        if descriptor is not None:
            _created.add(place)
            return place, descriptor
    raise refusal or FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(within))


def sweep(within: Path, prefix: str = "") -> None:
    """Remove the folders with a prefix that no living process has locked."""
    for place in within.glob(f"{prefix}*"):
        if not SUFFIX.fullmatch(place.name.removeprefix(prefix)) or not place.is_dir() or place.is_symlink():
            continue
        with contextlib.suppress(OSError):
            descriptor = acquire(place, wait=False)
            if descriptor is not None and descriptor >= 0:
                shutil.rmtree(place, ignore_errors=True)
                release(descriptor)


@contextmanager
def temporary_folder(root: Path | None = None) -> Iterator[Path]:
    """Create a temporary folder for a block, in the scratch of a cache or of the user.  May raise OSError."""
    place = Path(tempfile.mkdtemp(dir=process_dir(root or user_folder())))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def user_folder() -> Path:
    """Return the user's own folder in the system's folder for temporary files, used without a cache."""
    name = f"assay-{os.getuid()}" if hasattr(os, "getuid") else "assay"
    place = Path(tempfile.gettempdir()) / name
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid()):
        return place
    raise PermissionError(f"{place} is somebody else's")


def clean_up(root: Path) -> None:
    """Remove this process's folder below `root/scratch`, if it has one."""
    with _lock:
        process, place, descriptors = _owned.pop(root.absolute(), (0, root, ()))
    if process == os.getpid():
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process has one there
            place.parent.rmdir()
        release(*descriptors)


def abandon() -> None:
    """Remove all folders of this process, which ends while its threads use them, and their empty parents."""
    for place in list(_created):
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            place.parent.rmdir()


@atexit.register
def _leave_all() -> None:
    for root in list(_owned):
        clean_up(root)
