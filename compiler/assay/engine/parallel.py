"""Metrics worked out side by side: most of one is a sort, which keeps one core busy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Self

from assay.engine.graph import Node

if TYPE_CHECKING:
    import duckdb

Rows = list[list[Any]]


class SideBySide:
    """Statements that are asked over some connections, and ended in the order in which they were put; none are where
    there are no connections."""

    def __init__(self, connections: Sequence[duckdb.DuckDBPyConnection]) -> None:
        self._free = deque(connections)
        self._pool = ThreadPoolExecutor(max_workers=max(1, len(connections)))
        self._pending: deque[tuple[Future[Rows], duckdb.DuckDBPyConnection, Callable[[Rows], None]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, place: object) -> None:
        """Wait for what is asked; when something failed, have it stopped first."""
        try:
            if kind is None:
                self.wait()
        finally:
            for _, connection, _ in self._pending:
                connection.interrupt()
            self._pool.shutdown()

    def takes(self, node: Node) -> bool:
        """Whether a statement may be asked here: that of a metric, on which no other one waits."""
        return node.statement.kind == "metric" and bool(self._free or self._pending)

    def put(self, ask: Callable[[duckdb.DuckDBPyConnection], Rows], end: Callable[[Rows], None]) -> None:
        """Ask a statement as soon as a connection is free, and end it with its rows when those before it are."""
        while not self._free:
            self._first()
        connection = self._free.popleft()
        self._pending.append((self._pool.submit(ask, connection), connection, end))

    def wait(self) -> None:
        """End all that is asked."""
        while self._pending:
            self._first()

    def _first(self) -> None:
        asked, connection, end = self._pending.popleft()
        rows = asked.result()
        self._free.append(connection)
        end(rows)
