"""Limits of the time and memory of a statement: a query that never ends would hold a build for good, and one that makes
a text of some GB would take the memory of everything else.

At the end of its time the engine is interrupted.  It notices between pieces of its work, not inside of a function, and
it does not count the memory of a text that a function makes.  So a statement that goes on, or that takes far more
memory than the engine may, ends the command.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.spec.diagnostics import USAGE, AssayError, fail
from assay.storage import ending

if TYPE_CHECKING:
    import duckdb

VARIABLE = "ASSAY_SQL_SECONDS"
SECONDS = 3600  # of a statement over a run, where the variable says nothing
ROOM_VARIABLE = "ASSAY_SQL_MIB"
ROOM = 2500  # MiB by which the process may grow during a statement: what engines may hold together, and 1000 MiB
GRACE = 3  # seconds that an interrupted statement has to end
PERIOD = 0.05  # seconds from one look at the memory to the next
LINGER = 1  # seconds without a statement after which nobody looks
_STATM = Path("/proc/self/statm")


def seconds() -> float:
    """How long a statement may take.  AssayError (usage) when the variable is no number above 0."""
    return _number(VARIABLE, SECONDS, "time", "a number of seconds above 0")


def room() -> float:
    """By how many MiB the process may grow during a statement.  AssayError (usage) as of `seconds`."""
    return _number(ROOM_VARIABLE, ROOM, "size", "a number of MiB above 0")


def _number(variable: str, default: float, kind: str, expected: str) -> float:
    text = os.environ.get(variable, "")
    try:
        found = float(text or default)
        if not 0 < found <= threading.TIMEOUT_MAX:
            raise ValueError
    except ValueError:
        raise fail("bad-limit", f"{variable} is no {kind}: {text}", expected=expected, status=USAGE) from None
    return found


@dataclass(frozen=True, slots=True)
class Limits:
    """What a statement, which messages call `what`, may take: seconds, and MiB by which the process grows meanwhile.

    `is_fixed`: no user can set them.
    """

    what: str = "a statement"
    seconds: float = SECONDS
    growth: float = ROOM
    is_fixed: bool = False

    def too_long(self) -> AssayError:
        """The error of a statement that takes too long."""
        more = "" if self.is_fixed else f" with {VARIABLE}=N in the environment it has N seconds"
        return fail("sql-time", f"{self.what} takes more than {self.seconds:g} seconds", hint=f"does it end?{more}")

    def too_large(self) -> AssayError:
        """The error of a statement that takes too much memory."""
        more = "" if self.is_fixed else f" with {ROOM_VARIABLE}=N in the environment it has N MiB"
        hint = f"does a function in it make a long text or list?{more}"
        return fail("sql-memory", f"{self.what} takes more than {self.growth:g} MiB of memory", hint=hint)


def of_user(what: str) -> Limits:
    """The limits that the environment sets.  AssayError (usage) where it sets none that can be."""
    return Limits(what, seconds(), room())


@contextmanager
def limited(connection: duckdb.DuckDBPyConnection, limits: Limits) -> Iterator[None]:
    """Bound what a connection does: raises duckdb.InterruptException when it takes too long, and ends the process with
    an error when it goes on for all that, or takes too much memory."""
    now, held = time.monotonic(), memory()
    watched = _Statement(connection, limits, now + limits.seconds, held + limits.growth * 2**20)
    _WATCH.begin(watched)
    try:
        yield
    finally:
        _WATCH.end(watched)


def execute(
    connection: duckdb.DuckDBPyConnection, text: str, values: Mapping[str, object] | None, limits: Limits
) -> duckdb.DuckDBPyConnection:
    """Run a statement within limits.  Raises duckdb.Error, and AssayError `sql-time` when it takes too long."""
    import duckdb

    try:
        with limited(connection, limits):
            return connection.execute(text, values)
    except duckdb.InterruptException:
        raise limits.too_long() from None


def memory() -> int:
    """Bytes of memory that the process holds; where the system does not tell, the most that it held."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource
        import sys

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


@dataclass(slots=True, eq=False)
class _Statement:
    """A statement at work: its limits, when its time is over (`end`), the bytes that the process may hold."""

    connection: duckdb.DuckDBPyConnection
    limits: Limits
    end: float
    ceiling: float
    is_interrupted: bool = False

    def check(self, now: float, held: int) -> None:
        """Interrupt it when its time is over; end the process when that does not help, or it holds too much."""
        if held > self.ceiling:
            ending.end(self.limits.too_large())
        elif self.is_interrupted and now >= self.end:
            ending.end(self.limits.too_long())
        elif now >= self.end:
            self.connection.interrupt()
            self.is_interrupted = True
            self.end = now + GRACE


class _Watch:
    """Looks at statements at work: one thread for all of them, as to start one takes longer than most of them do."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._statements: set[_Statement] = set()
        self._sleeps = False
        self._thread = threading.Thread()  # never begun

    def begin(self, statement: _Statement) -> None:
        """Watch a statement from now on."""
        with self._changed:
            self._statements.add(statement)
            if not self._thread.is_alive():
                self._sleeps = False
                self._thread = threading.Thread(target=self._run, name="limit", daemon=True)
                self._thread.start()
            elif self._sleeps:
                self._sleeps = False
                self._changed.notify()

    def end(self, statement: _Statement) -> None:
        """Watch it no more."""
        with self._changed:
            self._statements.discard(statement)

    def _look(self) -> None:
        """Look at each statement; what is over is not referred to afterwards, for that would keep its engine."""
        now, held = time.monotonic(), memory() if self._statements else 0
        for statement in list(self._statements):
            statement.check(now, held)

    def _run(self) -> None:
        idle = 0.0
        with self._changed:
            while True:
                self._look()
                idle = 0.0 if self._statements else idle + PERIOD
                self._sleeps = idle > LINGER
                self._changed.wait(None if self._sleeps else PERIOD)


_WATCH = _Watch()
