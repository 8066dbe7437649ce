"""Split work: large tables into partitions of hosts, and metrics over several connections.

The engine collects the samples of all hosts in memory at once, and joins in memory while it can: a join that spills to
disk takes three times as long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from sqlglot import exp

from assay.engine.graph import Node
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
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
    """Runs statements over several connections, and finishes them in the order in which they were put.

    Without connections it takes no statements.
    """

    def __init__(self, connections: Sequence[duckdb.DuckDBPyConnection]) -> None:
        self._free = deque(connections)
        self._pool = ThreadPoolExecutor(max_workers=max(1, len(connections)))
        self._pending: deque[tuple[Future[Rows], duckdb.DuckDBPyConnection, Callable[[Rows], None]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        """Wait for all statements; after an error, interrupt those that run."""
        try:
            if kind is None:
                self.wait()
        finally:
            for _, connection, _ in self._pending:
                connection.interrupt()
            self._pool.shutdown()

    def takes(self, node: Node) -> bool:
        """Return whether a statement may run here: it must be of a metric, because nothing reads that."""
        return node.statement.kind == "metric" and bool(self._free or self._pending)

    def put(self, ask: Callable[[duckdb.DuckDBPyConnection], Rows], end: Callable[[Rows], None]) -> None:
        """Run `ask` as soon as a connection is free.

        `end` is called with its rows after all earlier statements have ended.
        """
        while not self._free:
            self._finish_first()
        connection = self._free.popleft()
        self._pending.append((self._pool.submit(ask, connection), connection, end))

    def wait(self) -> None:
        """Wait for all statements, and finish them."""
        while self._pending:
            self._finish_first()

    def _finish_first(self) -> None:
        future, connection, end = self._pending.popleft()
        rows = future.result()
        self._free.append(connection)
        end(rows)


MOST = 2_000_000  # rows whose samples are sorted at once, unless a single value has more
JOINED = 3_000_000  # rows from which a table is created at once, unless a single host has more

Ask = Callable[[str], Sequence[Sequence[object]]]
Portion = tuple[object, ...]
Counts = dict[object, int]


class Portions:
    """Partitions of a run: values for which distributions are computed at once, and hosts for which tables are."""

    def __init__(self, checked: CheckedPackage) -> None:
        self._domains = {grain.name: domain_of(grain) for grain in checked.package.grains}
        self._by_metric: dict[tuple[str, str], tuple[Portion, ...]] = {}
        self._counts: dict[str, Counts | None] = {}

    def texts(self, metric: Metric, query: exp.Expr, text: str, ask: Ask) -> list[str]:
        """Return the SQL texts that together yield a metric's distributions: one, or one for each partition."""
        partitions = self._partition_metric(metric, ask) if metric.per else ()
        return [dialect.text(of_some(query, metric.per, values)) for values in partitions] or [text]

    def of_table(self, node: Node, ask: Ask) -> tuple[Portion, ...]:
        """Return the partitions (hosts) for creating a table.

        Empty if the table is created at once: when it has few rows, or its query is not partitionable.
        """
        if node.logs or not is_partitionable(node.statement.query, HOST):
            return ()
        rows: Counts = {}
        for name in node.reads:
            if name not in self._counts:
                self._counts[name] = _count_by_host(name, ask)
            counts = self._counts[name]
            if counts is None or None in counts:
                return ()
            rows |= {host: rows.get(host, 0) + number for host, number in counts.items()}
        partitions = tuple(portions(sorted(rows.items(), key=lambda item: str(item[0])), JOINED))
        return partitions if len(partitions) > 1 else ()

    def _partition_metric(self, metric: Metric, ask: Ask) -> tuple[Portion, ...]:
        """Return the partitions of a metric; none if its table is small."""
        key = (metric.grain, metric.per)
        if key not in self._by_metric:
            self._by_metric[key] = (
                tuple(portions(self._count_rows(metric, ask), MOST)) if _is_large(metric.grain, ask) else ()
            )
        return self._by_metric[key]

    def _count_rows(self, metric: Metric, ask: Ask) -> list[tuple[object, int]]:
        """Return the values for which a metric has distributions, in order, with their numbers of rows."""
        per = column(metric.per)
        counts = _count_by_key(metric.grain, metric.per, ask)
        is_not_null = exp.Not(this=exp.Is(this=per.copy(), expression=exp.Null()))
        domain = (
            dialect.select(per.copy()).distinct().from_(dialect.table(self._domains[metric.grain])).where(is_not_null)
        )
        values = ask(dialect.text(domain.order_by(per.copy())))
        return [(value, counts.get(value, 0)) for (value,) in values]


@contextmanager
def only(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, exp.Select], hosts: Portion) -> Iterator[None]:
    """Restrict tables to the rows of some hosts, for one connection and while the block lasts.

    `tables` maps each name to the query of all its rows.  After a failure the restriction stays, because the caller
    then discards the connection.
    """
    among = exp.In(this=column(HOST), expressions=[literal(host) for host in hosts])
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    for name, rows in tables.items():
        rows_of_hosts = rows.where(among)  # a view over files then skips the files of other hosts
        view = exp.Create(
            this=dialect.table(name), kind="VIEW", expression=rows_of_hosts, replace=True, properties=temporary
        )
        connection.execute(dialect.text(view))
    yield
    for name in tables:
        drop = exp.Drop(tables=[exp.table_(name, catalog="temp", db="main")], kind="VIEW")
        connection.execute(dialect.text(drop))


def select_unrestricted(table: str) -> exp.Select:
    """Return all rows of a table of the engine, even if a connection restricts the name."""
    return dialect.select("*").from_(exp.table_(table, db="main", catalog="memory"))


def portions(rows: Sequence[tuple[object, int]], most: int) -> Iterator[Portion]:
    """Yield values in order, in groups of at most `most` rows, but of one value at least."""
    values: list[object] = []
    total = 0
    for value, count in rows:
        if values and total + count > most:
            yield tuple(values)
            values, total = [], 0
        values.append(value)
        total += count
    if values:
        yield tuple(values)


def _count_by_key(table: str, key: str, ask: Ask) -> Counts:
    """Return the number of rows of a table for each value of a column."""
    rows = dialect.select(column(key), exp.Count(this=exp.Star())).from_(dialect.table(table)).group_by(column(key))
    return {value: int(str(number)) for value, number in ask(dialect.text(rows))}


def _count_by_host(table: str, ask: Ask) -> Counts | None:
    """Return the number of rows of a table for each host; None for a table without hosts."""
    described = ask(dialect.text(exp.Describe(this=dialect.table(table))))
    return _count_by_key(table, HOST, ask) if HOST in {row[0] for row in described} else None


def _is_large(table: str, ask: Ask) -> bool:
    ((rows,),) = ask(dialect.text(dialect.select(exp.Count(this=exp.Star())).from_(dialect.table(table))))
    return int(str(rows)) > MOST
