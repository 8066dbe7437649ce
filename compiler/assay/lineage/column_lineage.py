"""Trace the columns of one query to the columns of the tables that it reads.

For each output column: the columns that its value is computed from, and those that pick the row of the value (the
conditions of a join that adds at most one row). For the query: the columns that decide which rows it returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import OptimizeError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import walk_in_scope

from assay.sql import dialect

Schema = Mapping[str, tuple[str, ...]]
"""Table -> names of its columns."""

#: the column name of a table's rows, on which every query that reads the table depends
ROWS = "*"
#: the table name of the constants of a run; no real table can have it
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
    """The origins of a query's columns, by column name.

    `picks` decide which row a value is taken from, `rows` which rows the query returns. `counted` are the tables whose
    rows become rows of the query: the origins of a `count(*)`.
    """

    values: Mapping[str, Origins]
    picks: Mapping[str, Origins]
    rows: Origins
    counted: Origins = NONE

    @property
    def all_origins(self) -> Origins:
        """Return all columns that have a part in the query."""
        return _unite((*self.values.values(), *self.picks.values(), self.rows))


def qualify_columns(query: exp.Expr, schema: Schema) -> exp.Expr:
    """Return a copy of a query in which every column names its source and `*` is expanded."""
    try:
        return _qualify(query, schema, expand_alias_refs=False)
    except OptimizeError:  # the query uses a name that it defines itself, as in `GROUP BY alias`
        return _qualify(query, schema, expand_alias_refs=True)


def _qualify(query: exp.Expr, schema: Schema, *, expand_alias_refs: bool) -> exp.Expr:
    tree = query.copy()
    for item in list(tree.find_all(exp.Lambda)):
        _unbind_lambda(item)
    kinds: dict[str, object] = {
        name: dict.fromkeys(columns, "INT") for name, columns in _restrict_schema(query, schema).items()
    }
    return qualify(
        tree,
        dialect=dialect.DIALECT,
        schema=kinds,
        quote_identifiers=False,
        identify=False,
        expand_alias_refs=expand_alias_refs,
    )


def _restrict_schema(query: exp.Expr, schema: Schema) -> Schema:
    """Return the tables of a schema that a query may read."""
    named = {item.name.lower() for item in query.find_all(exp.Table)}
    return {name: columns for name, columns in schema.items() if name.lower() in named}


def _unbind_lambda(item: exp.Lambda) -> None:
    """Turn the parameters of a lambda into identifiers, so that they are not taken for columns."""
    names = {parameter.name for parameter in item.expressions}
    for column in list(item.this.find_all(exp.Column)):
        if column.name in names and not column.table:
            column.replace(exp.to_identifier(column.name))


def trace_columns(query: exp.Expr, schema: Schema) -> ColumnOrigins:
    """Return the origins of a query's columns; the query need not be qualified.

    The engine ignores case in names: they are returned as the schema and the query write them. Results are cached by
    text, since many metrics share statements.
    """
    key = (query.sql(dialect.DIALECT), tuple(sorted(_restrict_schema(query, schema).items())))
    if key not in _CACHE:
        _CACHE[key] = trace_qualified(query, schema)
    return _CACHE[key]


_CACHE: dict[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ColumnOrigins] = {}


def trace_qualified(query: exp.Expr, schema: Schema) -> ColumnOrigins:
    """Return the origins of a query's columns, without the cache."""
    traced = _trace_query(qualify_columns(query, schema), {}, {})
    names = {(table.lower(), ROWS): Origin(table, ROWS) for table in schema}
    names |= {(table.lower(), item.lower()): Origin(table, item) for table, items in schema.items() for item in items}
    outputs = {item.alias_or_name.lower(): item.alias_or_name for item in _get_outputs(query)}

    def restore_case(origins: Origins) -> Origins:
        return frozenset(names.get((item.table.lower(), item.column.lower()), item) for item in origins)

    def restore_names(by_column: Mapping[str, Origins]) -> dict[str, Origins]:
        return {outputs.get(name, name): restore_case(origins) for name, origins in by_column.items()}

    return ColumnOrigins(
        restore_names(traced.values),
        restore_names(traced.picks),
        restore_case(traced.rows),
        restore_case(traced.counted),
    )


def _get_outputs(query: exp.Expr) -> list[exp.Expr]:
    """Return the output columns of a query; of a union those of its first part."""
    while not isinstance(query, exp.Select):
        query = query.this
    return list(query.selects)


@dataclass(slots=True)
class _Sources:
    """The sources of a SELECT by alias, and what decides which row of a source is joined."""

    by_alias: dict[str, ColumnOrigins | str] = field(default_factory=dict)
    picks: dict[str, Origins] = field(default_factory=dict)
    adds_no_rows: set[str] = field(default_factory=set)  # aliases of joins that add no rows

    def get_value_origins(self, alias: str, column: str) -> Origins:
        """Return the origins of a source column's value."""
        source = self.by_alias[alias]
        return frozenset((Origin(source, column),)) if isinstance(source, str) else source.values.get(column, NONE)

    def get_row_origins(self) -> Origins:
        """Return what decides how many rows the sources have."""
        return _unite(
            frozenset((Origin(item, ROWS),)) if isinstance(item, str) else item.rows for item in self.by_alias.values()
        )

    def get_counted_origins(self) -> Origins:
        """Return the tables whose rows become rows of the query."""
        return _unite(
            frozenset((Origin(item, ROWS),)) if isinstance(item, str) else item.counted
            for alias, item in self.by_alias.items()
            if alias not in self.adds_no_rows
        )

    def get_pick_origins(self, alias: str, column: str) -> Origins:
        """Return what decides which row a source column is taken from."""
        source = self.by_alias[alias]
        inner = NONE if isinstance(source, str) else source.picks.get(column, NONE)
        return inner | self.picks.get(alias, NONE)


Ctes = Mapping[str, ColumnOrigins]


def _trace_query(tree: exp.Expr, ctes: Ctes, outer: Mapping[str, _Sources]) -> ColumnOrigins:
    """Trace a query; `ctes` are visible CTEs, `outer` the sources of the enclosing queries."""
    if isinstance(tree, (exp.Subquery, exp.Paren)) and not isinstance(tree.this, exp.Table):
        return _trace_query(tree.this, _trace_ctes(tree, ctes, outer), outer)
    ctes = _trace_ctes(tree, ctes, outer)
    if isinstance(tree, exp.SetOperation):
        return _combine(_trace_query(tree.this, ctes, outer), _trace_query(tree.expression, ctes, outer), tree)
    assert isinstance(tree, exp.Select), f"no query: {tree!r}"
    return _trace_select(tree, ctes, outer)


def _trace_ctes(tree: exp.Expr, ctes: Ctes, outer: Mapping[str, _Sources]) -> dict[str, ColumnOrigins]:
    """Return the CTEs that a query may read, including its own."""
    visible = dict(ctes)
    clause = tree.args.get("with_")
    recursive = bool(clause and clause.args.get("recursive"))
    for item in clause.expressions if clause else ():
        names = [column.name for column in item.args["alias"].args.get("columns") or ()]
        if recursive and isinstance(item.this, exp.SetOperation):
            visible[item.alias] = _trace_query(item.this.this, visible, outer)
            while (again := _trace_query(item.this, visible, outer)) != visible[item.alias]:
                visible[item.alias] = again
        else:
            visible[item.alias] = _trace_query(item.this, visible, outer)
        if names:
            visible[item.alias] = _rename_columns(visible[item.alias], names)
    return visible


def _rename_columns(origins: ColumnOrigins, names: Iterable[str]) -> ColumnOrigins:
    pairs = list(zip(origins.values, names, strict=True))
    return ColumnOrigins(
        {new: origins.values[old] for old, new in pairs},
        {new: origins.picks[old] for old, new in pairs},
        origins.rows,
        origins.counted,
    )


def _combine(left: ColumnOrigins, right: ColumnOrigins, tree: exp.SetOperation) -> ColumnOrigins:
    """Combine the origins of both sides of a set operation, column by column."""
    pairs = list(zip(left.values, right.values, strict=True))
    values = {name: left.values[name] | right.values[right_name] for name, right_name in pairs}
    picks = {name: left.picks[name] | right.picks[right_name] for name, right_name in pairs}
    rows = left.rows | right.rows
    keeps_duplicates = isinstance(tree, exp.Union) and not tree.args.get("distinct")
    counted = left.counted | right.counted if isinstance(tree, exp.Union) else left.counted
    return ColumnOrigins(
        values, picks, rows if keeps_duplicates else _unite((rows, *values.values(), *picks.values())), counted
    )


def _trace_select(tree: exp.Select, ctes: Ctes, outer: Mapping[str, _Sources]) -> ColumnOrigins:
    sources = _Sources()
    rows: set[Origin] = set()
    start = tree.args.get("from_")
    if start is not None:
        rows |= _add_source(start.this, sources, ctes, outer)
    for join in tree.args.get("joins") or ():
        rows |= _add_join(join, sources, ctes, outer)
    reader = _ExpressionReader(sources, ctes, outer)
    for clause in ("where", "having", "qualify", "group", "distinct"):
        part = tree.args.get(clause)
        if part is not None:
            rows |= reader.trace_all(part)
    if tree.args.get("limit") is not None or tree.args.get("offset") is not None:
        rows |= reader.trace_all(tree.args["order"]) if tree.args.get("order") is not None else NONE
    windows = {item.name: item for item in tree.args.get("windows") or ()}
    values, picks = {}, {}
    for item in tree.selects:
        value, picking = reader.trace_expression(item)
        for window in item.find_all(exp.Window):
            if (defined := windows.get(window.alias)) is not None:
                extra_values, extra_picks = reader.trace_expression(defined)
                value, picking = value | extra_values, picking | extra_picks
        values[item.alias_or_name], picks[item.alias_or_name] = value, picking
    if tree.args.get("distinct") is not None:
        rows |= _unite((*values.values(), *picks.values()))
    return ColumnOrigins(values, picks, frozenset(rows), sources.get_counted_origins())


def _add_source(item: exp.Expr, sources: _Sources, ctes: Ctes, outer: Mapping[str, _Sources]) -> Origins:
    """Add a source; return what decides which rows it has."""
    alias = item.alias_or_name
    if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
        sources.by_alias[alias] = ctes.get(item.name, item.name)
    elif isinstance(item, (exp.Table, exp.Values)):  # a table function, or a list of rows
        rows = _ExpressionReader(sources, ctes, outer).trace_all(item)
        sources.by_alias[alias] = ColumnOrigins({}, {}, rows, NONE)
    else:
        sources.by_alias[alias] = _trace_query(item, ctes, outer)
    source = sources.by_alias[alias]
    return frozenset((Origin(source, ROWS),)) if isinstance(source, str) else source.rows


def _add_join(join: exp.Join, sources: _Sources, ctes: Ctes, outer: Mapping[str, _Sources]) -> Origins:
    """Add a joined source; return what decides which rows the join keeps."""
    inside = _add_source(join.this, sources, ctes, outer)
    alias = join.this.alias_or_name
    condition = join.args.get("on")
    deciding = _ExpressionReader(sources, ctes, outer).trace_all(condition) if condition is not None else NONE
    if join.kind in ("SEMI", "ANTI"):
        sources.adds_no_rows.add(alias)
    if join.side == "LEFT":
        sources.picks[alias] = inside | deciding
        if _has_single_match(join):
            sources.adds_no_rows.add(alias)
            return NONE
    return inside | deciding


def _has_single_match(join: exp.Join) -> bool:
    """Return whether a left join matches each row with at most one row.

    True for an ASOF join, and for a subquery that is grouped by columns which the condition compares.
    """
    if join.method == "ASOF":
        return True
    inner = join.this.this if isinstance(join.this, exp.Subquery) else None
    grouped = inner.args.get("group") if isinstance(inner, exp.Select) else None
    condition = join.args.get("on")
    if grouped is None or condition is None or not isinstance(inner, exp.Select):
        return False
    alias = join.this.alias_or_name
    compared = {
        side.name
        for equal in condition.find_all(exp.EQ)
        for side in (equal.this, equal.expression)
        if isinstance(side, exp.Column) and side.table == alias
    }
    keys = {key.sql() for key in grouped.expressions}
    return keys <= {item.unalias().sql() for item in inner.selects if item.alias_or_name in compared}


@dataclass(frozen=True, slots=True)
class _ExpressionReader:
    """Read the expressions of a SELECT."""

    sources: _Sources
    ctes: Ctes
    outer: Mapping[str, _Sources]

    def trace_expression(self, node: exp.Expr) -> tuple[Origins, Origins]:
        """Return the origins of an expression's value, and what picks their rows."""
        values: set[Origin] = set()
        picks: set[Origin] = set()
        for item in _walk_scope(node):
            if isinstance(item, exp.Column):
                sources = self.find_sources(item.table)
                if sources:
                    values |= sources.get_value_origins(item.table, item.name)
                    picks |= sources.get_pick_origins(item.table, item.name)
            elif isinstance(item, exp.Placeholder):
                values.add(Origin(CONSTANTS, str(item.this)))
            elif isinstance(item, exp.Count) and isinstance(item.this, (exp.Star, exp.Literal)):
                counted = self.sources.get_counted_origins()
                values |= counted
                picks |= self.sources.get_row_origins() - counted
            elif item is not node and isinstance(item, (exp.Select, exp.SetOperation)):
                inner = _trace_query(
                    item, self.ctes, {**self.outer, **dict.fromkeys(self.sources.by_alias, self.sources)}
                )
                values |= _unite(inner.values.values())
                picks |= inner.rows | _unite(inner.picks.values())
        return frozenset(values), frozenset(picks)

    def find_sources(self, alias: str) -> _Sources | None:
        """Return the sources that an alias belongs to: of this query or of an enclosing one."""
        return self.sources if alias in self.sources.by_alias else self.outer.get(alias)

    def trace_all(self, node: exp.Expr) -> Origins:
        """Return all columns that have a part in an expression."""
        values, picks = self.trace_expression(node)
        return values | picks


def _walk_scope(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of an expression, including subqueries but not their insides."""
    return walk_in_scope(node, prune=lambda item: item is not node and isinstance(item, (exp.Select, exp.SetOperation)))


def _unite(parts: Iterable[Origins]) -> Origins:
    return frozenset().union(*parts)
