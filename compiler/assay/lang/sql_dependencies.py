"""What the text of a query reads of its tables: told by its tree, so that it may be more than it needs, never less.

A query that takes columns without naming them (by a star, a whole row as a value, by their places) reads all that there
are; so does one that cannot be read.
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
#: clauses that stand for columns that they do not name
_CLAUSES = ("Columns", "PositionalColumn", "Pivot", "Command", "Summarize", "Describe")
#: nodes that are looked at: classes of the library that have none below them
_KINDS = {"Anonymous", "Group", "Identifier", "Join", "Placeholder", "Star", "Table", "TableAlias", "Var", *_CLAUSES}


@dataclass(frozen=True, slots=True)
class Reads:
    """What a text reads: its constants, and of its tables the columns of these names in lower case (None: all)."""

    constants: frozenset[str]
    names: frozenset[str] | None

    def among(self, known: Collection[str]) -> set[str]:
        """Of known columns those that are read: the engine does not tell upper case from lower case."""
        return {name for name in known if self.names is None or name.casefold() in self.names}


@functools.lru_cache(maxsize=512)
def statements(sql: str) -> tuple[exp.Expr, ...]:
    """The trees of a text, which are shared: not to be changed.  Raises sqlglot's ParseError or TokenError, and
    RecursionError."""
    import sqlglot.dialects.duckdb  # complete before any thread looks it up by name

    logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # what it cannot parse is told by us
    return tuple(item for item in sqlglot.parse(sql, read=DIALECT) if item is not None)


def reads(sql: str, tables: Collection[str], whole: Collection[str]) -> Reads:
    """What a text reads of tables, and of those that are `whole` anyway, whose rows it names nothing of by a star."""
    return _reads(sql, _lower(tables), _lower(whole))


def _lower(names: Collection[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


@functools.cache
def _reads(sql: str, tables: frozenset[str], whole: frozenset[str]) -> Reads:
    import sqlglot.dialects.duckdb  # complete before any thread looks it up by name
    from sqlglot.errors import ParseError, TokenError

    try:
        trees = [_Nodes.of(tree) for tree in statements(sql)]
        tokens = sqlglot.tokenize(sql, read=DIALECT)
    except (ParseError, TokenError, RecursionError):
        return Reads(frozenset(re.findall(r"\$(\w+)", sql)), None)
    constants = frozenset(str(place.this) for nodes in trees for place in nodes["Placeholder"])
    if any(_takes_all(nodes, tables, whole) for nodes in trees):
        return Reads(constants, None)
    names = (token.text.casefold() for token in tokens if sql[token.start] != "'")
    return Reads(constants, frozenset(names))


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of a tree by their kind, as far as these matter here: to go through a tree takes long."""

    tree: exp.Expr
    by_kind: Mapping[str, Sequence[exp.Expr]]

    @classmethod
    def of(cls, tree: exp.Expr) -> _Nodes:
        """Those of a tree."""
        found: dict[str, list[exp.Expr]] = {}
        for node in tree.walk():
            kind = type(node).__name__
            if kind in _KINDS:
                found.setdefault(kind, []).append(node)
        return cls(tree, found)

    def __getitem__(self, kind: str) -> Sequence[exp.Expr]:
        return self.by_kind.get(kind, ())


def _takes_all(nodes: _Nodes, tables: frozenset[str], whole: frozenset[str]) -> bool:
    """Whether a query takes columns that it does not name."""
    return _is_unnamed(nodes) or any(_rows(nodes, tables)) or any(_stars(nodes, whole))


def _is_unnamed(nodes: _Nodes) -> bool:
    """Whether a clause stands for columns that it does not name, or gives names to columns by their places."""
    aliases = (table.args.get("alias") for table in nodes["Table"])
    return (
        any(nodes[clause] for clause in _CLAUSES)
        or any(join.text("method").upper() == "NATURAL" for join in nodes["Join"])
        or any(group.args.get("all") for group in nodes["Group"])
        or any(alias and alias.args.get("columns") for alias in aliases)
        or any(call.name.casefold() == "columns" for call in nodes["Anonymous"])
    )


def _stars(nodes: _Nodes, whole: frozenset[str]) -> Iterator[exp.Expr]:
    """The stars that take columns: none that counts rows, and none of a table that is whole."""
    from sqlglot import exp

    renamed = {item.name.casefold() for item in nodes["TableAlias"]}  # of queries inside, too
    for star in nodes["Star"]:
        parent = star.parent
        of = parent.table.casefold() if isinstance(parent, exp.Column) else ""
        counts = isinstance(parent, exp.Count)
        if not counts and (of not in whole or of in renamed):
            yield star


def _rows(nodes: _Nodes, tables: frozenset[str]) -> Iterator[exp.Expr]:
    """The names of tables that stand where values do, and may be whole rows there (`to_json(t)`): whichever do not
    plainly name a table, a column of a table, or a result."""
    from sqlglot import exp

    found = nodes["Table"]
    named = {item.alias_or_name.casefold() for item in (*found, *nodes["TableAlias"])}
    rows: dict[str, list[exp.Expr]] = {}
    for item in found:
        if item.name.casefold() in tables:
            rows.setdefault(item.alias_or_name.casefold(), []).append(item.find_ancestor(exp.Select) or nodes.tree)
    for name in (*nodes["Identifier"], *nodes["Var"]):
        around = rows.get(name.name.casefold(), [])
        if around and not _is_plain(name, named) and any(_is_inside(name, query) for query in around):
            yield name


def _is_plain(name: exp.Expr, tables: Collection[str]) -> bool:
    """Whether a word names a table, a column of one of the tables, or a result, where it stands."""
    from sqlglot import exp

    parent, place = name.parent, name.arg_key
    if isinstance(parent, exp.Column):
        return place != "this" or parent.table.casefold() in tables
    return (
        isinstance(parent, (exp.Table, exp.TableAlias))
        or place == "alias"
        or (place == "expression" and isinstance(parent, exp.Dot))
    )


def _is_inside(node: exp.Expr | None, query: exp.Expr) -> bool:
    """Whether a node stands in a query, however deep."""
    while node is not None and node is not query:
        node = node.parent
    return node is query
