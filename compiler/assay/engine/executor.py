"""Run the statements of a plan over the events of one run, and cache their results by content hash."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.engine import connection as limit
from assay.engine import results
from assay.engine.declarations import check_declaration, get_spec_sql, locate_error
from assay.engine.failed_checks import build_check_problem, fetch_offenders
from assay.engine.graph import Node, build_nodes, collect_needed, hash_nodes, list_unused_tables
from assay.engine.job import Job, list_outputs
from assay.engine.mount import bind_parameters, build_host_view, convert_hosts
from assay.engine.partitions import (
    Partitioner,
    StatementPool,
    partition_metrics,
    restrict_to_hosts,
    select_unrestricted,
)
from assay.engine.point_rows import POINTS, cache_points, load_points
from assay.engine.pruning import mark_used
from assay.engine.result_cache import Store, read_sealed_text
from assay.engine.results import Distribution, FilterCount, Formulas, RunResults
from assay.engine.table_cache import CachedTables
from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Summary
from assay.plan.planner import (
    CheckStep,
    FilterStep,
    RelationStep,
    group_by_statement,
    name_cells_statement,
    name_quantiles_statement,
)
from assay.sql import dialect, grains
from assay.sql.codegen import Statement, build_create_sql, build_insert_sql, build_quantiles_statement
from assay.util.checksums import seal_text
from assay.util.diagnostics import INTERNAL, AssayError, Diagnostic, Span, fail, raise_all
from assay.util.os_errors import build_memory_error, is_disk_full_error, is_memory_error

if TYPE_CHECKING:
    import duckdb

SQL = "sql"  # diagnostic code of a statement that fails
ANSWER_SUFFIX = ".sealed"  # suffix of the file names of cached answers
MEMORY = 1200  # MiB that an engine may use before it spills to disk
#: MiB that engines which work side by side may use together; seldom do all of them need their share at once
SHARED_MEMORY = 1500


def connect(threads: int, spill: Path, share: int = 1) -> duckdb.DuckDBPyConnection:
    """Return a new engine in memory.

    `share` such engines work side by side, and share the memory; `spill` is the folder that this one spills into.
    """
    connection = _take_engine()
    for name, value in (
        ("threads", str(threads)),
        ("memory_limit", f"{MEMORY if share == 1 else SHARED_MEMORY // share}MiB"),
        ("temp_directory", str(spill)),
        ("TimeZone", "UTC"),
        ("preserve_insertion_order", "true"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
    ):
        connection.execute(f"SET {name} = ?", [value])
    return connection


def open_connections(connection: duckdb.DuckDBPyConnection, count: int) -> list[duckdb.DuckDBPyConnection]:
    """Open `count` more connections to an engine that nothing has run on yet.

    They see all its tables except temporary ones; the time zone must be set for each of them.
    """
    cursors = [connection.cursor() for _ in range(count)]
    for cursor in cursors:
        cursor.execute("SET TimeZone = ?", ["UTC"])
    return cursors


def _take_engine() -> duckdb.DuckDBPyConnection:
    """Return an engine that nothing has run on yet."""
    import duckdb

    try:
        return _spare.get_nowait()
    except Empty:
        return duckdb.connect()


_spare: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()


def start_engines(count: int) -> None:
    """Start engines ahead of time, until `count` of them are spare."""
    import duckdb

    for _ in range(count - _spare.qsize()):
        _spare.put(duckdb.connect())


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    """The rows of a metric's statement.

    `input_hash` is the hash of everything that they depend on: answers are compared by it alone.
    """

    input_hash: str
    rows: list[list[Any]] = field(compare=False)


@functools.lru_cache(maxsize=1024)  # over many hosts this takes a millisecond, and most answers are read again
def _read_distribution(
    answer: _CachedAnswer,
    over_hosts: bool,
    sampled_only: bool,
    summaries: tuple[Summary, ...],
    measured: MeasureResult,
) -> Distribution:
    """Return the distribution of a metric, either pooled or over its hosts.

    `sampled_only`: hosts without samples are left out, unless no host has samples.
    """
    factor, integral = Fraction(measured.factor), measured.integral
    if not over_hosts:
        return results.summarize_pooled(results.read_host_row(answer.rows[0]), summaries, factor, integral)
    hosts = [results.read_host_row(row[1:]) for row in answer.rows] or [results.NO_SAMPLES]
    sampled = [host for host in hosts if host.size]
    counted = sampled if sampled_only and sampled else hosts
    return results.summarize_hosts(counted, summaries, factor, integral)


def fetch_records(cursor: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return all rows of a query as column -> value."""
    names = [str(item[0]) for item in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class _Execution:
    """The execution of a job: the answers so far, by the names of their statements."""

    def __init__(
        self,
        job: Job,
        checked: CheckedPackage,
        store: Store,
        connection: duckdb.DuckDBPyConnection,
        has_host_type: bool,
        side_connections: Sequence[duckdb.DuckDBPyConnection],
        is_large: bool,
    ) -> None:
        self.job = job
        self.checked = checked
        self.store = store
        self.connection = connection
        self.side_connections = side_connections
        self.is_large = is_large
        self.has_host_type = has_host_type
        self.hashes = hash_nodes(job.graph, job.constants, job.raw, job.logs)
        self.nodes = {node.name: node for node in job.graph}
        self.answers: dict[str, Any] = {}
        self.max_seconds, self.max_growth = limit.read_seconds(), limit.read_room()
        self.tables = CachedTables(store, connection, self.hashes, has_host_type)
        self.partitioner = Partitioner(checked)
        self.metrics_with_quantiles = group_by_statement(job.plan.detailed, name_quantiles_statement)

    def run(self, progress: Callable[[str], None], keep_tables: bool, is_edited: bool) -> None:
        """Compute what the cache does not hold, in the order of the plan.

        Stops with an AssayError at the first check that fails.
        """
        outputs = {name: kind for kind, name in list_outputs(self.job)}
        missing = {name for name, kind in outputs.items() if not self.load_answer(kind, name)}
        cached_tables = self.tables.list_cached(
            [node.name for node in self.job.graph if node.statement.kind == "table"]
        )
        needed = collect_needed(self.job.graph, missing, cached_tables)
        is_edited = is_edited or len(missing) < len(outputs)
        unused_after = {} if keep_tables else list_unused_tables(self.job.graph, needed, cached_tables)
        with StatementPool(self.side_connections) as metrics_ahead:
            for node in self.job.graph:
                if node.name not in needed:
                    self.raise_failure(node)  # cached problems too are raised in the order of the plan
                    continue
                progress(node.name)
                if metrics_ahead.can_take(node):
                    metrics_ahead.put(partial(self.fetch, node), partial(self.finish, node, unused_after))
                    continue
                metrics_ahead.wait()
                if node.name in cached_tables:
                    self.tables.load_table(node.name)
                elif node.statement.kind == "table" and is_edited:
                    self.tables.create_table(node.name, partial(self.create, node))
                elif node.statement.kind in ("table", "view"):
                    self.create(node)
                if node.name in missing:
                    self.ensure_answer(outputs[node.name], node)
                self.finish(node, unused_after)

    def fetch(self, node: Node, connection: duckdb.DuckDBPyConnection) -> list[list[Any]]:
        """Return the rows of a metric's statement, run over a connection."""
        count = partial(self.fetch_rows, node, connection, bound=False)
        texts = self.partitioner.list_texts(self.checked.get_metric(node.name), node.statement.query, node.text, count)
        return [row for text in texts for row in self.fetch_rows(node, connection, text)]

    def fetch_rows(
        self, node: Node, connection: duckdb.DuckDBPyConnection, text: str, bound: bool = True
    ) -> list[list[Any]]:
        """Return the rows of a SQL text; see `execute`."""
        return [list(row) for row in self.execute(node, text, bound, connection).fetchall()]

    def finish(
        self, node: Node, unused_after: Mapping[str, Sequence[str]], rows: list[list[Any]] | None = None
    ) -> None:
        """Finish a statement: store `rows` that another thread fetched, raise its problems, drop unused tables.

        `unused_after`: name of a statement -> the tables that no later statement reads.
        """
        if rows is not None:
            self.store_answer(node.statement.kind, node.name, rows)
        self.raise_failure(node)
        for name in unused_after.get(node.name, ()):
            self.drop(name)

    def ensure_answer(self, kind: str, node: Node) -> None:
        """Compute an answer, unless the same check of another table has already cached it."""
        if self.load_answer(kind, node.name):
            return
        if kind == POINTS:
            cache_points(self.store, self.hashes[node.name], node.statement.query, partial(self.execute, node))
            self.load_answer(kind, node.name)
        else:
            self.store_answer(kind, node.name, self.compute_answer(kind, node))

    def drop(self, name: str) -> None:
        """Drop a table that is no longer read: large runs need much memory."""
        self.connection.execute(dialect.to_sql(exp.Drop(tables=[dialect.build_table(name)], kind="TABLE")))

    def create(self, node: Node) -> None:
        """Create the table or view of a statement.

        Raises AssayError when a relation does not have the columns that it declares.
        """
        is_temporary = not self.side_connections
        if self.has_host_type and node.statement.kind == "view":
            self.execute(node, build_host_view(node.statement, temporary=is_temporary))
        elif is_temporary:
            self.execute(node, node.text)
        else:
            self.create_shared(node)
        if isinstance(node.statement.step, RelationStep):
            raise_all(check_declaration(self.connection, node.statement.step.relation))

    def create_shared(self, node: Node) -> None:
        """Create a table or view that all connections see; large tables in partitions of some hosts each."""
        is_table = self.is_large and node.statement.kind == "table"
        count = partial(self.fetch_rows, node, self.connection, bound=False)
        partitions = self.partitioner.partition_table(node, count) if is_table else ()
        if not partitions:
            self.execute(node, build_create_sql(node.statement, temporary=False))
        rows_read = {name: self.select_all_rows(self.nodes[name].statement) for name in node.reads}
        for hosts in partitions:
            text = (
                build_create_sql(node.statement, temporary=False)
                if hosts is partitions[0]
                else build_insert_sql(node.statement)
            )
            with restrict_to_hosts(self.connection, rows_read, hosts):
                self.execute(node, text)

    def select_all_rows(self, statement: Statement) -> exp.Select:
        """Return the query for all rows of a table or view."""
        if statement.kind == "table":
            return select_unrestricted(statement.name)
        query = convert_hosts(statement) if self.has_host_type else statement.query
        assert isinstance(query, exp.Select)
        return query

    def compute_answer(self, kind: str, node: Node) -> Any:
        """Return the result of a statement as plain data, by the kind of output."""
        if kind == "rejections":
            assert isinstance(node.statement.step, FilterStep)
            return self.fetch_rows(
                node, self.connection, dialect.to_sql(grains.count_rejections(node.statement.step)), bound=False
            )
        if kind == "row":
            return self.fetch_records(node, dialect.to_sql(exp.select("*").from_(node.name)), bound=False)
        if kind == "offenders":
            return fetch_offenders(self.execute(node, node.text))
        if kind in ("rows", "count"):
            return [row for part in self.split(node) for row in self.fetch_records(part, part.text)]
        return self.fetch(node, self.connection)

    def split(self, node: Node) -> tuple[Node, ...]:
        """Return a statement for quantiles as several of fewer metrics if their samples need much memory."""
        metrics = self.metrics_with_quantiles.get(node.name, ())
        if len(metrics) < 2:
            return (node,)
        count = partial(self.fetch_rows, node, self.connection, bound=False)
        groups = partition_metrics(metrics, count)
        if len(groups) == 1:
            return (node,)
        return build_nodes([build_quantiles_statement(group, self.checked) for group in groups])

    def execute(
        self, node: Node, text: str, bound: bool = True, connection: duckdb.DuckDBPyConnection | None = None
    ) -> Any:
        """Run a SQL text within limits of time and memory; with `bound`, with the statement's constants as parameters.

        Raises AssayError that names the statement when the engine fails.
        """
        import duckdb

        connection = connection or self.connection
        values = bind_parameters(node.placeholders, self.job.constants)
        limits = limit.Limits(
            f"run {self.job.label}: the SQL of {_format_name(node)}", self.max_seconds, self.max_growth
        )
        try:
            return limit.execute(connection, text, values if bound and node.placeholders else None, limits)
        except duckdb.Error as error:
            if is_disk_full_error(error):
                raise self.store.build_full_error() from None
            with limit.apply_limits(connection, limits):
                span = locate_error(connection, get_spec_sql(node), values)
            raise build_engine_error(self.job.label, _format_name(node), error, span, get_spec_sql(node)) from None

    def fetch_records(self, node: Node, text: str, bound: bool = True) -> list[dict[str, Any]]:
        """Return all rows of a SQL text as column -> value."""
        return fetch_records(self.execute(node, text, bound))

    def load_answer(self, kind: str, name: str) -> bool:
        """Read an answer from the cache; return whether the cache holds it."""
        if kind == POINTS:
            self.answers[name] = load_points(self.store, self.hashes[name], self.connection)
            return self.answers[name] is not None
        path = self.store.get_path("results", f"{self.hashes[name]}.{kind}{ANSWER_SUFFIX}")
        if (content := read_sealed_text(path)) is None:
            return False
        self.answers[name] = json.loads(content)
        mark_used(path)
        return True

    def store_answer(self, kind: str, name: str, value: Any) -> None:
        """Write an answer into the cache."""
        self.answers[name] = value
        file_name = f"{self.hashes[name]}.{kind}{ANSWER_SUFFIX}"
        self.store.put("results", file_name, seal_text(file_name, json.dumps(value, default=str)))

    def raise_failure(self, node: Node) -> None:
        """Raise AssayError when the check of a node fails."""
        problems = self.list_problems(node)
        if any(item.severity == "error" for item in problems):
            raise AssayError(tuple(problems))

    def list_problems(self, node: Node) -> list[Diagnostic]:
        """List the problem of a failed check: its first offending row, and how many more there are."""
        step = node.statement.step
        if not isinstance(step, CheckStep):
            return []
        first, further_count = self.answers[node.name]
        if first is None:
            return []
        notes = tuple(item.sentence for item in self.list_filter_counts()) if self.job.plan.applied else ()
        return [build_check_problem(step, first, further_count, self.job.label, notes)]

    def list_filter_counts(self) -> tuple[FilterCount, ...]:
        """Return how many rows each filter rejected, as far as that is computed."""
        counts = []
        for node in self.job.graph:
            step = node.statement.step
            if isinstance(step, FilterStep) and step.applied and node.name in self.answers:
                total, _accepted, *rejected = self.answers[node.name][0]
                counts += [
                    FilterCount(item.filter.name, item.argument or "", node.name, number, total)
                    for item, number in zip(step.applied, rejected, strict=True)
                ]
        return tuple(counts)

    def collect_results(self) -> RunResults:
        """Return all results of the run."""
        notes: dict[str, None] = {}
        warnings = [item.message for node in self.job.graph for item in self.list_problems(node)]
        relations = {name: self.answers[name][0] for name in self.job.relations}
        metrics = {metric.id: self.read_distribution(metric.id) for metric in self.job.plan.metrics}
        rows = self.collect_answers("rows")
        calculator = Formulas(self.checked, self.job.constants, notes)
        for request in self.job.plan.row_requests:
            rows[request.name] = calculator.extend_rows(request, rows[request.name])
        formulas = {metric.id: calculator.evaluate_run(metric, metrics) for metric in self.job.plan.formulas}
        distinct_warnings = tuple(dict.fromkeys(warnings))  # several tables may have the same check
        counts = self.collect_answers("count")
        return RunResults(
            metrics,
            relations,
            self.list_filter_counts(),
            distinct_warnings,
            rows,
            formulas,
            tuple(notes),
            counts,
            _pop_by_metric(rows, self.job.plan.judged, name_cells_statement),
            _pop_by_metric(rows, self.job.plan.detailed, name_quantiles_statement),
            results.read_groups(self.job.plan, self.answers, rows),
        )

    def collect_answers(self, kind: str) -> dict[str, Any]:
        """Return the rows of all statements of a kind, by the names of the statements."""
        return {node.name: self.answers[node.name] for node in self.job.graph if node.statement.kind == kind}

    def read_distribution(self, name: str) -> Distribution:
        """Return the distribution of a metric."""
        measured = self.checked.measured[name]
        metric = self.checked.get_metric(name)
        return _read_distribution(
            _CachedAnswer(self.hashes[name], self.answers[name]),
            bool(metric.per),
            metric.sampled_only,
            self.checked.package.summaries,
            measured,
        )


def execute(
    job: Job,
    checked: CheckedPackage,
    store: Store,
    connection: duckdb.DuckDBPyConnection,
    progress: Callable[[str], None] = lambda _: None,
    *,
    has_host_type: bool = False,
    keep_tables: bool = False,
    is_edited: bool = False,
    side_connections: Sequence[duckdb.DuckDBPyConnection] = (),
    is_large: bool = False,
) -> RunResults:
    """Return the results of a run: read from the cache, and computed where the cache has none.

    has_host_type: hosts are values of the connection's enumeration type, and event tables use it
    keep_tables: the caller reads the tables afterwards, so none is dropped
    is_edited: specs are being edited, so intermediate tables are cached even when no result was cached before
    side_connections: further connections to the same engine, over which metrics are computed side by side
    is_large: tables may be too large to create in one statement

    Raises AssayError with the first check that fails.
    """
    execution = _Execution(job, checked, store, connection, has_host_type, side_connections, is_large)
    execution.run(progress, keep_tables, is_edited)
    return execution.collect_results()


def _pop_by_metric(
    rows: dict[str, Any], metrics: Sequence[Metric], name: Callable[[Metric], str]
) -> dict[str, list[dict[str, Any]]]:
    """Take the rows of the statements that a function names for metrics; return them by metric."""
    by_metric: dict[str, list[dict[str, Any]]] = {metric.id: [] for metric in metrics}
    for statement in dict.fromkeys(map(name, metrics)):
        for row in rows.pop(statement):
            by_metric[row["metric"]].append(row)
    return by_metric


def _format_name(node: Node) -> str:
    """Return the name of a statement as messages write it."""
    is_metric = node.statement.step is None and node.statement.kind == "metric"
    return f"metric `{node.name}`" if is_metric else f"`{node.name}`"


def build_engine_error(
    label: str, statement_name: str, error: Exception, span: Span | None = None, text: str = ""
) -> AssayError:
    """Return the error of a statement of a run that fails at a place in the SQL `text` of specs."""
    cause = str(error).split("\n\nLINE")[0].replace("\n", " ")[:500]
    if is_memory_error(error):
        return build_memory_error(error, f" at {statement_name} of run {label}")
    if type(error).__name__ in ("IOException", "InternalException", "FatalException"):
        return fail("engine", f"run {label}: the engine stopped at {statement_name}: {cause}", status=INTERNAL)
    return fail(
        SQL,
        f"run {label}: the SQL of {statement_name} fails: {cause}",
        hint="it works on empty tables (`assay check`), so rows of this run make it fail",
        span=span,
        text=text,
    )
