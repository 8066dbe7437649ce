"""Find the constants and columns that a SQL text reads, by its syntax tree: maybe too many, never too few.

A query that takes columns without naming them (by a star, a whole row as a value, by position) reads all columns; so
does a query that cannot be parsed.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

DIALECT = "duckdb"
#: clauses that read columns without naming them
_CLAUSES = ("Columns", "PositionalColumn", "Pivot", "Command", "Summarize", "Describe")
#: names of the node classes that are examined; none has subclasses in sqlglot
_KINDS = {"Anonymous", "Group", "Identifier", "Join", "Placeholder", "Star", "Table", "TableAlias", "Var", *_CLAUSES}


@dataclass(frozen=True, slots=True)
class Reads:
    """What a text reads: its constants, and names of columns in lower case (None: all columns)."""

    constants: frozenset[str]
    names: frozenset[str] | None

    def filter_columns(self, columns: Collection[str]) -> set[str]:
        """Return the columns that are read.  The engine ignores case."""
        return {name for name in columns if self.names is None or name.casefold() in self.names}


@functools.lru_cache(maxsize=512)
def parse_statements(sql: str) -> tuple[exp.Expr, ...]:
    """Return the parsed statements of a text; the trees are shared and must not be changed.

    Raises sqlglot's ParseError or TokenError, and RecursionError.
    """
    import sqlglot.dialects.duckdb  # import before any thread looks the dialect up by name

    logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # Assay reports what it cannot parse
    trees = tuple(item for item in sqlglot.parse(sql, read=DIALECT) if item is not None)
    for tree in trees:
        drop_positions(tree)
    return trees


def drop_positions(tree: exp.Expr) -> None:
    """Remove the positions of all nodes but calls, which errors point at; copying them takes longer than the nodes."""
    from sqlglot import exp

    for node in tree.walk():
        if node._meta and not isinstance(node, exp.Func):
            node._meta = None


def find_reads(sql: str, tables: Collection[str], whole: Collection[str]) -> Reads:
    """Return what a text reads of its tables.

    A star over one of the tables `whole` does not count: all their columns are required anyway.
    """
    return _find_reads(sql, _fold_case(tables), _fold_case(whole))


def _fold_case(names: Collection[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


@functools.cache
def _find_reads(sql: str, tables: frozenset[str], whole: frozenset[str]) -> Reads:
    import sqlglot.dialects.duckdb  # import before any thread looks the dialect up by name
    from sqlglot.errors import ParseError, TokenError

    try:
        trees = [_Nodes.collect_nodes(tree) for tree in parse_statements(sql)]
        tokens = sqlglot.tokenize(sql, read=DIALECT)
    except (ParseError, TokenError, RecursionError):
        return Reads(frozenset(re.findall(r"\$(\w+)", sql)), None)
    constants = frozenset(str(place.this) for nodes in trees for place in nodes["Placeholder"])
    if any(_needs_all_columns(nodes, tables, whole) for nodes in trees):
        return Reads(constants, None)
    names = (token.text.casefold() for token in tokens if sql[token.start] != "'")
    return Reads(constants, frozenset(names))


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of a tree by class name, as far as they are examined: walking a tree is slow."""

    tree: exp.Expr
    by_kind: Mapping[str, Sequence[exp.Expr]]

    @classmethod
    def collect_nodes(cls, tree: exp.Expr) -> _Nodes:
        """Collect the nodes of a tree."""
        by_kind: dict[str, list[exp.Expr]] = {}
        for node in tree.walk():
            kind = type(node).__name__
            if kind in _KINDS:
                by_kind.setdefault(kind, []).append(node)
        return cls(tree, by_kind)

    def __getitem__(self, kind: str) -> Sequence[exp.Expr]:
        return self.by_kind.get(kind, ())


def _needs_all_columns(nodes: _Nodes, tables: frozenset[str], whole: frozenset[str]) -> bool:
    """Return whether a query reads columns that it does not name."""
    return _has_unnamed_columns(nodes) or any(_find_row_values(nodes, tables)) or any(_find_stars(nodes, whole))


def _has_unnamed_columns(nodes: _Nodes) -> bool:
    """Return whether a clause reads columns without naming them, or renames columns by position."""
    aliases = (table.args.get("alias") for table in nodes["Table"])
    return (
        any(nodes[clause] for clause in _CLAUSES)
        or any(join.text("method").upper() == "NATURAL" for join in nodes["Join"])
        or any(group.args.get("all") for group in nodes["Group"])
        or any(alias and alias.args.get("columns") for alias in aliases)
        or any(call.name.casefold() == "columns" for call in nodes["Anonymous"])
    )


def _find_stars(nodes: _Nodes, whole: frozenset[str]) -> Iterator[exp.Expr]:
    """Yield the stars that read columns: not those of counts, and not those over a whole table."""
    from sqlglot import exp

    aliases = {item.name.casefold() for item in nodes["TableAlias"]}  # of subqueries, too
    for star in nodes["Star"]:
        parent = star.parent
        table = parent.table.casefold() if isinstance(parent, exp.Column) else ""
        is_count = isinstance(parent, exp.Count)
        if not is_count and (table not in whole or table in aliases):
            yield star


def _find_row_values(nodes: _Nodes, tables: frozenset[str]) -> Iterator[exp.Expr]:
    """Yield the names of tables that are used as values, which may be whole rows (`to_json(t)`).

    These are the names that are not plainly a table, a column of a table, or a result.
    """
    from sqlglot import exp

    table_nodes = nodes["Table"]
    table_names = {item.alias_or_name.casefold() for item in (*table_nodes, *nodes["TableAlias"])}
    queries_by_table: dict[str, list[exp.Expr]] = {}
    for item in table_nodes:
        if item.name.casefold() in tables:
            queries_by_table.setdefault(item.alias_or_name.casefold(), []).append(
                item.find_ancestor(exp.Select) or nodes.tree
            )
    for name in (*nodes["Identifier"], *nodes["Var"]):
        queries = queries_by_table.get(name.name.casefold(), [])
        if queries and not _is_name_reference(name, table_names) and any(_is_inside(name, query) for query in queries):
            yield name


def _is_name_reference(name: exp.Expr, tables: Collection[str]) -> bool:
    """Return whether a word names a table, a column of one of the tables, or a result, where it is used."""
    from sqlglot import exp

    parent, role = name.parent, name.arg_key
    if isinstance(parent, exp.Column):
        return role != "this" or parent.table.casefold() in tables
    return (
        isinstance(parent, (exp.Table, exp.TableAlias))
        or role == "alias"
        or (role == "expression" and isinstance(parent, exp.Dot))
    )


def _is_inside(node: exp.Expr | None, query: exp.Expr) -> bool:
    """Return whether a query contains a node, at any depth."""
    while node is not None and node is not query:
        node = node.parent
    return node is query
