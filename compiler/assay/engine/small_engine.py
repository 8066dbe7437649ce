"""An engine for small things."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


@functools.cache
def _shared() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect()


_starting = threading.Lock()  # who asks while it is started waits, and starts no other


def small_engine() -> duckdb.DuckDBPyConnection:
    """An engine for small things, the same for all who ask: to start one takes longer than what is asked of it."""
    with _starting:
        return _shared().cursor()
