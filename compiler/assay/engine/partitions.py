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
from assay.sql.dialect import build_column
from assay.sql.distributions import get_domain, restrict_distribution
from assay.sql.expressions import build_literal
from assay.sql.partitioning import is_partitionable

if TYPE_CHECKING:
    import duckdb


Rows = list[list[Any]]


class StatementPool:
    """Run statements over several connections, and finish them in the order in which they were added.

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

    def can_take(self, node: Node) -> bool:
        """Return whether the pool takes a statement: only those of metrics, which no other statement reads."""
        return node.statement.kind == "metric" and bool(self._free or self._pending)

    def put(self, fetch: Callable[[duckdb.DuckDBPyConnection], Rows], finish: Callable[[Rows], None]) -> None:
        """Run `fetch` as soon as a connection is free.

        `finish` is called with its rows after all earlier statements have ended.
        """
        while not self._free:
            self._finish_first()
        connection = self._free.popleft()
        self._pending.append((self._pool.submit(fetch, connection), connection, finish))

    def wait(self) -> None:
        """Wait for all statements, and finish them."""
        while self._pending:
            self._finish_first()

    def _finish_first(self) -> None:
        future, connection, finish = self._pending.popleft()
        rows = future.result()
        self._free.append(connection)
        finish(rows)


MOST = 2_000_000  # maximum of rows whose samples are sorted at once, unless a single value has more
TOGETHER = 250_000  # maximum of samples of several metrics in one statement: of more, it takes longer than its plan
JOINED = 3_000_000  # maximum of rows that are joined at once into a table, unless a single host has more

Fetch = Callable[[str], Sequence[Sequence[object]]]
Partition = tuple[object, ...]
Counts = dict[object, int]


class Partitioner:
    """Partitions of a run: of the values for which distributions are computed, and of the hosts of tables."""

    def __init__(self, checked: CheckedPackage) -> None:
        self._domains = {grain.name: get_domain(grain) for grain in checked.package.grains}
        self._by_metric: dict[tuple[str, str], tuple[Partition, ...]] = {}
        self._counts: dict[str, Counts | None] = {}

    def list_texts(self, metric: Metric, query: exp.Expr, text: str, fetch: Fetch) -> list[str]:
        """Return the SQL texts that together yield a metric's distributions: one, or one for each partition."""
        partitions = self._partition_metric(metric, fetch) if metric.per else ()
        return [dialect.to_sql(restrict_distribution(query, metric.per, values)) for values in partitions] or [text]

    def partition_table(self, node: Node, fetch: Fetch) -> tuple[Partition, ...]:
        """Return the partitions (hosts) for creating a table.

        Empty if the table is created at once: when it has few rows, or its query is not partitionable.
        """
        if node.reads_logs or not is_partitionable(node.statement.query, HOST):
            return ()
        rows: Counts = {}
        for name in node.reads:
            if name not in self._counts:
                self._counts[name] = _count_by_host(name, fetch)
            counts = self._counts[name]
            if counts is None or None in counts:
                return ()
            rows |= {host: rows.get(host, 0) + number for host, number in counts.items()}
        partitions = tuple(iter_partitions(sorted(rows.items(), key=lambda item: str(item[0])), JOINED))
        return partitions if len(partitions) > 1 else ()

    def _partition_metric(self, metric: Metric, fetch: Fetch) -> tuple[Partition, ...]:
        """Return the partitions of a metric; none if its table is small."""
        key = (metric.grain, metric.per)
        if key not in self._by_metric:
            self._by_metric[key] = (
                tuple(iter_partitions(self._count_rows(metric, fetch), MOST)) if _is_large(metric.grain, fetch) else ()
            )
        return self._by_metric[key]

    def _count_rows(self, metric: Metric, fetch: Fetch) -> list[tuple[object, int]]:
        """Return the values for which a metric has distributions, in order, with their numbers of rows."""
        per = build_column(metric.per)
        counts = _count_by_key(metric.grain, metric.per, fetch)
        is_not_null = exp.Not(this=exp.Is(this=per.copy(), expression=exp.Null()))
        domain = (
            dialect.select(per.copy())
            .distinct()
            .from_(dialect.build_table(self._domains[metric.grain]))
            .where(is_not_null)
        )
        values = fetch(dialect.to_sql(domain.order_by(per.copy())))
        return [(value, counts.get(value, 0)) for (value,) in values]


@contextmanager
def restrict_to_hosts(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, exp.Select], hosts: Partition
) -> Iterator[None]:
    """Restrict tables to the rows of some hosts, for one connection and while the block lasts.

    `tables` maps each name to the query of all its rows.  After a failure the restriction stays, because the caller
    then discards the connection.
    """
    is_selected = exp.In(this=build_column(HOST), expressions=[build_literal(host) for host in hosts])
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    for name, rows in tables.items():
        rows_of_hosts = rows.where(is_selected)  # a view over files then skips the files of other hosts
        view = exp.Create(
            this=dialect.build_table(name), kind="VIEW", expression=rows_of_hosts, replace=True, properties=temporary
        )
        connection.execute(dialect.to_sql(view))
    yield
    for name in tables:
        drop = exp.Drop(tables=[exp.table_(name, catalog="temp", db="main")], kind="VIEW")
        connection.execute(dialect.to_sql(drop))


def select_unrestricted(table: str) -> exp.Select:
    """Return all rows of a table of the engine, even if a connection restricts the name."""
    return dialect.select("*").from_(exp.table_(table, db="main", catalog="memory"))


def iter_partitions(rows: Sequence[tuple[object, int]], most: int) -> Iterator[Partition]:
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


def partition_metrics(metrics: Sequence[Metric], fetch: Fetch) -> list[Sequence[Metric]]:
    """Return metrics of a grain in groups that together have at most `TOGETHER` samples, but of one metric at least."""
    size = max(1, TOGETHER // max(1, _count_all(metrics[0].grain, fetch)))
    return [metrics[start : start + size] for start in range(0, len(metrics), size)]


def _count_by_key(table: str, key: str, fetch: Fetch) -> Counts:
    """Return the number of rows of a table for each value of a column."""
    rows = (
        dialect.select(build_column(key), exp.Count(this=exp.Star()))
        .from_(dialect.build_table(table))
        .group_by(build_column(key))
    )
    return {value: int(str(number)) for value, number in fetch(dialect.to_sql(rows))}


def _count_by_host(table: str, fetch: Fetch) -> Counts | None:
    """Return the number of rows of a table for each host; None for a table without hosts."""
    described = fetch(dialect.to_sql(exp.Describe(this=dialect.build_table(table))))
    return _count_by_key(table, HOST, fetch) if HOST in {row[0] for row in described} else None


def _is_large(table: str, fetch: Fetch) -> bool:
    return _count_all(table, fetch) > MOST


def _count_all(table: str, fetch: Fetch) -> int:
    """Return the number of rows of a table."""
    ((rows,),) = fetch(dialect.to_sql(dialect.select(exp.Count(this=exp.Star())).from_(dialect.build_table(table))))
    return int(str(rows))
