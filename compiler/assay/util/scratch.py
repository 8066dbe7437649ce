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

FOLDER = "scratch"  # folder of a cache with the temporary folders of all processes
TEMPORARY_PREFIX = ".assay-"  # prefix of temporary folders in an output folder, next to their target
ATTEMPTS = 100  # to create a folder while other processes sweep
SUFFIX = re.compile(r"[a-z0-9_]{8}")  # suffix of `mkdtemp`: a folder with any other name is not ours
_lock = threading.Lock()
_owned: dict[Path, tuple[int, Path, tuple[int, ...]]] = {}
_held: dict[Path, tuple[int, int]] = {}  # roots -> process and descriptor of its shared lock
_created: set[Path] = set()  # folders that this process has created; most no longer exist


def get_process_folder(root: Path) -> Path:
    """Return this process's folder below `root/scratch`; it is removed when the process ends.

    Folders of dead processes are removed first.  From then on this process has a shared lock on `root`: a process that
    needs `root` alone waits.  Raises OSError when it cannot be created.
    """
    key = root.absolute()
    with _lock:
        process, folder, descriptors = _owned.get(key, (0, key, ()))
        if process == os.getpid() and folder.is_dir():
            return folder
        if process == os.getpid():
            release(*descriptors)
        root.mkdir(parents=True, exist_ok=True)
        root_lock = acquire(root, is_shared=True)
        if os.path.lexists(root / FOLDER) and not (root / FOLDER).is_dir():
            (root / FOLDER).unlink()
        folder, descriptor = create_locked_folder(root / FOLDER)
        _owned[key] = (os.getpid(), folder, (descriptor, -1 if root_lock is None else root_lock))
        return folder


def hold_root(root: Path) -> None:
    """Hold a shared lock on a cache while this process reads its entries: a process that prunes them waits.

    A cache that does not exist yet has no entries; it is locked when this process first writes into it.
    """
    key = root.absolute()
    with _lock, contextlib.suppress(OSError):
        if _held.get(key, (0, -1))[0] != os.getpid():
            descriptor = acquire(root, is_shared=True)
            _held[key] = (os.getpid(), -1 if descriptor is None else descriptor)


def create_locked_folder(parent: Path, prefix: str = "") -> tuple[Path, int]:
    """Create a locked folder in `parent`, after removing those of dead processes with the same prefix.

    Return it with the descriptor of its lock.  Raises OSError when it cannot be created.
    """
    last_error: FileNotFoundError | None = None
    for _ in range(ATTEMPTS):
        parent.mkdir(parents=True, exist_ok=True)
        sweep(parent, prefix)
        try:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            descriptor = acquire(folder, can_wait=False)
        except FileNotFoundError as error:
            # Another process removed the folder before we had the lock, or `parent` cannot have files.
            last_error = error
            continue
        if descriptor is not None:
            _created.add(folder)
            return folder, descriptor
    raise last_error or FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(parent))


def sweep(parent: Path, prefix: str = "") -> None:
    """Remove the folders with a prefix that no living process has locked."""
    for entry in parent.glob(f"{prefix}*"):
        if not SUFFIX.fullmatch(entry.name.removeprefix(prefix)) or not entry.is_dir() or entry.is_symlink():
            continue
        with contextlib.suppress(OSError):
            descriptor = acquire(entry, can_wait=False)
            if descriptor is not None and descriptor >= 0:
                shutil.rmtree(entry, ignore_errors=True)
                release(descriptor)


@contextmanager
def create_temporary_folder(root: Path | None = None) -> Iterator[Path]:
    """Create a temporary folder for a block, in the scratch folder of a cache or of the user.  Raises OSError."""
    folder = Path(tempfile.mkdtemp(dir=get_process_folder(root or get_user_folder())))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def get_user_folder() -> Path:
    """Return the user's own folder in the system's folder for temporary files, used without a cache."""
    name = f"assay-{os.getuid()}" if hasattr(os, "getuid") else "assay"
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid()):
        return folder
    raise PermissionError(f"{folder} belongs to another user")


def clean_up(root: Path) -> None:
    """Remove this process's folder below `root/scratch`, if it has one, and release its locks on `root`."""
    with _lock:
        process, folder, descriptors = _owned.pop(root.absolute(), (0, root, ()))
        holder, descriptor = _held.pop(root.absolute(), (0, -1))
    if holder == os.getpid():
        release(descriptor)
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process has a folder there
            folder.parent.rmdir()
        release(*descriptors)


def abandon_folders() -> None:
    """Remove all folders of this process, which ends while its threads use them, and their empty parents."""
    for folder in list(_created):
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()


@atexit.register
def _clean_up_all() -> None:
    for root in {*_owned, *_held}:
        clean_up(root)
