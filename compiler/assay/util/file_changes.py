"""Files that change: their marks, and waiting for a change of them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

Mark = tuple[int, int, int, int]
Marks = dict[str, Mark]
TOGETHER = 40  # ms at most within which changes are one
STEP = 5  # ms without a change after which it is over


def marks(places: Sequence[Path], passed: Callable[[str], bool] = lambda _: False) -> Marks:
    """Bytes, times of change (ns) and inode of files that are named, and of those in folders that are, links followed.

    In folders names that are `passed` over are left out.  What is gone meanwhile, or not ours to read, has no mark:
    what it is, a build tells.
    """
    found: Marks = {}
    for place in places:
        if place.is_dir():
            _within(found, str(place), passed, set())
        else:
            _mark(found, str(place), place.stat)
    return found


def _within(found: Marks, folder: str, passed: Callable[[str], bool], above: set[tuple[int, int]]) -> None:
    """`above` are the folders that lead here: a link to one of them leads round and round."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        stat = os.stat(folder)  # noqa: PTH116  a path object for each of hundreds of folders takes longer than to look
        here = (stat.st_dev, stat.st_ino)
        for entry in entries if here not in above else ():
            if passed(entry.name):
                continue
            if entry.is_dir():
                _within(found, entry.path, passed, above | {here})
            elif entry.is_file():
                _mark(found, entry.path, entry.stat)


def _mark(found: Marks, name: str, told: Callable[[], os.stat_result]) -> None:
    with contextlib.suppress(OSError):
        stat = told()
        found[name] = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


class Waiting:
    """Waits for changes, so many seconds at most: always so long where the system tells of none (a network's disks)."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._places: list[str] = []
        self._told: Generator[object, None, None] | None = None

    def wait(self, places: Sequence[Path]) -> None:
        """Return when something in the places has changed, or after a while."""
        there = [str(place) for place in places if place.exists()]
        if there != self._places:
            self.close()
            self._places, self._told = there, wait_for_change(there, self._seconds)
        if self._told is not None:
            with contextlib.suppress(OSError, RuntimeError):
                next(self._told)
                return
            self._told = None  # such as when more is watched than the system allows: then time passes
        time.sleep(self._seconds)

    def close(self) -> None:
        """Wait for nothing."""
        if self._told is not None:
            self._told.close()
        self._places, self._told = [], None


def wait_for_change(places: Sequence[str], seconds: float) -> Generator[Any, None, None]:
    """Something whenever a place has changed, or nothing has for so many seconds."""
    from watchfiles import watch

    return watch(
        *places, watch_filter=None, debounce=TOGETHER, step=STEP, rust_timeout=round(seconds * 1000),
        yield_on_timeout=True, debug=False, force_polling=False, ignore_permission_denied=True,
    )  # fmt: skip
