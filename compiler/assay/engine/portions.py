"""Compute the statements of a run for portions: some of its hosts at a time, possibly on several machines.

A portion is an entry of the cache, so it is complete or absent, and to compute one twice is harmless. When all portions
are there, `join_portions` joins them to the answers and tables that the execution of the whole run looks for.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.engine import connection as limits
from assay.engine.declarations import check_declaration
from assay.engine.executor import ANSWER_SUFFIX, SQL, build_engine_error, connect, fetch_records
from assay.engine.failed_checks import fetch_offenders
from assay.engine.mount import bind_parameters, enumerate_hosts, mount_folders
from assay.engine.result_cache import Store
from assay.engine.table_cache import (
    COLUMNS,
    ROWS,
    TABLES_KIND,
    CachedTables,
    list_table_folders,
    read_storable_types,
    write_rows,
)
from assay.lang.scopes import HOST
from assay.plan.planner import RelationStep
from assay.sql import dialect
from assay.sql.dialect import TYPE, build_column, build_create_enum
from assay.sql.expressions import build_literal
from assay.sql.template import fill_expression
from assay.util import atomic
from assay.util.checksums import seal_text
from assay.util.diagnostics import AssayError, raise_all
from assay.util.os_errors import is_disk_full_error

if TYPE_CHECKING:
    import duckdb

    from assay.engine.portion_plan import PortionPlan


PORTIONS_KIND = "portions"
OWN_KIND = "own-portions"  # below it, a folder for each build
ANSWERS = "answers.json"
VIEW, TABLE, METRIC, OFFENDERS, REJECTIONS, CELLS = "view", "table", "metric", "offenders", "rejections", "cells"
IN_PARTITION = "row of the partition"  # views have the condition of their partition in its place
#: kinds of answers that are records: column -> value
ROWS_KIND, COUNT = "rows", "count"
RECORDS = (ROWS_KIND, COUNT)
#: kinds of answers with rows of each host, in the order of hosts
HOST_ROWS = (METRIC, *RECORDS, CELLS)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A statement to run for a portion.

    `kind` is `view` or `table` (which it creates), or the kind of the answer that it yields. `plain_text` is the text
    for hosts that are texts, if it is another one. `key` is the hash of an answer, or of a table whose rows are stored;
    it is empty for what only later instructions read.
    """

    kind: str
    name: str
    text: str
    placeholders: tuple[str, ...] = ()
    plain_text: str = ""
    key: str = ""
    has_types: bool = False


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows of a run: those of `hosts`, or, with a `key`, those whose hash of this column has a remainder.

    The remainder is `number`, of a division by `count`. With neither hosts nor a key it is the whole run.
    """

    hosts: tuple[str, ...] = ()
    key: str = ""
    number: int = 0
    count: int = 1

    @property
    def is_whole(self) -> bool:
        """Return whether the partition is the whole run."""
        return not self.hosts and not self.key

    def build_condition(self) -> exp.Expr:
        """Return the condition that a row belongs to the partition. Rows without a key belong to one partition, too."""
        if self.is_whole:
            return exp.true()
        if not self.key:
            return exp.In(this=build_column(HOST), expressions=[build_literal(host) for host in self.hosts])
        # A key has the same hash as a text wherever it is read, whatever its type there.
        return fill_expression(
            "hash($key::TEXT) % $count = $number",
            key=self.key,
            count=exp.Literal.number(self.count),
            number=exp.Literal.number(self.number),
        )


@dataclass(frozen=True, slots=True)
class Scan:
    """A stored table that a portion reads: its `name`, its `key` in the cache, and the `file` that has the portion.

    Without a file, the rows are selected from all files; or all rows, if the table `is_whole`.
    """

    name: str
    key: str
    file: int | None = None
    is_whole: bool = False


@dataclass(frozen=True)
class Portion:
    """A partition of a run and what to compute for it, as plain data.

    `folders` are those of the ingested events, `label` names the run in messages, `place` is the kind of the entry.
    """

    label: str
    folders: tuple[str, ...]
    partition: Partition
    constants: Mapping[str, Any]
    instructions: tuple[Instruction, ...]
    scans: tuple[Scan, ...] = ()
    place: str = PORTIONS_KIND

    @property
    def entry(self) -> tuple[str, str]:
        """The kind and the key of the entry."""
        return self.place, self.key

    @cached_property
    def key(self) -> str:
        """The hash of everything that the entry depends on."""
        outputs = [(item.kind, item.name, item.key, item.has_types) for item in self.instructions if item.key]
        return hashlib.sha256(json.dumps([asdict(self.partition), outputs]).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the portion as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Portion:
        """Return the portion of plain data that `to_json` returned."""
        instructions = tuple(
            Instruction(**{**item, "placeholders": tuple(item["placeholders"])}) for item in data["instructions"]
        )
        partition = read_partition(data["partition"])
        scans = tuple(Scan(**item) for item in data["scans"])
        return Portion(data["label"], tuple(data["folders"]), partition, data["constants"], instructions, scans)


def read_partition(data: Mapping[str, Any]) -> Partition:
    """Return the partition of plain data."""
    return Partition(**{**data, "hosts": tuple(data["hosts"])})


def compute_portion(portion: Portion, store: Store, threads: int = 1) -> None:
    """Compute a portion into the cache, unless it is there. Raises AssayError."""
    if store.has(PORTIONS_KIND, portion.key):
        return
    try:
        _compute_portion(portion, store, threads, is_enumerated=True)
    except AssayError as error:
        if error.diagnostics[0].code != SQL:
            raise
        # A few SQL functions accept texts but no enums. If the error has another cause, it occurs again.
        _compute_portion(portion, store, threads, is_enumerated=False)


def _compute_portion(portion: Portion, store: Store, threads: int, *, is_enumerated: bool) -> None:
    folders = [Path(folder) for folder in portion.folders]
    answers: dict[str, Any] = {"answers": {}, "types": {}, "stored": {}}
    with (
        connect(threads, store.create_folder()) as connection,
        store.fill_entry(PORTIONS_KIND, portion.key, ends=True) as new_folder,
    ):
        mount_folders(connection, folders, list_table_folders(store))
        if is_enumerated:
            enumerate_hosts(connection, folders)
        replacement = dialect.to_sql(build_column(IN_PARTITION)), dialect.to_sql(portion.partition.build_condition())
        for scan in portion.scans:
            condition = None if scan.is_whole or portion.partition.is_whole else portion.partition.build_condition()
            tables = CachedTables(store, connection, {scan.name: scan.key}, is_enumerated)
            tables.load_table(scan.name, scan.file, condition)
        for item in portion.instructions:
            text = item.text if is_enumerated or not item.plain_text else item.plain_text
            if item.kind == VIEW:
                text = text.replace(*replacement)
            cursor = _execute(portion, item, text, connection, store)
            if item.kind == TABLE and (item.key or item.has_types):
                types = read_storable_types(connection, item.name)
                if item.has_types:
                    answers["types"][item.name] = _describe(connection, item.name)
                if item.key and types is not None:
                    write_rows(connection, item.name, types, new_folder / f"{item.key}.parquet")
                if item.key:
                    answers["stored"][item.key] = types
            elif item.key:
                answers["answers"][item.key] = _fetch_answer(item, cursor)
        (new_folder / ANSWERS).write_text(json.dumps(answers, default=str), encoding="utf-8")


def _fetch_answer(item: Instruction, cursor: duckdb.DuckDBPyConnection) -> Any:
    """Return the answer of an instruction as plain data."""
    if item.kind == OFFENDERS:
        return fetch_offenders(cursor)
    if item.kind == CELLS:
        return _group_cells(fetch_records(cursor))
    if item.kind in RECORDS:
        return fetch_records(cursor)
    return [list(row) for row in cursor.fetchall()]


def _group_cells(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Return the cells of each metric and place: name of the metric, place, and the rows as JSON without brackets.

    So the coordinator of a build joins the rows of all portions as texts.
    """
    groups = itertools.groupby(rows, lambda row: (row["metric"], row["place"]))
    return [[*group, json.dumps(list(items), default=str)[1:-1]] for group, items in groups]


def _describe(connection: duckdb.DuckDBPyConnection, name: str) -> list[list[str]]:
    """Return name and type of each column of a table."""
    rows = connection.execute(dialect.to_sql(exp.Describe(this=dialect.build_table(name)))).fetchall()
    return [[str(row[0]), TYPE if str(row[1]).startswith("ENUM(") else str(row[1])] for row in rows]


def _execute(
    portion: Portion, item: Instruction, text: str, connection: duckdb.DuckDBPyConnection, store: Store
) -> duckdb.DuckDBPyConnection:
    """Run an instruction within limits. Raises AssayError that names the statement and the run."""
    import duckdb

    values = bind_parameters(item.placeholders, portion.constants)
    subject = limits.read_limits(f"run {portion.label}: the SQL of `{item.name}`")
    try:
        return limits.execute(connection, text, values, subject)
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise store.build_full_error() from None
        raise build_engine_error(portion.label, f"`{item.name}`", error) from None


def join_portions(plan: PortionPlan, portions: Sequence[Portion], store: Store) -> None:
    """Store the answers and tables of a run that its portions, in the order of their hosts, have computed.

    Raises AssayError if a relation does not have the columns that it declares.
    """
    folders = [store.get_path(*portion.entry) for portion in portions]
    parts = [json.loads((folder / ANSWERS).read_text(encoding="utf-8")) for folder in folders]
    _check_declarations(plan, parts[0]["types"])
    for kind, name in plan.answers:
        key = plan.hashes[name]
        answers = [part["answers"][key] for part in parts]
        if len(answers) == 1 and kind != CELLS:
            text = json.dumps(answers[0], default=str)
        else:
            text = _join_cells(answers, plan.metrics[name]) if kind == CELLS else _join_answers(kind, answers)
        if text:
            file_name = f"{key}.{ROWS_KIND if kind == CELLS else kind}{ANSWER_SUFFIX}"
            store.put("results", file_name, seal_text(file_name, text))
    for name in sorted(plan.tables):
        key = plan.hashes[name]
        types = parts[0]["stored"][key]
        if types is not None and all(part["stored"][key] == types for part in parts):
            _join_table(store, key, types, [folder / f"{key}.parquet" for folder in folders])


def _join_answers(kind: str, answers: Sequence[Any]) -> str:
    """Join the answers of portions; return the JSON, empty where only the whole run has the answer."""
    if kind in HOST_ROWS:
        return json.dumps([row for rows in answers for row in rows], default=str)
    if kind == REJECTIONS:
        return json.dumps([[sum(column) for column in zip(*(rows[0] for rows in answers), strict=True)]])
    # Which of several offending rows is the first, is decided by the order of the whole.
    return json.dumps([None, 0]) if all(first is None for first, _ in answers) else ""


def _join_cells(answers: Sequence[Sequence[tuple[str, int, str]]], metrics: Sequence[str]) -> str:
    """Join cells in the order of metrics, places and hosts; return the JSON."""
    numbers = {name: number for number, name in enumerate(metrics)}
    texts: dict[tuple[int, int], list[str]] = {}
    for metric, place, text in itertools.chain.from_iterable(answers):
        texts.setdefault((numbers[metric], place), []).append(text)
    return f"[{', '.join(text for _, group in sorted(texts.items()) for text in group)}]"


def list_host_rows(kind: str, answer: Any) -> list[Any]:
    """Return the rows of an answer that has rows of each host."""
    rows: list[Any] = json.loads(f"[{', '.join(text for *_, text in answer)}]") if kind == CELLS else answer
    return rows


def sort_rows(kind: str, rows: list[Any]) -> list[Any]:
    """Return the rows of hosts in an order that does not depend on the portions of these hosts."""
    return sorted(rows, key=lambda row: (row["cluster"], row["metric"], row["place"])) if kind == CELLS else rows


def get_host(row: Any) -> object:
    """Return the host of a row of an answer of the kinds `HOST_ROWS`."""
    return row.get(HOST, row.get("cluster")) if isinstance(row, dict) else row[0]


def _join_table(store: Store, key: str, types: Mapping[str, str], files: Sequence[Path]) -> None:
    """Store a table that consists of the files of portions, as links."""
    with store.fill_entry(TABLES_KIND, key, ends=True) as folder:
        for number, file in enumerate(files):
            atomic.link(file, folder / f"{number:06}-{ROWS}")
        (folder / COLUMNS).write_text(json.dumps(types), encoding="utf-8")


def _check_declarations(plan: PortionPlan, described: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """Check the columns of the relations that portions have computed. Raises AssayError."""
    import duckdb

    relations = {
        node.name: node.statement.step.relation
        for node in plan.job.graph
        if isinstance(node.statement.step, RelationStep)
    }
    with duckdb.connect() as connection:
        connection.execute(build_create_enum(dialect.select(exp.alias_(exp.Literal.string(""), HOST))))
        for name, columns in described.items():
            values = [
                exp.alias_(
                    exp.Cast(this=exp.Null(), to=exp.DataType.build(kind, dialect=dialect.DIALECT, udt=True)), item
                )
                for item, kind in columns
            ]
            table = exp.Create(this=dialect.build_table(name), kind="TABLE", expression=dialect.select(*values))
            connection.execute(dialect.to_sql(table))
            raise_all(check_declaration(connection, relations[name]))


def remove_portions(portions: Sequence[Portion], store: Store) -> None:
    """Remove the entries of portions, whose answers and tables are stored."""
    for portion in portions:
        atomic.discard(store.folder, store.get_path(*portion.entry))


def has_joined_files(store: Store, key: str, portions: Sequence[Portion]) -> bool:
    """Return whether the files of a stored table are those of these portions, in their order.

    Another build may have stored the same rows in other files.
    """
    files = sorted(store.get_path(TABLES_KIND, key).glob(f"*-{ROWS}"))
    own_files = [store.get_path(*portion.entry) / f"{key}.parquet" for portion in portions]
    return len(files) == len(own_files) and all(map(_has_same_size, files, own_files))


def _has_same_size(file: Path, other: Path) -> bool:
    try:
        return file.stat().st_size == other.stat().st_size
    except FileNotFoundError:
        return False
