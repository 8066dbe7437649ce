"""Room for what is there for a while: a folder of every process, swept by the next one when its owner was killed."""

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

FOLDER = "scratch"  # where a cache has those of all processes
BESIDE = ".assay-"  # how those begin that stand in an output folder, beside what they are to become
ATTEMPTS = 100  # to make a folder that others sweep: each needs a process that sweeps at that very moment
MADE = re.compile(r"[a-z0-9_]{8}")  # what `mkdtemp` adds to a prefix: what is called otherwise is not ours
_lock = threading.Lock()
_owned: dict[Path, tuple[int, Path, tuple[int, ...]]] = {}
_claimed: set[Path] = set()  # what this process has made; most are gone


def process_dir(root: Path) -> Path:
    """This process's folder below `root/scratch`; it is gone when the process ends.

    What dead processes left there is removed first.  From then on `root` is locked, in common with others who have a
    folder there: who wants it alone waits.  Raises OSError when it cannot be made.
    """
    key = root.absolute()
    with _lock:
        process, place, descriptors = _owned.get(key, (0, key, ()))
        if process == os.getpid() and place.is_dir():
            return place
        if process == os.getpid():
            release(*descriptors)
        root.mkdir(parents=True, exist_ok=True)
        common = acquire(root, shared=True)
        if os.path.lexists(root / FOLDER) and not (root / FOLDER).is_dir():
            (root / FOLDER).unlink()
        place, descriptor = claimed(root / FOLDER)
        _owned[key] = (os.getpid(), place, (descriptor, -1 if common is None else common))
        return place


def claimed(within: Path, prefix: str = "") -> tuple[Path, int]:
    """A fresh folder in `within` with its lock, after those of dead processes, of the same prefix, are swept.

    Raises OSError when `within` takes no folder.
    """
    refusal: FileNotFoundError | None = None
    for _ in range(ATTEMPTS):
        within.mkdir(parents=True, exist_ok=True)
        sweep(within, prefix)
        try:
            place = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
            descriptor = acquire(place, wait=False)
        except FileNotFoundError as error:  # swept by another before we had its lock, or `within` is no place for files
            refusal = error
            continue
        if descriptor is not None:
            _claimed.add(place)
            return place, descriptor
    raise refusal or FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(within))


def sweep(within: Path, prefix: str = "") -> None:
    """Remove the folders of a prefix that no living process has."""
    for place in within.glob(f"{prefix}*"):
        if not MADE.fullmatch(place.name.removeprefix(prefix)) or not place.is_dir() or place.is_symlink():
            continue
        with contextlib.suppress(OSError):
            descriptor = acquire(place, wait=False)
            if descriptor is not None and descriptor >= 0:
                shutil.rmtree(place, ignore_errors=True)
                release(descriptor)


@contextmanager
def folder(root: Path | None = None) -> Iterator[Path]:
    """A fresh folder, gone when the block ends, in the scratch of a cache or of the user.  May raise OSError."""
    place = Path(tempfile.mkdtemp(dir=process_dir(root or users())))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def users() -> Path:
    """The folder for what no cache is at hand for, in the system's folder for temporary files; nobody else's."""
    name = f"assay-{os.getuid()}" if hasattr(os, "getuid") else "assay"
    place = Path(tempfile.gettempdir()) / name
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    if stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid()):
        return place
    raise PermissionError(f"{place} is somebody else's")


def clean_up(root: Path) -> None:
    """Remove this process's folder below `root/scratch`, when it has one: there is nothing more to do."""
    with _lock:
        process, place, descriptors = _owned.pop(root.absolute(), (0, root, ()))
    if process == os.getpid():
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process has one there
            place.parent.rmdir()
        release(*descriptors)


def abandon() -> None:
    """Remove all folders of this process, which ends while its threads use them, and folders that are empty then."""
    for place in list(_claimed):
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            place.parent.rmdir()


@atexit.register
def _leave_all() -> None:
    for root in list(_owned):
        clean_up(root)
