"""A limit of the time that a statement may take: a query that never ends would hold a build for good."""

from __future__ import annotations

import os
import threading
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
    timer = threading.Timer(most, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
