"""Split work: large tables by host, and metrics side by side.

The engine collects samples in memory, those of all hosts at once, and keeps what it joins there while it can: what is
spilled is joined three times as slowly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from sqlglot import exp

from assay.engine.graph import Node
from assay.lang.model.package import Metric
from assay.lang.normal_form import CheckedPackage
from assay.lang.scopes import HOST
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.distributions import domain_of, of_some
from assay.sql.expressions import literal
from assay.sql.partitioning import is_partitionable

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


MOST = 2_000_000  # rows whose samples are sorted at a time, unless one value has more
JOINED = 3_000_000  # rows that a table is made of at a time, unless one host has more

Ask = Callable[[str], Sequence[Sequence[object]]]
Portion = tuple[object, ...]
Counts = dict[object, int]


class Portions:
    """The values of which distributions of a run are asked at a time, and the hosts of which tables are made."""

    def __init__(self, checked: CheckedPackage) -> None:
        self._domains = {grain.name: domain_of(grain) for grain in checked.package.grains}
        self._known: dict[tuple[str, str], tuple[Portion, ...]] = {}
        self._counts: dict[str, Counts | None] = {}

    def texts(self, metric: Metric, query: exp.Expr, text: str, ask: Ask) -> list[str]:
        """The texts that yield a metric's distributions one after the other: its own, or one for each portion."""
        found = self._of(metric, ask) if metric.per else ()
        return [dialect.text(of_some(query, metric.per, values)) for values in found] or [text]

    def of_table(self, node: Node, ask: Ask) -> tuple[Portion, ...]:
        """The hosts of which a table is made at a time; none where it is made at once: of few rows, or of such as do
        not stand apart."""
        if node.logs or not is_partitionable(node.statement.query, HOST):
            return ()
        rows: Counts = {}
        for name in node.reads:
            if name not in self._counts:
                self._counts[name] = _by_host(name, ask)
            counts = self._counts[name]
            if counts is None or None in counts:
                return ()
            rows |= {host: rows.get(host, 0) + number for host, number in counts.items()}
        found = tuple(portions(sorted(rows.items(), key=lambda item: str(item[0])), JOINED))
        return found if len(found) > 1 else ()

    def _of(self, metric: Metric, ask: Ask) -> tuple[Portion, ...]:
        """The portions of a metric; none where its table is small."""
        key = (metric.grain, metric.per)
        if key not in self._known:
            self._known[key] = tuple(portions(self._rows(metric, ask), MOST)) if _is_large(metric.grain, ask) else ()
        return self._known[key]

    def _rows(self, metric: Metric, ask: Ask) -> list[tuple[object, int]]:
        """The values that a metric has distributions of, in order, and how many rows of its table each has."""
        per = column(metric.per)
        found = _counted(metric.grain, metric.per, ask)
        there = exp.Not(this=exp.Is(this=per.copy(), expression=exp.Null()))
        domain = dialect.select(per.copy()).distinct().from_(dialect.table(self._domains[metric.grain])).where(there)
        values = ask(dialect.text(domain.order_by(per.copy())))
        return [(value, found.get(value, 0)) for (value,) in values]


@contextmanager
def only(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, exp.Select], hosts: Portion) -> Iterator[None]:
    """Let tables, of which these are all rows, have those of some hosts alone, for a connection and while the block
    lasts.  When it fails, so it stays: whoever is told has no more use for the connection."""
    among = exp.In(this=column(HOST), expressions=[literal(host) for host in hosts])
    own = exp.Properties(expressions=[exp.TemporaryProperty()])
    for name, rows in tables.items():
        some = rows.where(among)  # of files, too, where those of other hosts need not be read then
        view = exp.Create(this=dialect.table(name), kind="VIEW", expression=some, replace=True, properties=own)
        connection.execute(dialect.text(view))
    yield
    for name in tables:
        drop = exp.Drop(tables=[exp.table_(name, catalog="temp", db="main")], kind="VIEW")
        connection.execute(dialect.text(drop))


def select_unrestricted(table: str) -> exp.Select:
    """All rows of a table that an engine keeps, whatever is called so for a connection."""
    return dialect.select("*").from_(exp.table_(table, db="main", catalog="memory"))


def portions(rows: Sequence[tuple[object, int]], most: int) -> Iterator[Portion]:
    """Values in their order, cut where their rows would be more than `most`; one value at least."""
    values: list[object] = []
    held = 0
    for value, count in rows:
        if values and held + count > most:
            yield tuple(values)
            values, held = [], 0
        values.append(value)
        held += count
    if values:
        yield tuple(values)


def _counted(table: str, key: str, ask: Ask) -> Counts:
    """How many rows of a table each value of a column has."""
    rows = dialect.select(column(key), exp.Count(this=exp.Star())).from_(dialect.table(table)).group_by(column(key))
    return {value: int(str(number)) for value, number in ask(dialect.text(rows))}


def _by_host(table: str, ask: Ask) -> Counts | None:
    """The same of hosts; None of a table without hosts."""
    described = ask(dialect.text(exp.Describe(this=dialect.table(table))))
    return _counted(table, HOST, ask) if HOST in {row[0] for row in described} else None


def _is_large(table: str, ask: Ask) -> bool:
    ((rows,),) = ask(dialect.text(dialect.select(exp.Count(this=exp.Star())).from_(dialect.table(table))))
    return int(str(rows)) > MOST
