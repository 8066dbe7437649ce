"""Where the columns of a query come from, by the query's own tree: column-level lineage of one statement.

Of each output column: the columns that its value is computed of, and those that pick the row it is taken from (the
conditions of a join that adds at most one row).  Of the query: the columns that decide which rows it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import walk_in_scope

from assay.sql import dialect

Schema = Mapping[str, tuple[str, ...]]
"""Table -> names of its columns."""

#: stands for the rows of a table, which a query that reads the table depends on
ROWS = "*"
#: stands for the table whose columns are the constants of a run; no name of a table looks so
CONSTANTS = "$"


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A column of a table that a query reads."""

    table: str
    column: str


Origins = frozenset[Origin]
NONE: Origins = frozenset()


@dataclass(frozen=True, slots=True)
class ColumnOrigins:
    """What a query's columns are made of, by name; `picks` decide on a column's row, `rows` on all rows.

    `counted` are the tables (as their rows) whose rows become rows of the query: what a number of them is made of.
    """

    values: Mapping[str, Origins]
    picks: Mapping[str, Origins]
    rows: Origins
    counted: Origins = NONE

    @property
    def everything(self) -> Origins:
        """All columns that have any part in it."""
        return _union((*self.values.values(), *self.picks.values(), self.rows))


def qualified(query: exp.Expr, schema: Schema) -> exp.Expr:
    """A copy of a query in which every column names its source, and `*` is written out."""
    tree = query.copy()
    for item in list(tree.find_all(exp.Lambda)):
        _free(item)
    kinds: dict[str, object] = {name: dict.fromkeys(columns, "INT") for name, columns in _read(query, schema).items()}
    return qualify(
        tree,
        dialect=dialect.DIALECT,
        schema=kinds,
        quote_identifiers=False,
        identify=False,
        expand_alias_refs=False,
    )


def _read(query: exp.Expr, schema: Schema) -> Schema:
    """The tables of a schema that a query may read."""
    named = {item.name.lower() for item in query.find_all(exp.Table)}
    return {name: columns for name, columns in schema.items() if name.lower() in named}


def _free(item: exp.Lambda) -> None:
    """Let the variables of a lambda be no columns."""
    names = {parameter.name for parameter in item.expressions}
    for column in list(item.this.find_all(exp.Column)):
        if column.name in names and not column.table:
            column.replace(exp.to_identifier(column.name))


def trace_columns(query: exp.Expr, schema: Schema) -> ColumnOrigins:
    """What a query (not qualified yet) is made of.

    The engine does not tell upper case from lower case in names: they are given back as the schema and the query write
    them.  What a text is made of is remembered: the statements of many metrics are the same.
    """
    key = (query.sql(dialect.DIALECT), tuple(sorted(_read(query, schema).items())))
    if key not in _REMEMBERED:
        _REMEMBERED[key] = trace_qualified(query, schema)
    return _REMEMBERED[key]


_REMEMBERED: dict[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ColumnOrigins] = {}


def trace_qualified(query: exp.Expr, schema: Schema) -> ColumnOrigins:
    found = _query(qualified(query, schema), {}, {})
    names = {(table.lower(), ROWS): Origin(table, ROWS) for table in schema}
    names |= {(table.lower(), item.lower()): Origin(table, item) for table, items in schema.items() for item in items}
    outputs = {item.alias_or_name.lower(): item.alias_or_name for item in _outputs(query)}

    def written(origins: Origins) -> Origins:
        return frozenset(names.get((item.table.lower(), item.column.lower()), item) for item in origins)

    def columns(of: Mapping[str, Origins]) -> dict[str, Origins]:
        return {outputs.get(name, name): written(origins) for name, origins in of.items()}

    return ColumnOrigins(columns(found.values), columns(found.picks), written(found.rows), written(found.counted))


def _outputs(query: exp.Expr) -> list[exp.Expr]:
    """What a query yields; of a union what its first part does."""
    while not isinstance(query, exp.Select):
        query = query.this
    return list(query.selects)


@dataclass(slots=True)
class _Sources:
    """The sources of a SELECT by their aliases, and what decides which row of one is joined."""

    found: dict[str, ColumnOrigins | str] = field(default_factory=dict)
    picks: dict[str, Origins] = field(default_factory=dict)
    beside: set[str] = field(default_factory=set)  # those that add no rows

    def values(self, alias: str, column: str) -> Origins:
        """What a column of a source is computed of."""
        source = self.found[alias]
        return frozenset((Origin(source, column),)) if isinstance(source, str) else source.values.get(column, NONE)

    def rows(self) -> Origins:
        """What decides how many rows the sources have."""
        return _union(
            frozenset((Origin(item, ROWS),)) if isinstance(item, str) else item.rows for item in self.found.values()
        )

    def counted(self) -> Origins:
        """The tables whose rows become rows of the query."""
        return _union(
            frozenset((Origin(item, ROWS),)) if isinstance(item, str) else item.counted
            for alias, item in self.found.items()
            if alias not in self.beside
        )

    def picking(self, alias: str, column: str) -> Origins:
        """What decides from which row a column of a source is taken."""
        source = self.found[alias]
        inner = NONE if isinstance(source, str) else source.picks.get(column, NONE)
        return inner | self.picks.get(alias, NONE)


Known = Mapping[str, ColumnOrigins]


def _query(tree: exp.Expr, known: Known, outer: Mapping[str, _Sources]) -> ColumnOrigins:
    """What a query is made of; `known` are named queries around it, `outer` the sources of those that it stands in."""
    if isinstance(tree, (exp.Subquery, exp.Paren)) and not isinstance(tree.this, exp.Table):
        return _query(tree.this, _named(tree, known, outer), outer)
    known = _named(tree, known, outer)
    if isinstance(tree, exp.SetOperation):
        return _both(_query(tree.this, known, outer), _query(tree.expression, known, outer), tree)
    assert isinstance(tree, exp.Select), f"no query: {tree!r}"
    return _select(tree, known, outer)


def _named(tree: exp.Expr, known: Known, outer: Mapping[str, _Sources]) -> dict[str, ColumnOrigins]:
    """The named queries that a query may read, its own among them."""
    inside = dict(known)
    own = tree.args.get("with_")
    recursive = bool(own and own.args.get("recursive"))
    for item in own.expressions if own else ():
        names = [column.name for column in item.args["alias"].args.get("columns") or ()]
        if recursive and isinstance(item.this, exp.SetOperation):
            inside[item.alias] = _query(item.this.this, inside, outer)
            while (again := _query(item.this, inside, outer)) != inside[item.alias]:
                inside[item.alias] = again
        else:
            inside[item.alias] = _query(item.this, inside, outer)
        if names:
            inside[item.alias] = _renamed(inside[item.alias], names)
    return inside


def _renamed(found: ColumnOrigins, names: Iterable[str]) -> ColumnOrigins:
    pairs = list(zip(found.values, names, strict=True))
    return ColumnOrigins(
        {new: found.values[old] for old, new in pairs},
        {new: found.picks[old] for old, new in pairs},
        found.rows,
        found.counted,
    )


def _both(left: ColumnOrigins, right: ColumnOrigins, tree: exp.SetOperation) -> ColumnOrigins:
    """A union (or difference) of queries, column by column in their order."""
    pairs = list(zip(left.values, right.values, strict=True))
    values = {name: left.values[name] | right.values[other] for name, other in pairs}
    picks = {name: left.picks[name] | right.picks[other] for name, other in pairs}
    rows = left.rows | right.rows
    alike = isinstance(tree, exp.Union) and not tree.args.get("distinct")
    counted = left.counted | right.counted if isinstance(tree, exp.Union) else left.counted
    return ColumnOrigins(values, picks, rows if alike else _union((rows, *values.values(), *picks.values())), counted)


def _select(tree: exp.Select, known: Known, outer: Mapping[str, _Sources]) -> ColumnOrigins:
    sources = _Sources()
    rows: set[Origin] = set()
    start = tree.args.get("from_")
    if start is not None:
        rows |= _source(start.this, sources, known, outer)
    for join in tree.args.get("joins") or ():
        rows |= _join(join, sources, known, outer)
    reading = _Reading(sources, known, outer)
    for clause in ("where", "having", "qualify", "group", "distinct"):
        part = tree.args.get(clause)
        if part is not None:
            rows |= reading.everything(part)
    if tree.args.get("limit") is not None or tree.args.get("offset") is not None:
        rows |= reading.everything(tree.args["order"]) if tree.args.get("order") is not None else NONE
    windows = {item.name: item for item in tree.args.get("windows") or ()}
    values, picks = {}, {}
    for item in tree.selects:
        value, picked = reading.columns(item)
        for used in item.find_all(exp.Window):
            if (defined := windows.get(used.alias)) is not None:
                more, choosing = reading.columns(defined)
                value, picked = value | more, picked | choosing
        values[item.alias_or_name], picks[item.alias_or_name] = value, picked
    if tree.args.get("distinct") is not None:
        rows |= _union((*values.values(), *picks.values()))
    return ColumnOrigins(values, picks, frozenset(rows), sources.counted())


def _source(item: exp.Expr, sources: _Sources, known: Known, outer: Mapping[str, _Sources]) -> Origins:
    """Add a source; what decides which rows it has."""
    alias = item.alias_or_name
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
        sources.found[alias] = known.get(item.name, item.name)
    else:
        sources.found[alias] = _query(item, known, outer)
    found = sources.found[alias]
    return frozenset((Origin(found, ROWS),)) if isinstance(found, str) else found.rows


def _join(join: exp.Join, sources: _Sources, known: Known, outer: Mapping[str, _Sources]) -> Origins:
    """Add a joined source; what it does to the rows of the query."""
    inside = _source(join.this, sources, known, outer)
    alias = join.this.alias_or_name
    condition = join.args.get("on")
    deciding = _Reading(sources, known, outer).everything(condition) if condition is not None else NONE
    if join.kind in ("SEMI", "ANTI"):
        sources.beside.add(alias)
    if join.side == "LEFT":
        sources.picks[alias] = inside | deciding
        if _adds_none(join):
            sources.beside.add(alias)
            return NONE
    return inside | deciding


def _adds_none(join: exp.Join) -> bool:
    """Whether a left join finds at most one row for each: the last before, or rows grouped by what they agree on."""
    if join.method == "ASOF":
        return True
    inner = join.this.this if isinstance(join.this, exp.Subquery) else None
    grouped = inner.args.get("group") if isinstance(inner, exp.Select) else None
    condition = join.args.get("on")
    if grouped is None or condition is None or not isinstance(inner, exp.Select):
        return False
    alias = join.this.alias_or_name
    agreed = {
        side.name
        for equal in condition.find_all(exp.EQ)
        for side in (equal.this, equal.expression)
        if isinstance(side, exp.Column) and side.table == alias
    }
    keys = {key.sql() for key in grouped.expressions}
    return keys <= {item.unalias().sql() for item in inner.selects if item.alias_or_name in agreed}


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads expressions of a SELECT."""

    sources: _Sources
    known: Known
    outer: Mapping[str, _Sources]

    def columns(self, node: exp.Expr) -> tuple[Origins, Origins]:
        """What an expression is computed of, and what picks the rows of that."""
        values: set[Origin] = set()
        picks: set[Origin] = set()
        for item in _nodes(node):
            if isinstance(item, exp.Column):
                holder = self.holder(item.table)
                if holder:
                    values |= holder.values(item.table, item.name)
                    picks |= holder.picking(item.table, item.name)
            elif isinstance(item, exp.Placeholder):
                values.add(Origin(CONSTANTS, str(item.this)))
            elif isinstance(item, exp.Count) and isinstance(item.this, (exp.Star, exp.Literal)):
                counted = self.sources.counted()
                values |= counted
                picks |= self.sources.rows() - counted
            elif item is not node and isinstance(item, (exp.Select, exp.SetOperation)):
                inner = _query(item, self.known, {**self.outer, **dict.fromkeys(self.sources.found, self.sources)})
                values |= _union(inner.values.values())
                picks |= inner.rows | _union(inner.picks.values())
        return frozenset(values), frozenset(picks)

    def holder(self, alias: str) -> _Sources | None:
        """The sources among which an alias is: this query's, or those of a query around it."""
        return self.sources if alias in self.sources.found else self.outer.get(alias)

    def everything(self, node: exp.Expr) -> Origins:
        """All columns that have a part in an expression."""
        values, picks = self.columns(node)
        return values | picks


def _nodes(node: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression, and the queries in it without what is inside them."""
    return walk_in_scope(node, prune=lambda item: item is not node and isinstance(item, (exp.Select, exp.SetOperation)))


def _union(parts: Iterable[Origins]) -> Origins:
    return frozenset().union(*parts)
