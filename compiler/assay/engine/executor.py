"""Runs the statements of a plan over one run's events, and reads what they yield; keeps it by content hash."""

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
from assay.engine.declared import filled, place_in, text_of, undeclared
from assay.engine.graph import Node, content_hashes, demanded, outlived
from assay.engine.mount import bind_parameters, by_number, numbered
from assay.engine.partitions import Portions, SideBySide, only, select_unrestricted
from assay.engine.pruning import used
from assay.engine.result_cache import CachedTables, Store
from assay.engine.results import Distribution, FilterCount, Formulas, RunResults
from assay.lang.model.vocabulary import Summary
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import CheckStep, FilterStep, Plan, RelationStep
from assay.sql import dialect, grains
from assay.sql.codegen import Statement, creation, more
from assay.util.checksums import seal_text, unseal_text
from assay.util.diagnostics import INTERNAL, AssayError, Diagnostic, Span, fail, raise_all
from assay.util.os_errors import is_full, is_memory, out_of_memory

if TYPE_CHECKING:
    import duckdb

SQL = "sql"  # the code of an error of a statement itself
AT_ONCE = 10_000  # rows that are counted
ANSWER = ".sealed"  # how the name of a kept answer ends
SHORT = 65_536  # bytes of an answer that is kept in memory
MEMORY = 1200  # MiB that an engine may hold before it spills
#: the same of all that work side by side, of which seldom all need theirs at a time
TOGETHER = 1500


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be worked out for a run.

    Its name in messages, the statements, its constants, the hash of its raw data, and that of how the records of its
    logs are recognised.
    """

    label: str
    plan: Plan
    graph: tuple[Node, ...]
    constants: Mapping[str, object]
    raw: str
    logs: str
    relations: tuple[str, ...]


def connect(threads: int, spill: Path, share: int = 1) -> duckdb.DuckDBPyConnection:
    """A fresh engine in memory; `share` such engines work side by side, each with a folder to spill into."""
    connection = _fresh()
    for name, value in (
        ("threads", str(threads)),
        ("memory_limit", f"{MEMORY if share == 1 else TOGETHER // share}MiB"),
        ("temp_directory", str(spill)),
        ("TimeZone", "UTC"),
        ("preserve_insertion_order", "true"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
    ):
        connection.execute(f"SET {name} = ?", [value])
    return connection


def open_connections(connection: duckdb.DuckDBPyConnection, count: int) -> list[duckdb.DuckDBPyConnection]:
    """So many more connections to a fresh engine, which have what it has, but for what is temporary."""
    found = [connection.cursor() for _ in range(count)]
    for item in found:
        item.execute("SET TimeZone = ?", ["UTC"])
    return found


def _fresh() -> duckdb.DuckDBPyConnection:
    """An engine that nobody has used."""
    import duckdb

    try:
        return _spare.get_nowait()
    except Empty:
        return duckdb.connect()


_spare: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()


def get_ready(count: int) -> None:
    """Start engines for those who will ask: so many at most are kept."""
    import duckdb

    for _ in range(count - _spare.qsize()):
        _spare.put(duckdb.connect())


@functools.lru_cache(maxsize=2048)  # those who watch files ask for most answers again
def _text(place: Path) -> str:
    """What a file says whose name is the hash of all that it was made of."""
    return place.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Answer:
    """The rows that a metric's statement yields, by the hash of all that they were made of."""

    made_of: str
    rows: list[list[Any]] = field(compare=False)


@functools.lru_cache(maxsize=1024)  # over many hosts that takes a millisecond, and most answers are asked for again
def _distribution(
    answer: _Answer,
    over_hosts: bool,
    sampled_only: bool,
    summaries: tuple[Summary, ...],
    factor: Fraction,
    integral: bool,
) -> Distribution:
    """The distribution of a metric; of hosts, with `sampled_only`, over those that have samples."""
    if not over_hosts:
        return results.pooled(results.host_row(answer.rows[0]), summaries, factor, integral)
    hosts = [results.host_row(row[1:]) for row in answer.rows] or [results.NO_SAMPLES]
    sampled = [host for host in hosts if host.size]
    counted = sampled if sampled_only and sampled else hosts
    return results.over_hosts(counted, summaries, factor, integral)


class _Execution:
    def __init__(
        self,
        job: Job,
        checked: CheckedPackage,
        store: Store,
        connection: duckdb.DuckDBPyConnection,
        enumerated: bool,
        others: Sequence[duckdb.DuckDBPyConnection],
        large: bool,
    ) -> None:
        self.job = job
        self.checked = checked
        self.store = store
        self.connection = connection
        self.others = others
        self.large = large
        self.enumerated = enumerated
        self.hashes = content_hashes(job.graph, job.constants, job.raw, job.logs)
        self.nodes = {node.name: node for node in job.graph}
        self.kept: dict[str, Any] = {}
        self.most, self.room = limit.read_seconds(), limit.read_room()
        self.tables = CachedTables(store, connection, self.hashes, enumerated)
        self.portions = Portions(checked)

    def list_outputs(self) -> list[tuple[str, str]]:
        """What the run is asked for: (kind, name of the node), in order."""
        found: list[tuple[str, str]] = []
        for node in self.job.graph:
            step = node.statement.step
            if node.statement.kind == "check":
                found.append(("offenders", node.name))
            elif node.statement.kind in ("metric", "rows", "count"):
                found.append((node.statement.kind, node.name))
            elif isinstance(step, FilterStep) and step.applied:
                found.append(("rejections", node.name))
            elif node.name in self.job.relations:
                found.append(("row", node.name))
        return found

    def run(self, progress: Callable[[str], None], keep_tables: bool, edited: bool) -> None:
        """Work out what the cache does not hold, in the plan's order; stop at the first check that finds something."""
        asked = {name: kind for kind, name in self.list_outputs()}
        missing = {name for name, kind in asked.items() if not self.recall(kind, name)}
        there = self.tables.known([node.name for node in self.job.graph if node.statement.kind == "table"])
        needed = demanded(self.job.graph, missing, there)
        edited = edited or len(missing) < len(asked)
        done_with = {} if keep_tables else outlived(self.job.graph, needed, there)
        with SideBySide(self.others) as ahead:
            for node in self.job.graph:
                if node.name not in needed:
                    self.stop_at(node)  # what was found before is told in its turn: each time the same
                    continue
                progress(node.name)
                if ahead.takes(node):
                    ahead.put(partial(self.fetched, node), partial(self.end, node, done_with))
                    continue
                ahead.wait()
                if node.name in there:
                    self.tables.recall(node.name)
                elif node.statement.kind == "table" and edited:
                    self.tables.keep(node.name, partial(self.create, node))
                elif node.statement.kind in ("table", "view"):
                    self.create(node)
                if node.name in missing:
                    self.work_out(asked[node.name], node)
                self.end(node, done_with)

    def fetched(self, node: Node, connection: duckdb.DuckDBPyConnection) -> list[list[Any]]:
        """What a metric's statement yields, asked over a connection."""
        count = partial(self.rows, node, connection, bound=False)
        texts = self.portions.texts(self.checked.metric(node.name), node.statement.query, node.text, count)
        return [row for text in texts for row in self.rows(node, connection, text)]

    def rows(self, node: Node, connection: duckdb.DuckDBPyConnection, text: str, bound: bool = True) -> list[list[Any]]:
        """The rows that a text yields, as `execute` runs it over a connection."""
        return [list(row) for row in self.execute(node, text, bound, connection).fetchall()]

    def end(self, node: Node, done_with: Mapping[str, Sequence[str]], rows: list[list[Any]] | None = None) -> None:
        """What is done when a statement is: keep what it yielded elsewhere, judge it, drop what nothing reads any
        more."""
        if rows is not None:
            self.keep(node.statement.kind, node.name, rows)
        self.stop_at(node)
        for name in done_with.get(node.name, ()):
            self.drop(name)

    def work_out(self, kind: str, node: Node) -> None:
        """Have an answer; several tables may have the same check, which is asked once."""
        if not self.recall(kind, node.name):
            self.keep(kind, node.name, self.answer(kind, node))

    def drop(self, name: str) -> None:
        """Let go of a table that is read no more: memory is what large runs lack."""
        self.connection.execute(dialect.text(exp.Drop(tables=[dialect.table(name)], kind="TABLE")))

    def create(self, node: Node) -> None:
        """Keep the rows of a table or view."""
        alone = not self.others
        if self.enumerated and node.statement.kind == "view":
            self.execute(node, by_number(node.statement, temporary=alone))
        elif alone:
            self.execute(node, node.text)
        else:
            self.fill(node)
        if isinstance(node.statement.step, RelationStep):
            raise_all(undeclared(self.connection, node.statement.step.relation))

    def fill(self, node: Node) -> None:
        """Keep the rows of a table or view for all connections, of some hosts at a time where there are many."""
        is_table = self.large and node.statement.kind == "table"
        count = partial(self.rows, node, self.connection, bound=False)
        found = self.portions.of_table(node, count) if is_table else ()
        if not found:
            self.execute(node, creation(node.statement, temporary=False))
        read = {name: self.all_rows(self.nodes[name].statement) for name in node.reads}
        for hosts in found:
            text = creation(node.statement, temporary=False) if hosts is found[0] else more(node.statement)
            with only(self.connection, read, hosts):
                self.execute(node, text)

    def all_rows(self, statement: Statement) -> exp.Select:
        """The query of the rows of a table or view."""
        if statement.kind == "table":
            return select_unrestricted(statement.name)
        query = numbered(statement) if self.enumerated else statement.query
        assert isinstance(query, exp.Select)
        return query

    def answer(self, kind: str, node: Node) -> Any:
        """What a statement that is asked for yields, as plain data."""
        if kind == "rejections":
            assert isinstance(node.statement.step, FilterStep)
            return self.rows(
                node, self.connection, dialect.text(grains.count_rejections(node.statement.step)), bound=False
            )
        if kind == "row":
            return self.records(node, dialect.text(exp.select("*").from_(node.name)), bound=False)
        if kind == "offenders":
            return offenders(self.execute(node, node.text))
        if kind in ("rows", "count"):
            return self.records(node, node.text)
        return self.fetched(node, self.connection)

    def execute(
        self, node: Node, text: str, bound: bool = True, connection: duckdb.DuckDBPyConnection | None = None
    ) -> Any:
        """Run a text, with the statement's constants when it is `bound`; an engine error names the statement."""
        import duckdb

        connection = connection or self.connection
        values = bind_parameters(node.places, self.job.constants)
        limits = limit.Limits(f"run {self.job.label}: the SQL of {_called(node)}", self.most, self.room)
        try:
            return limit.execute(connection, text, values if bound and node.places else None, limits)
        except duckdb.Error as error:
            if is_full(error):
                raise self.store.full() from None
            with limit.apply_limits(connection, limits):
                place = place_in(connection, text_of(node), values)
            raise _engine_error(self.job.label, node, error, place) from None

    def records(self, node: Node, text: str, bound: bool = True) -> list[dict[str, Any]]:
        """All rows of a text, by column."""
        cursor = self.execute(node, text, bound)
        names = [item[0] for item in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def recall(self, kind: str, name: str) -> bool:
        """Whether the cache holds the answer; it is kept then."""
        place = self.store.place("results", f"{self.hashes[name]}.{kind}{ANSWER}")
        if not place.is_file():
            return False
        try:
            text = _text(place) if place.stat().st_size < SHORT else place.read_text(encoding="utf-8")
            said = unseal_text(place.name, text)
        except UnicodeDecodeError:
            said = None
        if said is None:
            return False
        self.kept[name] = json.loads(said)
        used(place)
        return True

    def keep(self, kind: str, name: str, value: Any) -> None:
        """Put an answer into the cache."""
        self.kept[name] = value
        place = f"{self.hashes[name]}.{kind}{ANSWER}"
        self.store.put("results", place, seal_text(place, json.dumps(value, default=str)))

    def stop_at(self, node: Node) -> None:
        """Raise the problem that a check found."""
        found = self.problems(node)
        if any(item.severity == "error" for item in found):
            raise AssayError(tuple(found))

    def problems(self, node: Node) -> list[Diagnostic]:
        """What a check found: the first row, and how many more there are."""
        step = node.statement.step
        if not isinstance(step, CheckStep):
            return []
        first, more = self.kept[node.name]
        if first is None:
            return []
        notes = tuple(item.sentence for item in self.filters()) if self.job.plan.applied else ()
        return [check_problem(step, first, more, self.job.label, notes)]

    def filters(self) -> tuple[FilterCount, ...]:
        """How many rows each filter rejected, where that was asked."""
        counts = []
        for node in self.job.graph:
            step = node.statement.step
            if isinstance(step, FilterStep) and step.applied and node.name in self.kept:
                total, _accepted, *rejected = self.kept[node.name][0]
                counts += [
                    FilterCount(item.filter.name, item.argument or "", node.name, number, total)
                    for item, number in zip(step.applied, rejected, strict=True)
                ]
        return tuple(counts)

    def results(self) -> RunResults:
        """Everything that was asked, as results."""
        notes: dict[str, None] = {}
        warnings = [item.message for node in self.job.graph for item in self.problems(node)]
        relations = {name: self.kept[name][0] for name in self.job.relations}
        metrics = {metric.id: self.distribution(metric.id) for metric in self.job.plan.metrics}
        rows = self.records_of("rows")
        worked = Formulas(self.checked, self.job.constants, notes)
        for listed in self.job.plan.listed:
            rows[listed.name] = worked.rows(listed, rows[listed.name])
        formulas = {metric.id: worked.of_run(metric, metrics) for metric in self.job.plan.formulas}
        told = tuple(dict.fromkeys(warnings))  # several tables may have the same check
        counts = self.records_of("count")
        return RunResults(metrics, relations, self.filters(), told, rows, formulas, tuple(notes), counts)

    def records_of(self, kind: str) -> dict[str, Any]:
        """Return the rows that statements of a kind yield, by the names of these."""
        return {node.name: self.kept[node.name] for node in self.job.graph if node.statement.kind == kind}

    def distribution(self, name: str) -> Distribution:
        """The distribution of a metric."""
        measured = self.checked.measured[name]
        metric = self.checked.metric(name)
        return _distribution(
            _Answer(self.hashes[name], self.kept[name]),
            bool(metric.per),
            metric.sampled_only,
            self.checked.package.summaries,
            Fraction(measured.factor),
            measured.integral,
        )


def execute(
    job: Job,
    checked: CheckedPackage,
    store: Store,
    connection: duckdb.DuckDBPyConnection,
    progress: Callable[[str], None] = lambda _: None,
    *,
    enumerated: bool = False,
    keep_tables: bool = False,
    edited: bool = False,
    others: Sequence[duckdb.DuckDBPyConnection] = (),
    large: bool = False,
) -> RunResults:
    """The results of a run: what the cache holds, and the rest worked out.

    `enumerated` tells that the connection has the run's hosts as a type, of which events' hosts shall be; `keep_tables`
    that tables are looked at afterwards; `edited` that specs will be edited, so that tables are worth a place in the
    cache, also where nothing was known before; `others` are connections to the same engine, which metrics are asked
    side by side; `large` that tables may be too large to be made at once.
    Raises AssayError with the first check that finds rows which must not be.
    """
    execution = _Execution(job, checked, store, connection, enumerated, others, large)
    execution.run(progress, keep_tables, edited)
    return execution.results()


def offenders(cursor: duckdb.DuckDBPyConnection) -> tuple[dict[str, object] | None, int]:
    """Of the rows that a check finds the first, by column, and how many more there are."""
    names = [str(item[0]) for item in cursor.description or ()]
    first = cursor.fetchone()
    more = 0
    while part := cursor.fetchmany(AT_ONCE):
        more += len(part)
    return (dict(zip(names, first, strict=True)) if first else None), more


def check_problem(
    step: CheckStep, row: Mapping[str, object], more: int, label: str, notes: Sequence[str] = ()
) -> Diagnostic:
    """What a check says of the first row that it found; `more` are the others."""
    check = step.check
    message = filled(check.message, row)
    if check.severity == "error":  # a warning is told beside the run's own label
        message = f"run {label}: {message}"
    others = (f"{more} more like it",) if more > 0 else ()
    hint = filled(check.hint, row)
    return Diagnostic(check.code, message, notes=(*others, *notes), hint=hint, severity=check.severity)


def _called(node: Node) -> str:
    """What messages call a statement."""
    of_metric = node.statement.step is None and node.statement.kind == "metric"
    return f"metric `{node.name}`" if of_metric else f"`{node.name}`"


def _engine_error(label: str, node: Node, error: Exception, place: Span | None) -> AssayError:
    cause = str(error).split("\n\nLINE")[0].replace("\n", " ")[:500]
    what = _called(node)
    if is_memory(error):
        return out_of_memory(error, f" at {what} of run {label}")
    if type(error).__name__ in ("IOException", "InternalException", "FatalException"):
        return fail("engine", f"run {label}: the engine stopped at {what}: {cause}", status=INTERNAL)
    return fail(
        SQL,
        f"run {label}: the SQL of {what} fails: {cause}",
        hint="on empty tables (`assay check`) it works: it is rows of this run that it fails at",
        span=place,
        text=text_of(node),
    )
