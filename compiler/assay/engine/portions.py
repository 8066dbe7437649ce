"""Compute the statements of a run for portions: some of its hosts at a time, possibly on several machines.

A portion is an entry of the cache, so it is complete or absent, and to compute one twice is harmless. When all portions
are there, `join_portions` joins them to the answers and tables that the execution of the whole run looks for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.engine import connection as limits
from assay.engine.declarations import check_declaration
from assay.engine.executor import ANSWER_SUFFIX, SQL, build_engine_error, connect, fetch_records
from assay.engine.failed_checks import fetch_offenders
from assay.engine.graph import Node, collect_needed, hash_nodes
from assay.engine.host_plan import HostPlan
from assay.engine.job import Job, list_outputs
from assay.engine.mount import bind_parameters, build_host_view, enumerate_hosts, mount_folders
from assay.engine.result_cache import Store, read_sealed_text
from assay.engine.table_cache import COLUMNS, ROWS, TABLES_KIND, list_table_folders, read_storable_types, write_rows
from assay.lang.scopes import HOST, LOGS
from assay.plan.planner import FilterStep, RelationStep
from assay.sql import dialect, grains
from assay.sql.codegen import build_create_sql
from assay.sql.dialect import TYPE, build_column, build_create_enum
from assay.sql.expressions import build_literal
from assay.util import atomic
from assay.util.checksums import seal_text
from assay.util.diagnostics import AssayError, raise_all
from assay.util.os_errors import is_disk_full_error

if TYPE_CHECKING:
    import duckdb


PORTIONS_KIND = "portions"
ANSWERS = "answers.json"
VIEW, TABLE, METRIC, OFFENDERS, REJECTIONS = "view", "table", "metric", "offenders", "rejections"
#: kinds of answers that are records: column -> value
ROWS_KIND, COUNT = "rows", "count"
RECORDS = (ROWS_KIND, COUNT)
#: kinds of answers with rows of each host, in the order of hosts
HOST_ROWS = (METRIC, *RECORDS)


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


@dataclass(frozen=True)
class Portion:
    """Some hosts of a run and what to compute for them, as plain data.

    `folders` are those of the ingested events, `label` names the run in messages.
    """

    label: str
    folders: tuple[str, ...]
    hosts: tuple[str, ...]
    constants: Mapping[str, Any]
    instructions: tuple[Instruction, ...]

    @cached_property
    def key(self) -> str:
        """The hash of everything that the entry depends on."""
        outputs = [(item.kind, item.name, item.key, item.has_types) for item in self.instructions if item.key]
        return hashlib.sha256(json.dumps([self.hosts, outputs]).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the portion as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Portion:
        """Return the portion of plain data that `to_json` returned."""
        instructions = tuple(
            Instruction(**{**item, "placeholders": tuple(item["placeholders"])}) for item in data["instructions"]
        )
        folders, hosts = tuple(data["folders"]), tuple(data["hosts"])
        return Portion(data["label"], folders, hosts, data["constants"], instructions)


@dataclass(frozen=True)
class PortionPlan:
    """What portions of a run compute for its execution: answers, and tables that other statements read.

    `answers` has (kind, name) in the order of the plan; `tables` the names of tables whose rows are stored; `hashes`
    the hash of each statement. `host_plan` tells why the other statements are left to the execution of the whole run.
    """

    job: Job
    host_plan: HostPlan
    answers: tuple[tuple[str, str], ...]
    tables: frozenset[str]
    hashes: Mapping[str, str]

    def cut(self, folders: Sequence[Path], groups: Sequence[Sequence[str]]) -> list[Portion]:
        """Return a portion for each group of hosts."""
        return [
            Portion(
                self.job.label,
                tuple(str(folder.absolute()) for folder in folders),
                tuple(hosts),
                dict(self.job.constants),
                tuple(self._list_instructions(hosts)),
            )
            for hosts in groups
        ]

    def _list_instructions(self, hosts: Sequence[str]) -> list[Instruction]:
        """Return the statements for some hosts, each after those that it reads."""
        kinds = {name: kind for kind, name in self.answers}
        needed = collect_needed(self.job.graph, {*kinds, *self.tables})
        nodes = [node for node in self.job.graph if node.name in needed]
        is_selected = exp.In(this=build_column(HOST), expressions=[build_literal(host) for host in hosts])
        instructions = []
        if any(node.reads_logs for node in nodes):
            instructions.append(_restrict_logs(is_selected))
        for node in nodes:
            if node.statement.kind == "view":
                instructions.append(_restrict_view(node, is_selected))
                continue
            key = self.hashes[node.name]
            if node.statement.kind == "table":
                stored_key, has_types = key if node.name in self.tables else "", _is_relation(node)
                instructions.append(
                    Instruction(TABLE, node.name, node.text, node.placeholders, key=stored_key, has_types=has_types)
                )
            if kinds.get(node.name) == REJECTIONS:
                assert isinstance(node.statement.step, FilterStep)
                text = dialect.to_sql(grains.count_rejections(node.statement.step))
                instructions.append(Instruction(REJECTIONS, node.name, text, key=key))
            elif node.name in kinds:
                instructions.append(Instruction(kinds[node.name], node.name, node.text, node.placeholders, key=key))
        return instructions


def plan_portions(job: Job, host_plan: HostPlan, store: Store) -> PortionPlan:
    """Return what portions compute of the answers that the cache lacks, and of the tables behind the other answers."""
    hashes = hash_nodes(job.graph, job.constants, job.raw, job.logs)
    missing = [(kind, name) for kind, name in list_outputs(job) if not has_answer(store, kind, hashes[name])]
    answers = tuple(
        item for item in missing if item[1] in host_plan.names and item[0] in (*HOST_ROWS, OFFENDERS, REJECTIONS)
    )
    remaining = {name for _, name in missing} - {name for _, name in answers}
    own_tables = {node.name for node in job.graph if node.statement.kind == "table" and node.name in host_plan.names}
    read = collect_needed(job.graph, remaining, own_tables) & own_tables
    stored = {name for name in own_tables if store.has(TABLES_KIND, hashes[name])}
    tables = frozenset(read - stored)
    needed = collect_needed(job.graph, {name for _, name in answers} | tables, stored)
    if not any(node.statement.kind == "view" or node.reads_logs for node in job.graph if node.name in needed):
        return PortionPlan(job, host_plan, (), frozenset(), hashes)  # stored tables have everything
    return PortionPlan(job, host_plan, answers, tables, hashes)


def has_answer(store: Store, kind: str, key: str) -> bool:
    """Return whether the cache has an answer."""
    if kind in (*HOST_ROWS, OFFENDERS, REJECTIONS, "row"):
        return read_sealed_text(store.get_path("results", f"{key}.{kind}{ANSWER_SUFFIX}")) is not None
    return store.has(TABLES_KIND, key)


def _restrict_logs(is_selected: exp.Expr) -> Instruction:
    query = dialect.select("*").from_(exp.table_(LOGS, catalog="memory", db="main")).where(is_selected.copy())
    view = exp.Create(
        this=exp.to_table(LOGS),
        kind="VIEW",
        expression=query,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )
    return Instruction(VIEW, LOGS, dialect.to_sql(view))


def _restrict_view(node: Node, is_selected: exp.Expr) -> Instruction:
    """Return the view of an event, restricted to some hosts."""
    query = node.statement.query.copy()
    assert isinstance(query, exp.Select)
    statement = replace(node.statement, query=query.where(is_selected.copy()))
    plain_text = build_create_sql(statement)
    return Instruction(VIEW, node.name, build_host_view(statement), node.placeholders, plain_text)


def _is_relation(node: Node) -> bool:
    return isinstance(node.statement.step, RelationStep)


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
        store.fill_entry(PORTIONS_KIND, portion.key, ends=True, keeps_sealed=True) as new_folder,
    ):
        mount_folders(connection, folders, list_table_folders(store))
        if is_enumerated:
            enumerate_hosts(connection, folders)
        for item in portion.instructions:
            text = item.text if is_enumerated or not item.plain_text else item.plain_text
            cursor = _execute(portion, item, text, connection, store)
            if item.kind == OFFENDERS:
                answers["answers"][item.key] = fetch_offenders(cursor)
            elif item.kind in RECORDS:
                answers["answers"][item.key] = fetch_records(cursor)
            elif item.kind in (METRIC, REJECTIONS):
                answers["answers"][item.key] = [list(row) for row in cursor.fetchall()]
            elif item.kind == TABLE and (item.key or item.has_types):
                types = read_storable_types(connection, item.name)
                if item.has_types:
                    answers["types"][item.name] = _describe(connection, item.name)
                if item.key and types is not None:
                    write_rows(connection, item.name, types, new_folder / f"{item.key}.parquet")
                if item.key:
                    answers["stored"][item.key] = types
        (new_folder / ANSWERS).write_text(json.dumps(answers, default=str), encoding="utf-8")


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
    folders = [store.get_path(PORTIONS_KIND, portion.key) for portion in portions]
    parts = [json.loads((folder / ANSWERS).read_text(encoding="utf-8")) for folder in folders]
    _check_declarations(plan, parts[0]["types"])
    for kind, name in plan.answers:
        key = plan.hashes[name]
        answer = _join_answers(kind, [part["answers"][key] for part in parts])
        if answer is not None:
            file_name = f"{key}.{kind}{ANSWER_SUFFIX}"
            store.put("results", file_name, seal_text(file_name, json.dumps(answer, default=str)))
    for name in sorted(plan.tables):
        key = plan.hashes[name]
        types = parts[0]["stored"][key]
        if types is not None and all(part["stored"][key] == types for part in parts):
            _join_table(store, key, types, [folder / f"{key}.parquet" for folder in folders])


def _join_answers(kind: str, answers: Sequence[Any]) -> Any:
    """Join the answers of portions; return None where only the whole run has the answer."""
    if kind in HOST_ROWS:
        return [row for rows in answers for row in rows]
    if kind == REJECTIONS:
        return [[sum(column) for column in zip(*(rows[0] for rows in answers), strict=True)]]
    # Which of several offending rows is the first, is decided by the order of the whole.
    return [None, 0] if all(first is None for first, _ in answers) else None


def get_host(row: Any) -> object:
    """Return the host of a row of an answer of the kinds `HOST_ROWS`."""
    return row[HOST] if isinstance(row, dict) else row[0]


def _join_table(store: Store, key: str, types: Mapping[str, str], files: Sequence[Path]) -> None:
    """Store a table that consists of the files of portions, as links."""
    with store.fill_entry(TABLES_KIND, key, ends=True, keeps_sealed=True) as folder:
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
        atomic.discard(store.folder, store.get_path(PORTIONS_KIND, portion.key))
