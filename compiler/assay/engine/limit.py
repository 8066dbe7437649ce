"""A limit of the time that a statement may take: a query that never ends would hold a build for good."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.spec.diagnostics import USAGE, fail

if TYPE_CHECKING:
    import duckdb

VARIABLE = "ASSAY_SQL_SECONDS"
SECONDS = 3600  # of a statement over a run, where the variable says nothing


def seconds() -> float:
    """How long a statement may take.  AssayError (usage) when the variable is no number above 0."""
    text = os.environ.get(VARIABLE, "")
    try:
        found = float(text or SECONDS)
        if not 0 < found <= threading.TIMEOUT_MAX:
            raise ValueError
    except ValueError:
        raise fail(
            "bad-limit", f"{VARIABLE} is no time: {text}", expected="a number of seconds above 0", status=USAGE
        ) from None
    return found


@contextmanager
def limited(connection: duckdb.DuckDBPyConnection, most: float) -> Iterator[None]:
    """End what takes longer than so many seconds: the engine raises InterruptException then."""
    key = _WATCH.begin(connection, most)
    try:
        yield
    finally:
        _WATCH.end(key)


class _Watch:
    """Ends what takes too long: one thread for all statements, as to start one takes longer than most of them do.

    It sleeps until what it last saw as the first end, and not always until that of what was begun since.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ends: dict[object, tuple[float, duckdb.DuckDBPyConnection]] = {}
        self._wakes = math.inf
        self._thread = threading.Thread()  # never begun

    def begin(self, connection: duckdb.DuckDBPyConnection, most: float) -> object:
        """Watch what a connection does from now on; returns what ends that."""
        key = object()
        with self._changed:
            end = time.monotonic() + most
            self._ends[key] = end, connection
            if not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="limit", daemon=True)
                self._thread.start()
            elif end < self._wakes:
                self._changed.notify()
        return key

    def end(self, key: object) -> None:
        """Watch it no more."""
        with self._changed:
            self._ends.pop(key, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for key in [key for key, (end, _) in self._ends.items() if end <= now]:
                    self._ends.pop(key)[1].interrupt()
                self._wakes = min((end for end, _ in self._ends.values()), default=math.inf)
                self._changed.wait(None if self._wakes == math.inf else self._wakes - now)


_WATCH = _Watch()
