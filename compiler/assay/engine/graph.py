"""Content hashes of statements: of their text and of all that they read, down to the raw files."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.lang.scopes import LOGS
from assay.sql import dialect
from assay.sql.codegen import KEPT, Statement, creation


@dataclass(frozen=True, slots=True)
class Node:
    """A statement with its text, the tables that it reads, the places of constants in it, and whether it reads what
    the run's logs hold (the table that every run has)."""

    statement: Statement
    text: str
    reads: tuple[str, ...]
    places: tuple[str, ...]
    logs: bool

    @property
    def name(self) -> str:
        """Name of the statement."""
        return self.statement.name


def nodes(statements: Sequence[Statement]) -> tuple[Node, ...]:
    """The statements with what they read of each other."""
    made = {item.name for item in statements if item.kind in ("table", "view")}
    return tuple(_node(item, made) for item in statements)


def _node(statement: Statement, made: set[str]) -> Node:
    text, named, places = parse_statement(statement)
    own = statement.name if statement.kind in ("table", "view") else ""
    return Node(statement, text, tuple(sorted(named & made - {own})), places, LOGS in named)


@functools.lru_cache(maxsize=KEPT)
def parse_statement(statement: Statement) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """The text of a statement, the tables that are named in it, and the places of constants in it."""
    kept = statement.kind in ("table", "view")
    text = creation(statement) if kept else dialect.text(statement.query)
    named = frozenset(table.name for table in statement.query.find_all(exp.Table))
    places = {str(place.this) for place in statement.query.find_all(exp.Placeholder)}
    return text, named, tuple(sorted(places))


def content_hashes(graph: Iterable[Node], constants: Mapping[str, object], raw: str, logs: str) -> dict[str, str]:
    """Statement name -> hash of its text, its constants, the engine, and all that it reads.

    Views read the raw data `raw`; what they find there, and what is read of the logs, depends on how the records of all
    events are recognised, too: `logs`.
    """
    hashes: dict[str, str] = {}
    for node in graph:
        view = node.statement.kind == "view"
        body = {
            "text": _definition(node) if view else node.text,
            "constants": {name: repr(constants[name]) for name in node.places},
            "reads": [hashes[name] for name in node.reads],
            "raw": raw if view or node.logs else "",
            "logs": logs if view or node.logs else "",
            "engine": engine_version(),
        }
        hashes[node.name] = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return hashes


def outlived(graph: Iterable[Node], needed: Collection[str], there: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Statement name -> the tables that no needed statement after it reads; not those that are there already."""
    last: dict[str, str] = {}
    for node in graph:
        if node.name in needed:
            last |= {name: node.name for name in node.reads if name in last}
            if node.statement.kind == "table" and node.name not in there:
                last[node.name] = node.name
    found: dict[str, tuple[str, ...]] = {}
    for table, reader in last.items():
        found[reader] = (*found.get(reader, ()), table)
    return found


def engine_version() -> str:
    """Version of the engine, as hashes name it."""
    import duckdb

    return f"duckdb {duckdb.__version__}"


def _definition(node: Node) -> str:
    """What a view selects, and of what: the event as it is defined."""
    return f"{node.text} {node.statement.step!r}"


def demanded(graph: Sequence[Node], wanted: set[str], there: Collection[str] = ()) -> set[str]:
    """The wanted statements and all tables and views that they read, directly or not; not what those read that are
    there already."""
    by_name = {node.name: node for node in graph}
    found: set[str] = set()
    queue = sorted(wanted)
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue.extend(by_name[name].reads if name not in there else ())
    return found
