"""Plan what portions of a run compute: which answers and tables, from which tables that are stored already."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlglot import exp

from assay.engine.connection import open_shared_cursor
from assay.engine.executor import ANSWER_SUFFIX
from assay.engine.graph import Node, collect_needed, hash_nodes
from assay.engine.host_plan import HostPlan
from assay.engine.job import Job, list_outputs
from assay.engine.key_plan import KeyPlan
from assay.engine.mount import build_host_view, read_facts
from assay.engine.portions import (
    CELLS,
    HOST_ROWS,
    IN_PARTITION,
    OFFENDERS,
    REJECTIONS,
    TABLE,
    VIEW,
    Instruction,
    Partition,
    Portion,
    Scan,
)
from assay.engine.result_cache import Store, read_sealed_text
from assay.engine.table_cache import TABLES_KIND, CachedTables
from assay.lang.scopes import LOGS
from assay.plan.planner import FilterStep, RelationStep
from assay.sql import dialect, grains
from assay.sql.codegen import Statement, build_create_sql
from assay.sql.dialect import build_column
from assay.sql.staged_cells import TIMES

Answers = Sequence[tuple[str, str]]

KEY_ROWS = 2_000_000  # of the largest table that portions of a key read, for each of them


@dataclass(frozen=True)
class PortionPlan:
    """What portions of a run compute for its execution: answers, and tables that other statements read.

    `answers` has (kind, name) in the order of the plan; `tables` the names of tables whose rows are stored; `hashes`
    the hash of each statement and table. `nodes` are the statements to run, in order, which compute these from `scans`:
    tables that are stored already. `metrics` has, for each statement for cells, the metrics in their order.
    """

    job: Job
    answers: tuple[tuple[str, str], ...]
    tables: frozenset[str]
    hashes: Mapping[str, str]
    nodes: tuple[Node, ...] = ()
    scans: Mapping[str, Scan] = field(default_factory=dict)
    metrics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether portions have anything to compute."""
        return bool(self.answers or self.tables)

    def cut(
        self, folders: Sequence[Path], partitions: Sequence[Partition], joined: PortionPlan | None = None
    ) -> list[Portion]:
        """Return a portion for each partition. Tables of the plan `joined` have a file of each of these partitions."""
        places = tuple(str(folder.absolute()) for folder in folders)
        constants, instructions = dict(self.job.constants), tuple(self._list_instructions())
        return [
            Portion(
                self.job.label,
                places,
                partition,
                constants,
                instructions,
                tuple(
                    replace(scan, file=number) if joined and scan.name in joined.tables and not scan.is_whole else scan
                    for scan in self.scans.values()
                ),
            )
            for number, partition in enumerate(partitions)
        ]

    def _list_instructions(self) -> list[Instruction]:
        """Return the statements for any partition, each after those that it reads."""
        kinds = {name: kind for kind, name in self.answers}
        instructions = []
        if any(node.reads_logs for node in self.nodes):
            instructions.append(_restrict_logs())
        for node in self.nodes:
            if node.statement.kind == "view":
                instructions.append(_create_view(node))
                continue
            key = self.hashes.get(node.name, "")
            if node.statement.kind == "table":
                stored_key = key if node.name in self.tables else ""
                is_relation = isinstance(node.statement.step, RelationStep)
                instructions.append(
                    Instruction(TABLE, node.name, node.text, node.placeholders, key=stored_key, has_types=is_relation)
                )
            if kinds.get(node.name) == REJECTIONS:
                assert isinstance(node.statement.step, FilterStep)
                text = dialect.to_sql(grains.count_rejections(node.statement.step))
                instructions.append(Instruction(REJECTIONS, node.name, text, key=key))
            elif node.name in kinds:
                kind = kinds[node.name]
                instructions.append(Instruction(kind, node.name, node.text, node.placeholders, key=key))
        return instructions


def plan_host_portions(job: Job, host_plan: HostPlan, store: Store) -> PortionPlan:
    """Return what portions compute of the answers that the cache lacks, and of the tables behind the other answers."""
    hashes = hash_nodes(job.graph, job.constants, job.raw, job.logs)
    missing = list_missing(job, hashes, store)
    answers = tuple(
        item for item in missing if item[1] in host_plan.names and item[0] in (*HOST_ROWS, OFFENDERS, REJECTIONS)
    )
    remaining = {name for _, name in missing} - {name for _, name in answers}
    own_tables = {node.name for node in job.graph if node.statement.kind == "table" and node.name in host_plan.names}
    read = collect_needed(job.graph, remaining, own_tables) & own_tables
    stored = {name for name in own_tables if store.has(TABLES_KIND, hashes[name])}
    tables = frozenset(read - stored)
    needed = collect_needed(job.graph, {name for _, name in answers} | tables, stored)
    nodes = tuple(node for node in job.graph if node.name in needed)
    if not any(node.statement.kind == "view" or node.reads_logs for node in nodes):
        return PortionPlan(job, (), frozenset(), hashes)  # stored tables have everything
    times = []
    for name in sorted(remaining & host_plan.staged.keys()):  # every coordinator names the same portions
        times.append(_build_node(f"{name} {TIMES}", host_plan.staged[name].times))
        hashes[times[-1].name] = derive_key(hashes[name], TIMES)
    tables |= {node.name for node in times}
    return PortionPlan(job, answers, tables, hashes, (*nodes, *times))


def plan_whole(plan: PortionPlan, host_plan: HostPlan, key_plan: KeyPlan | None, store: Store) -> PortionPlan:
    """Return the tables that one portion of the whole run computes after the hosts; `plan` is that of the hosts.

    They are the merged times of cells, and the tables that portions of another key read.
    """
    first, hashes = (key_plan.first if key_plan else frozenset()), dict(plan.hashes)
    stored = _list_stored(plan.job, hashes, store)
    needed = collect_needed(plan.job.graph, set(first - stored), stored) if plan else set()
    nodes, scans = _list_nodes(plan.job, hashes, needed, stored)
    tables = set(first & {node.name for node in nodes})
    for name, stages in host_plan.staged.items():
        times = f"{name} {TIMES}"
        if times not in plan.tables or not store.has(TABLES_KIND, hashes[times]):
            continue
        scans[times] = Scan(times, hashes[times])
        for merged, query in stages.merged.items():
            nodes.append(_build_node(merged, query))
            hashes[merged] = derive_key(hashes[name], merged)
            tables.add(merged)
    return PortionPlan(plan.job, (), frozenset(tables), hashes, tuple(nodes), scans)


def plan_key_portions(plan: PortionPlan, key_plan: KeyPlan, store: Store) -> PortionPlan:
    """Return what portions of a key compute once the tables of `plan_whole` are stored."""
    job, hashes = plan.job, plan.hashes
    missing = list_missing(job, hashes, store)
    answers = tuple(item for item in missing if item[1] in key_plan.names and item[0] in (OFFENDERS, REJECTIONS))
    own_tables = {node.name for node in job.graph if node.statement.kind == "table" and node.name in key_plan.names}
    stored = _list_stored(job, hashes, store)
    remaining = {name for _, name in missing} - {name for _, name in answers}
    tables = frozenset(collect_needed(job.graph, remaining, own_tables | stored) & own_tables - stored)
    needed = collect_needed(job.graph, {name for _, name in answers} | tables, stored)
    nodes, scans = _list_nodes(job, hashes, needed, stored)
    if not all(node.statement.kind == "view" or node.name in key_plan.names for node in nodes):
        return PortionPlan(job, (), frozenset(), hashes)  # a table has columns that cannot be stored
    return PortionPlan(job, answers, tables, hashes, tuple(nodes), scans)


def plan_rest(plan: PortionPlan, store: Store) -> list[PortionPlan]:
    """Return the plans of the answers that are still missing: each for the run as a whole.

    Statements are in one plan if they read the same tables that are not stored.
    """
    job, hashes = plan.job, plan.hashes
    stored = _list_stored(job, hashes, store)
    groups: list[tuple[set[str], list[tuple[str, str]]]] = []  # tables to compute, answers
    for item in list_missing(job, hashes, store):
        if item[0] not in (*HOST_ROWS, OFFENDERS, REJECTIONS):
            continue
        nodes, _ = _list_nodes(job, hashes, collect_needed(job.graph, {item[1]}, stored), stored)
        tables = {node.name for node in nodes if node.statement.kind == "table"}
        same = [group for group in groups if group[0] & tables or not group[0] | tables]
        groups = [group for group in groups if group not in same]
        groups.append((tables.union(*(group[0] for group in same)), [*(i for group in same for i in group[1]), item]))
    plans = [_plan_answers(plan, answers, stored) for _, answers in groups]
    return [rest for item in plans for rest in _split(item, plan, stored, store)]


def _plan_answers(plan: PortionPlan, answers: Answers, stored: Collection[str]) -> PortionPlan:
    needed = collect_needed(plan.job.graph, {name for _, name in answers}, stored)
    nodes, scans = _list_nodes(plan.job, plan.hashes, needed, stored)
    return PortionPlan(plan.job, tuple(answers), frozenset(), plan.hashes, tuple(nodes), scans)


def _split(rest: PortionPlan, plan: PortionPlan, stored: Collection[str], store: Store) -> Iterator[PortionPlan]:
    """Yield plans that together have the answers: several where a table is large and none is computed."""
    has_tables = any(node.statement.kind == "table" for node in rest.nodes)
    count = 1 if has_tables else count_partitions(rest, store)
    for number in range(min(count, len(rest.answers))):
        yield rest if count == 1 else _plan_answers(plan, rest.answers[number::count], stored)


def count_partitions(plan: PortionPlan, store: Store, folders: Sequence[Path] = ()) -> int:
    """Return by how many portions of a key a plan is to be computed: by the rows of the largest table that it reads."""
    tables = {name: scan.key for name, scan in plan.scans.items()}
    events = [node.name for node in plan.nodes if node.statement.kind == "view"]
    counts = [sum(read_facts(folder).events.get(name, 0) for folder in folders) for name in events]
    with open_shared_cursor() as connection:
        cached = CachedTables(store, connection, tables, has_host_type=False)
        counts += [cached.count_rows(name) for name in tables]
    return max(1, -(-max(counts, default=0) // KEY_ROWS))


def _list_stored(job: Job, hashes: Mapping[str, str], store: Store) -> set[str]:
    """Return the tables of a run that are stored."""
    tables = [node.name for node in job.graph if node.statement.kind == "table"]
    return {name for name in tables if store.has(TABLES_KIND, hashes[name])}


def _list_nodes(
    job: Job, hashes: Mapping[str, str], needed: Collection[str], stored: Collection[str]
) -> tuple[list[Node], dict[str, Scan]]:
    """Return the needed statements that are to run, in order, and the scans of those that are stored."""
    nodes = [node for node in job.graph if node.name in needed and node.name not in stored]
    return nodes, {name: Scan(name, hashes[name]) for name in needed if name in stored}


def plan_cells(plan: PortionPlan, host_plan: HostPlan, store: Store) -> PortionPlan:
    """Return the cells that portions of hosts compute once the tables of `plan_whole` are stored."""
    answers, nodes = [], []
    scans: dict[str, Scan] = {}
    nodes_by_name = {node.name: node for node in plan.job.graph}
    for name, stages in host_plan.staged.items():
        read = [*nodes_by_name[name].reads, *stages.merged]
        if not plan.tables >= stages.merged.keys() or not all(
            store.has(TABLES_KIND, plan.hashes[item]) for item in read
        ):
            continue
        answers.append((CELLS, name))
        nodes.append(_build_node(name, stages.cells, "rows"))
        scans |= {item: Scan(item, plan.hashes[item], is_whole=item in stages.merged) for item in read}
    metrics = {name: host_plan.staged[name].metrics for _, name in answers}
    return PortionPlan(plan.job, tuple(answers), frozenset(), plan.hashes, tuple(nodes), scans, metrics)


def derive_key(key: str, name: str) -> str:
    """Return the key of a table that is computed on the way to a statement with the hash `key`."""
    return hashlib.sha256(f"{key} {name}".encode()).hexdigest()


def _build_node(name: str, query: exp.Select, kind: str = "table") -> Node:
    """Return the statement of a query that is not in the plan of the run."""
    statement = Statement(kind, name, query)
    placeholders = tuple(sorted({str(item.this) for item in query.find_all(exp.Placeholder)}))
    text = build_create_sql(statement) if kind == "table" else dialect.to_sql(query)
    return Node(statement, text, (), placeholders, reads_logs=False)


def list_missing(job: Job, hashes: Mapping[str, str], store: Store) -> Answers:
    """Return the outputs of a run that the cache lacks, as (kind, name), in the order of the plan."""
    return [(kind, name) for kind, name in list_outputs(job) if not has_answer(store, kind, hashes[name])]


def has_answer(store: Store, kind: str, key: str) -> bool:
    """Return whether the cache has an answer."""
    if kind in (*HOST_ROWS, OFFENDERS, REJECTIONS, "row"):
        return read_sealed_text(store.get_path("results", f"{key}.{kind}{ANSWER_SUFFIX}")) is not None
    return store.has(TABLES_KIND, key)


def _restrict_logs() -> Instruction:
    query = dialect.select("*").from_(exp.table_(LOGS, catalog="memory", db="main")).where(build_column(IN_PARTITION))
    view = exp.Create(
        this=exp.to_table(LOGS),
        kind="VIEW",
        expression=query,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )
    return Instruction(VIEW, LOGS, dialect.to_sql(view))


def _create_view(node: Node) -> Instruction:
    """Return the view of an event, restricted to the partition."""
    query = node.statement.query.copy()
    assert isinstance(query, exp.Select)
    statement = replace(node.statement, query=query.where(build_column(IN_PARTITION)))
    return Instruction(VIEW, node.name, build_host_view(statement), node.placeholders, build_create_sql(statement))
