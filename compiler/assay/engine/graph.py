"""Compute the content hash of each statement, from its text and everything that it reads, down to the raw files."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.lang.scopes import LOGS
from assay.sql import dialect
from assay.sql.codegen import CACHE_SIZE, Statement, build_create_sql
from assay.sql.read_tables import find_tables


@dataclass(frozen=True, slots=True)
class Node:
    """A statement with its text, the tables that it reads and the placeholders for constants in it.

    `reads_logs`: it reads `logs`, the table of log lines that every run has.
    """

    statement: Statement
    text: str
    reads: tuple[str, ...]
    placeholders: tuple[str, ...]
    reads_logs: bool

    @property
    def name(self) -> str:
        """Return the name of the statement."""
        return self.statement.name


def build_nodes(statements: Sequence[Statement]) -> tuple[Node, ...]:
    """Return statements with the statements that each of them reads."""
    created = {item.name for item in statements if item.kind in ("table", "view")}
    return tuple(_build_node(item, created) for item in statements)


def _build_node(statement: Statement, created: set[str]) -> Node:
    text, tables, placeholders = parse_statement(statement)
    created_name = statement.name if statement.kind in ("table", "view") else ""
    return Node(statement, text, tuple(sorted(tables & created - {created_name})), placeholders, LOGS in tables)


@functools.lru_cache(maxsize=CACHE_SIZE)
def parse_statement(statement: Statement) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Return the text of a statement, the tables that it names, and its placeholders for constants."""
    is_created = statement.kind in ("table", "view")
    text = build_create_sql(statement) if is_created else dialect.to_sql(statement.query)
    tables = frozenset(table.name for table in find_tables(statement.query))
    placeholders = {str(placeholder.this) for placeholder in statement.query.find_all(exp.Placeholder)}
    return text, tables, tuple(sorted(placeholders))


def hash_nodes(graph: Iterable[Node], constants: Mapping[str, object], raw: str, logs: str) -> dict[str, str]:
    """Return statement name -> hash of its text, its constants, the engine, and the tables that it reads.

    Views read the raw data, whose hash is `raw`.  Their rows, and all rows that are read from logs, also depend on the
    rules that recognize the records of events, whose hash is `logs`.
    """
    hashes: dict[str, str] = {}
    for node in graph:
        is_view = node.statement.kind == "view"
        body = {
            "text": _define_view(node) if is_view else node.text,
            "constants": {name: repr(constants[name]) for name in node.placeholders},
            "reads": [hashes[name] for name in node.reads],
            "raw": raw if is_view or node.reads_logs else "",
            "logs": logs if is_view or node.reads_logs else "",
            "engine": get_engine_version(),
        }
        hashes[node.name] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return hashes


def list_unused_tables(
    graph: Iterable[Node], needed: Collection[str], existing: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return statement name -> the tables that no needed statement after it reads.

    Tables in `existing` exist already, and are left out.
    """
    last_reader: dict[str, str] = {}
    for node in graph:
        if node.name in needed:
            last_reader |= {name: node.name for name in node.reads if name in last_reader}
            if node.statement.kind == "table" and node.name not in existing:
                last_reader[node.name] = node.name
    tables_by_reader: dict[str, tuple[str, ...]] = {}
    for table, reader in last_reader.items():
        tables_by_reader[reader] = (*tables_by_reader.get(reader, ()), table)
    return tables_by_reader


def get_engine_version() -> str:
    """Return the version of the engine, as it enters hashes."""
    import duckdb

    return f"duckdb {duckdb.__version__}"


def _define_view(node: Node) -> str:
    """Return what a view selects, and the definition of its event."""
    return f"{node.text} {node.statement.step!r}"


def collect_needed(graph: Sequence[Node], outputs: set[str], existing: Collection[str] = ()) -> set[str]:
    """Return `outputs` and all tables and views that they read, directly or indirectly.

    Tables in `existing` exist already: what they read is not needed.
    """
    nodes_by_name = {node.name: node for node in graph}
    names: set[str] = set()
    queue = sorted(outputs)
    while queue:
        name = queue.pop()
        if name not in names:
            names.add(name)
            queue.extend(nodes_by_name[name].reads if name not in existing else ())
    return names
