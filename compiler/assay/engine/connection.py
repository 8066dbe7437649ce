"""Connections to the engine, and limits of time and memory for a statement.

The engine is interrupted when the time is over.  It notices an interruption only between pieces of its work, not inside
a function, and does not count the memory of a text that a function builds.  So a statement ends the process if the
interruption does not stop it, or if it takes far more memory than the engine may use.
"""

from __future__ import annotations

import atexit
import functools
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.util import watchdog
from assay.util.diagnostics import USAGE, AssayError, fail

if TYPE_CHECKING:
    import duckdb


VARIABLE = "ASSAY_SQL_SECONDS"
SECONDS = 3600  # time limit of a statement over a run, if the variable is not set
ROOM_VARIABLE = "ASSAY_SQL_MIB"
ROOM = 2500  # MiB by which the process may grow during a statement: the limit of all engines and 1000 MiB more
GRACE = 3  # seconds in which an interrupted statement must end
PERIOD = 0.05  # seconds between two checks of the memory
LINGER = 1  # seconds without a statement after which the watch sleeps
_STATM = Path("/proc/self/statm")


def read_seconds() -> float:
    """Return the seconds that a statement may take.  Raises AssayError (usage) if the variable is not above 0."""
    return _read_number(VARIABLE, SECONDS, "a number of seconds above 0")


def read_room() -> float:
    """Return the MiB by which the process may grow during a statement.

    Raises AssayError (usage) if the variable is not a number above 0.
    """
    return _read_number(ROOM_VARIABLE, ROOM, "a number of MiB above 0")


def _read_number(variable: str, default: float, expected: str) -> float:
    text = os.environ.get(variable, "")
    try:
        number = float(text or default)
        if not 0 < number <= threading.TIMEOUT_MAX:
            raise ValueError
    except ValueError:
        raise fail("bad-limit", f"invalid value of {variable}", expected=expected, found=text, status=USAGE) from None
    return number


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that a statement may take, and MiB by which the process may grow meanwhile.

    `subject` names the statement in messages; `is_fixed`: users cannot change the limits.
    """

    subject: str = "a statement"
    seconds: float = SECONDS
    growth: float = ROOM
    is_fixed: bool = False

    def build_time_error(self) -> AssayError:
        """Return the error of a statement that takes too long."""
        advice = "" if self.is_fixed else f", or set {VARIABLE} to more seconds"
        hint = f"check that it ends{advice}"
        return fail("sql-time", f"{self.subject} takes more than {self.seconds:g} seconds", hint=hint)

    def build_memory_error(self) -> AssayError:
        """Return the error of a statement that takes too much memory."""
        advice = "" if self.is_fixed else f", or set {ROOM_VARIABLE} to more MiB"
        hint = f"check for functions that build a long text or list{advice}"
        return fail("sql-memory", f"{self.subject} takes more than {self.growth:g} MiB of memory", hint=hint)


def read_limits(subject: str) -> Limits:
    """Return the limits that the environment sets.  Raises AssayError (usage) if one is not a number above 0."""
    return Limits(subject, read_seconds(), read_room())


@contextmanager
def apply_limits(connection: duckdb.DuckDBPyConnection, limits: Limits) -> Iterator[None]:
    """Limit the time and memory of the block, in which the connection runs a statement.

    Raises duckdb.InterruptException when it takes too long.  Ends the process with an error when the interruption does
    not stop it, or when it takes too much memory.
    """
    now, bytes_now = time.monotonic(), read_memory()
    statement = _Statement(connection, limits, now + limits.seconds, bytes_now + limits.growth * 2**20)
    _WATCH.add_statement(statement)
    try:
        yield
    finally:
        _WATCH.remove_statement(statement)


def execute(
    connection: duckdb.DuckDBPyConnection, text: str, values: Mapping[str, object] | None, limits: Limits
) -> duckdb.DuckDBPyConnection:
    """Run a statement within limits.  Raises duckdb.Error, and AssayError `sql-time` when it takes too long."""
    import duckdb

    try:
        with apply_limits(connection, limits):
            return connection.execute(text, values)
    except duckdb.InterruptException:
        raise limits.build_time_error() from None


def read_memory() -> int:
    """Return the bytes of memory that the process uses; without /proc, the peak."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource
        import sys

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


@dataclass(slots=True, eq=False)
class _Statement:
    """A running statement: its limits, the time at which it must end, the bytes that the process may reach."""

    connection: duckdb.DuckDBPyConnection
    limits: Limits
    deadline: float
    ceiling: float
    is_interrupted: bool = False

    def check(self, now: float, bytes_now: int) -> None:
        """Interrupt the statement when its time is over; end the process if that fails, or memory is exceeded."""
        if bytes_now > self.ceiling:
            watchdog.exit_process(self.limits.build_memory_error())
        elif self.is_interrupted and now >= self.deadline:
            watchdog.exit_process(self.limits.build_time_error())
        elif now >= self.deadline:
            self.connection.interrupt()
            self.is_interrupted = True
            self.deadline = now + GRACE


class _Watch:
    """Watch all running statements in one thread: to start a thread takes longer than most statements."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._statements: set[_Statement] = set()
        self._is_asleep = False
        self._thread = threading.Thread()  # placeholder that never starts

    def add_statement(self, statement: _Statement) -> None:
        """Start to watch a statement."""
        with self._changed:
            self._statements.add(statement)
            if not self._thread.is_alive():
                self._is_asleep = False
                self._thread = threading.Thread(target=self._run, name="limit", daemon=True)
                self._thread.start()
            elif self._is_asleep:
                self._is_asleep = False
                self._changed.notify()

    def remove_statement(self, statement: _Statement) -> None:
        """Stop watching a statement."""
        with self._changed:
            self._statements.discard(statement)

    def _check_statements(self) -> None:
        """Check each statement, and keep no reference to it afterwards: that would keep its engine alive."""
        now, bytes_now = time.monotonic(), read_memory() if self._statements else 0
        for statement in list(self._statements):
            statement.check(now, bytes_now)

    def _run(self) -> None:
        idle = 0.0
        with self._changed:
            while True:
                self._check_statements()
                idle = 0.0 if self._statements else idle + PERIOD
                self._is_asleep = idle > LINGER
                self._changed.wait(None if self._is_asleep else PERIOD)


_WATCH = _Watch()


@functools.cache
def _open_shared() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect()


_start_lock = threading.Lock()  # so that two threads do not start two engines


def open_shared_cursor() -> duckdb.DuckDBPyConnection:
    """Return a cursor of the shared engine for small queries: to start an engine takes longer than a query."""
    with _start_lock:
        return _open_shared().cursor()


@atexit.register
def _close_shared() -> None:
    """Close the shared engine: the watching thread would keep it alive, and the library would report a leak."""
    _open_shared.cache_clear()
