"""Stamp files, and wait for changes of them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

Stamp = tuple[int, int, int, int]
Stamps = dict[str, Stamp]
DEBOUNCE = 40  # ms: changes within this time are one change
STEP = 5  # ms without a change that end it


def stamp_files(paths: Sequence[Path], is_skipped: Callable[[str], bool] = lambda _: False) -> Stamps:
    """Return size, times of change (ns) and inode of files, and of all files in folders, links followed.

    In folders, names for which `is_skipped` is true are left out.  Files that are missing or not readable are left out,
    too: the build reports them.
    """
    stamps: Stamps = {}
    for path in paths:
        if path.is_dir():
            _stamp_folder(stamps, str(path), is_skipped, set())
        else:
            _stamp_file(stamps, str(path), path.stat)
    return stamps


def _stamp_folder(
    stamps: Stamps, folder: str, is_skipped: Callable[[str], bool], ancestors: set[tuple[int, int]]
) -> None:
    """Add the stamps of a folder.  `ancestors` are the folders above, to stop at links that form a loop."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        stat = os.stat(folder)  # noqa: PTH116  creating a path object takes longer than the call
        identity = (stat.st_dev, stat.st_ino)
        for entry in entries if identity not in ancestors else ():
            if is_skipped(entry.name):
                continue
            if entry.is_dir():
                _stamp_folder(stamps, entry.path, is_skipped, ancestors | {identity})
            elif entry.is_file():
                _stamp_file(stamps, entry.path, entry.stat)


def _stamp_file(stamps: Stamps, name: str, get_status: Callable[[], os.stat_result]) -> None:
    with contextlib.suppress(OSError):
        status = get_status()
        stamps[name] = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class ChangeWaiter:
    """Waits for changes, at most `seconds`; always that long where the system reports no changes (network disks)."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._paths: list[str] = []
        self._changes: Generator[object, None, None] | None = None

    def wait(self, paths: Sequence[Path]) -> None:
        """Return when something in the places has changed, or after the time."""
        existing = [str(path) for path in paths if path.exists()]
        if existing != self._paths:
            self.close()
            self._paths, self._changes = existing, wait_for_change(existing, self._seconds)
        if self._changes is not None:
            with contextlib.suppress(OSError, RuntimeError):
                next(self._changes)
                return
            self._changes = None  # for example too many watched files: then only wait
        time.sleep(self._seconds)

    def close(self) -> None:
        """Stop watching."""
        if self._changes is not None:
            self._changes.close()
        self._paths, self._changes = [], None


def wait_for_change(paths: Sequence[str], seconds: float) -> Generator[Any, None, None]:
    """Return a generator that yields when a place has changed, or after `seconds` without a change."""
    from watchfiles import watch

    return watch(
        *paths, watch_filter=None, debounce=DEBOUNCE, step=STEP, rust_timeout=round(seconds * 1000),
        yield_on_timeout=True, debug=False, force_polling=False, ignore_permission_denied=True,
    )  # fmt: skip
