"""Find orders that decide a value of a query although rows tie in them: the engine may take any of these rows first.

An order suffices if it contains a key of the rows, or all values that are selected from them: then tied rows agree in
everything that the order decides.  An order that cannot be proved to suffice is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from assay.sql.determinism import (
    ANY_ORDER,
    ORDERED_AGGREGATE_NAMES,
    ORDERED_AGGREGATES,
    is_one_row,
    list_function_names,
    resolve_window,
    strip_null_handling,
)
from assay.sql.row_keys import (
    RANKS,
    DeterminedValues,
    JoinedTable,
    Key,
    Rows,
    Shape,
    find_keys,
    is_aggregate,
    split_conjuncts,
    walk_within,
)
from assay.sql.row_order import (
    find_part_columns,
    is_positional,
    is_read,
    is_whole_partition,
    is_window_function,
    list_cuts,
    list_equalities,
    resolve_order,
    split_arguments,
)

#: functions that select a row at an end of the frame
_EDGES = (exp.FirstValue, exp.LastValue, exp.First, exp.Last, exp.AnyValue)
Tables = Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class Tie:
    """An order in which rows tie.

    `words`: the synonyms of SQL for the part whose value the order decides; `missing`: columns that would break the
    ties; `place`: the first and last character of the function in the text, if known.
    """

    words: tuple[str, ...]
    missing: tuple[str, ...] = ()
    problem: str = "with an order in which rows tie"
    place: tuple[int, int] | None = None


def find_ties(tree: exp.Query, tables: Tables) -> Iterator[Tie]:
    """Yield the insufficient orders of a query, unordered; `tables`: the shapes of the tables that it reads."""
    reader = _QueryReader()
    reader.read_shape(tree, {name.casefold(): shape for name, shape in tables.items()}, is_inner=False)
    yield from reader.ties


@dataclass(slots=True)
class _QueryReader:
    """Reads a query from the inside out, and collects its ties."""

    ties: list[Tie] = field(default_factory=list)

    def read_shape(self, query: exp.Expr, tables: Tables, is_inner: bool) -> Shape:
        """Return the shape of a query, and note its ties."""
        tables = self._collect_tables(query, tables, is_inner)
        if isinstance(query, exp.Subquery):
            shape = self.read_shape(query.this, tables, is_inner)
            self._check_set_cuts(query, shape)
        elif isinstance(query, exp.SetOperation):
            shape = self._combine(query, tables, is_inner)
            self._check_set_cuts(query, shape)
        elif isinstance(query, exp.Select):
            shape = _SelectReader(self, query, tables, is_inner).read_shape()
        else:
            shape = Shape()
        limit = query.args.get("limit")
        count = limit.expression if isinstance(limit, exp.Limit) else None
        if isinstance(count, exp.Literal) and count.name in ("0", "1"):
            return Shape(shape.columns, (Key(frozenset()),))
        return shape

    def _collect_tables(self, query: exp.Expr, tables: Tables, is_inner: bool) -> Tables:
        """Return the tables that a query can read, including those of its WITH clause."""
        queries = query.args.get("with_")
        if queries is None:
            return tables
        all_tables = dict(tables)
        for item in queries.expressions:
            name = item.alias.casefold()
            names = [column.name for column in item.args["alias"].columns]
            if queries.recursive:
                first = item.this.left if isinstance(item.this, exp.SetOperation) else item.this
                columns = _QueryReader().read_shape(first, all_tables, is_inner).columns
                all_tables[name] = Shape(Shape(columns).rename_columns(names).columns)
            all_tables[name] = self.read_shape(item.this, all_tables, is_inner).rename_columns(names)
            if queries.recursive:
                all_tables[name] = Shape(all_tables[name].columns)
        return all_tables

    def _combine(self, query: exp.SetOperation, tables: Tables, is_inner: bool) -> Shape:
        left, right = (self.read_shape(item, tables, is_inner) for item in (query.left, query.right))
        if left.columns is None or query.args.get("by_name"):
            return Shape()
        if isinstance(query, (exp.Except, exp.Intersect)):
            return left
        if query.args.get("distinct"):
            return Shape(left.columns, (Key(frozenset(left.columns)),))
        if right.columns is None or len(right.columns) != len(left.columns):
            return Shape(left.columns)
        right = right.rename_columns(left.columns)
        keys = [
            Key(left_key.columns, left_key.lines | right_key.lines)
            for left_key in left.keys
            for right_key in right.keys
            if left_key.columns == right_key.columns and left_key.is_disjoint_from(right_key)
        ]
        return Shape(left.columns, tuple(keys))

    def _check_set_cuts(self, query: exp.Expr, shape: Shape) -> None:
        """Note a cut of the rows of a set operation or a query in parentheses, by an order that ties."""
        order = query.args.get("order")
        if not order or shape.is_one_row:
            return
        rows = Rows(is_inner=False, sources={"": shape})
        ordered = [item.this for item in order.expressions]
        if shape.columns is not None:
            outputs = [exp.column(name) for name in shape.columns]
            ordered = [value for item in ordered for value in resolve_order(item, outputs, {})]
        determined = rows.determine(*ordered)
        for part in list_cuts(query):
            if not determined.has(exp.Star()):
                self.ties.append(Tie((part,), determined.list_missing()))


class _SelectReader:
    """Reads a SELECT: first its tables, then what it computes from their rows."""

    def __init__(self, query_reader: _QueryReader, select: exp.Select, tables: Tables, is_inner: bool) -> None:
        self._query_reader = query_reader
        self._select = select
        self._tables = tables
        self._rows = Rows(is_inner)
        self._asof: list[tuple[str, set[str]]] = []

    def read_shape(self) -> Shape:
        """Return the shape of the SELECT; note its ties, and those of nested queries."""
        select = self._select
        self._read_tables()
        self._rows.equal += list_equalities(select.args.get("where"))
        outputs = [item.unalias() for item in select.expressions]
        self._rows.aliases = {item.alias.casefold(): item.unalias() for item in select.expressions if item.alias}
        self._read_groups(outputs)
        for node in self._walk_nodes():
            if isinstance(node, exp.Query):
                self._read_nested(node)
            elif isinstance(node, exp.Window):
                if not isinstance(node.this, exp.Identifier):  # the definition of a named window
                    self._check_window(node)
            elif is_aggregate(node) and not is_window_function(node):
                self._check_aggregate(node)
            elif isinstance(node, exp.Column):
                self._check_rowid(node)
        self._check_cuts(outputs)
        for alias, compared_names in self._asof:
            self._check_asof(alias, compared_names)
        return self._build_shape(outputs)

    def _walk_nodes(self) -> Iterator[exp.Expr]:
        """Yield the nodes of the SELECT, except its tables and the insides of nested queries."""
        names = ("where", "group", "having", "qualify", "order", "distinct", "limit", "offset")
        yield from walk_within(*self._select.expressions, *(self._select.args.get(name) for name in names))
        for join in self._select.args.get("joins") or ():
            yield from walk_within(join.args.get("on"))

    def _add_tie(self, words: tuple[str, ...], determined: DeterminedValues, call: exp.Expr | None = None) -> None:
        position = call.meta if call is not None else {}
        range_in_text = (position["start"], position["end"]) if "start" in position else None
        self._query_reader.ties.append(Tie(words, determined.list_missing(), place=range_in_text))

    # Tables

    def _read_tables(self) -> None:
        start = self._select.args.get("from_")
        if start is None:
            self._rows.sources[""] = Shape((), (Key(frozenset()),))
            return
        self._add_table(start.this)
        for lateral in self._select.args.get("laterals") or ():
            self._add_table(lateral)
        for join in self._select.args.get("joins") or ():
            self._read_join(join)

    def _add_table(self, source: exp.Expr) -> str:
        """Add a table, and return its alias."""
        alias, shape = self._read_source(source)
        while alias in self._rows.sources:
            alias += "'"
        self._rows.sources[alias] = shape
        for join in source.args.get("joins") or ():
            self._read_join(join)
        return alias

    def _read_source(self, source: exp.Expr) -> tuple[str, Shape]:
        alias = source.alias_or_name.casefold()
        table_alias = source.args.get("alias")
        names = [column.name for column in table_alias.columns] if isinstance(table_alias, exp.TableAlias) else []
        if source.args.get("pivots") or not isinstance(source, (exp.Subquery, exp.Lateral)):
            self._read_inside(source)
        if source.args.get("pivots"):
            return alias, Shape()
        if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
            return alias, self._tables.get(source.name.casefold(), Shape()).rename_columns(names)
        if isinstance(source, exp.Table):
            columns = tuple(name.casefold() for name in names) or None
            is_series = isinstance(source.this, exp.GenerateSeries) and len(names) == 1
            return alias, Shape(columns, (Key(frozenset(columns)),) if is_series and columns else ())
        if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query):
            inner_shape = self._query_reader.read_shape(source, self._tables, is_inner=True)
            return alias, inner_shape.rename_columns(names)
        if isinstance(source, exp.Lateral) and isinstance(source.this, exp.Subquery):
            inner_shape = self._query_reader.read_shape(source.this, self._tables, is_inner=True).rename_columns(names)
            return alias, Shape(inner_shape.columns)
        self._read_inside(source)
        return alias, Shape(tuple(name.casefold() for name in names) or None)

    def _read_inside(self, source: exp.Expr) -> None:
        """Note the ties of queries inside of a source that is not read as a table."""
        for part in source.iter_expressions():
            for node in walk_within(part):
                if isinstance(node, exp.Query):
                    self._query_reader.read_shape(node, self._tables, is_inner=True)

    def _read_join(self, join: exp.Join) -> None:
        earlier = list(self._rows.sources)
        alias, shape = self._read_source(join.this)
        using = [item.name.casefold() for item in join.args.get("using") or ()]
        if join.kind in ("SEMI", "ANTI"):
            if join.kind == "SEMI" and shape.is_one_row:
                self._rows.one_row_tables[alias] = shape
                self._rows.equal += [*list_equalities(join.args.get("on")), *self._list_using(earlier, alias, using)]
            return
        alias = self._add_table(join.this) if alias in self._rows.sources else alias
        self._rows.sources[alias] = shape
        equal = [*list_equalities(join.args.get("on")), *self._list_using(earlier, alias, using)]
        if join.method == "ASOF":
            comparisons = [item for item in split_conjuncts(join.args.get("on")) if isinstance(item, exp.Binary)]
            pairs = [*((item.this, item.expression) for item in comparisons), *self._list_using(earlier, alias, using)]
            compared_columns = self._list_compared(alias, pairs)
            self._rows.joined.append(JoinedTable(alias, compared_columns, is_asof=True))
            self._asof.append((alias, {name for name, _ in compared_columns}))
        elif join.side in ("RIGHT", "FULL") or join.method == "NATURAL":
            return
        elif join.side == "LEFT":
            self._rows.joined.append(JoinedTable(alias, self._list_compared(alias, equal)))
            return
        if join.side != "LEFT":
            self._rows.equal += equal

    def _list_using(self, earlier: Sequence[str], alias: str, using: Sequence[str]) -> list[tuple[exp.Expr, exp.Expr]]:
        """List the equalities of `USING`."""
        pairs: list[tuple[exp.Expr, exp.Expr]] = []
        for name in using:
            for earlier_alias in earlier:
                columns = self._rows.sources[earlier_alias].columns
                if columns is None or name in columns:
                    pairs.append((exp.column(name, table=earlier_alias), exp.column(name, table=alias)))
                    break
        return pairs

    def _list_compared(self, alias: str, pairs: Sequence[tuple[exp.Expr, exp.Expr]]) -> list[tuple[str, exp.Expr]]:
        """List the compared columns of a joined table, each with the expression that it is compared with."""
        compared = []
        for left, right in (*pairs, *((right, left) for left, right in pairs)):
            if isinstance(left, exp.Column) and (resolved := self._rows.resolve(left)) and resolved[0] == alias:
                compared.append((resolved[1], right))
        return compared

    def _check_asof(self, alias: str, compared_names: Collection[str]) -> None:
        """Note an ASOF join whose candidates tie in the columns `compared_names`, but differ in what is read.

        A table whose key does not identify log lines is not reported, because it may have further, undeclared keys.
        """
        keys = self._rows.sources[alias].keys
        if any(not key.lines or key.columns <= set(compared_names) for key in keys):
            return
        for node in self._walk_nodes():
            if isinstance(node, exp.Column) and not node.is_star:
                resolved = self._rows.resolve(node)
                is_decided = resolved is not None and resolved[0] == alias and resolved[1] not in compared_names
            else:
                is_decided = isinstance(node, exp.Star) and is_read(node)
            if is_decided:
                self._add_tie(
                    ("ASOF",), self._rows.determine(*(exp.column(name, table=alias) for name in compared_names))
                )
                return

    # Values that are computed from rows

    def _read_groups(self, outputs: Sequence[exp.Expr]) -> None:
        select, group = self._select, self._select.args.get("group")
        if group is not None:
            self._rows.has_unknown_groups = any(
                group.args.get(name) for name in ("grouping_sets", "cube", "rollup", "totals")
            )
            group_values = group.expressions
            if group.args.get("all"):
                group_values = [item for item in outputs if not any(map(is_aggregate, walk_within(item)))]
            aliases = {
                name: value
                for name, value in self._rows.aliases.items()
                if self._rows.resolve(exp.column(name)) is None
            }
            self._rows.groups = [value for item in group_values for value in resolve_order(item, outputs, aliases)]
        elif select.args.get("having") or any(
            is_aggregate(node) and not is_window_function(node) for item in outputs for node in walk_within(item)
        ):
            self._rows.groups = []

    def _read_nested(self, query: exp.Query) -> None:
        """Read a query in an expression; if it becomes a list, its rows must have an order."""
        shape = self._query_reader.read_shape(query, self._tables, is_inner=True)
        as_list = isinstance(query.parent, exp.Array) and not isinstance(query.parent.parent, ANY_ORDER)
        body = query.unnest() if isinstance(query, exp.Subquery) else query
        if not as_list or shape.is_one_row:
            return
        order = body.args.get("order")
        outputs = [item.unalias() for item in body.selects] if isinstance(body, exp.Select) else []
        if not order or len(outputs) != 1 or not isinstance(body, exp.Select):
            self._query_reader.ties.append(Tie(("ARRAY",), problem="of rows without ORDER BY"))
            return
        inner = _SelectReader(_QueryReader(), body, self._tables, is_inner=True)
        inner.read_shape()
        determined = inner._determine_order(outputs)
        if not determined.has(outputs[0]):
            self._query_reader.ties.append(Tie(("ARRAY",), determined.list_missing()))

    def _check_rowid(self, column: exp.Column) -> None:
        """Note a use of `rowid`, the number that the engine gives to a row of a table."""
        if column.name.casefold() == "rowid" and not column.this.quoted:
            resolved = self._rows.resolve(column)
            columns = {**self._rows.sources, **self._rows.one_row_tables}[resolved[0]].columns if resolved else ()
            if columns is not None and "rowid" not in columns:
                problem = "which numbers rows in the internal order of the engine"
                self._query_reader.ties.append(Tie((column.name,), problem=problem))

    def _check_aggregate(self, call: exp.Expr) -> None:
        """Note an aggregate function whose order ties."""
        values, order_values, is_distinct = split_arguments(call)
        if not order_values:
            return
        determined = self._rows.determine(*(self._rows.groups or ()), *order_values)
        if is_distinct:
            suffices = all(any(value == item for item in determined.values) for value in values)
        else:
            suffices = all(map(determined.has_in_row, values))
        if not suffices:
            self._add_tie(list_function_names(call), determined, call)

    def _check_window(self, window: exp.Window) -> None:
        """Note a window function whose order ties."""
        call = strip_null_handling(window.this)
        call = call.this if isinstance(call, exp.Filter) else call
        named_window = resolve_window(window)
        parts = window.args.get("partition_by") or named_window.args.get("partition_by") or []
        order = window.args.get("order") or named_window.args.get("order")
        spec = window.args.get("spec") or named_window.args.get("spec")
        order_values = [item.this for item in order.expressions] if order else []
        if isinstance(call, RANKS):
            return
        has_row_frame = (
            spec is not None and str(spec.args.get("kind")).upper() == "ROWS" and not is_whole_partition(spec)
        )
        determined = self._rows.determine(*parts, *order_values)
        if determined.is_group or self._is_tie_harmless(determined):
            return
        values, function_order, is_distinct = split_arguments(call)
        if function_order:
            inside = self._rows.determine(*parts, *function_order)
            if is_distinct:
                suffices = all(any(value == item for item in inside.values) for value in values)
            else:
                suffices = all(map(inside.has, values))
        elif isinstance(call, (*_EDGES, *ORDERED_AGGREGATES)) or call.name.casefold() in ORDERED_AGGREGATE_NAMES:
            suffices = all(map(determined.has, values))
            if isinstance(call, _EDGES) and spec is not None and str(spec.args.get("start")).upper() == "UNBOUNDED":
                has_row_frame = False
        else:
            suffices = is_aggregate(call) and not is_positional(call)
        if not suffices or has_row_frame:
            self._add_tie(list_function_names(call), determined, call)

    def _is_tie_harmless(self, determined: DeterminedValues) -> bool:
        """Return whether rows that tie agree in every column that the SELECT reads."""
        return all(
            determined.has(node)
            for node in self._walk_nodes()
            if isinstance(node, (exp.Column, exp.Star)) and is_read(node)
        )

    def _determine_order(self, outputs: Sequence[exp.Expr]) -> DeterminedValues:
        """Return what the order of the SELECT determines."""
        order = self._select.args.get("order")
        order_values = [item.this for item in order.expressions] if order else []
        return self._rows.determine(
            *(value for item in order_values for value in resolve_order(item, outputs, self._rows.aliases))
        )

    def _check_cuts(self, outputs: Sequence[exp.Expr]) -> None:
        """Note a cut of the rows by an order that ties."""
        if not self._select.args.get("order") or is_one_row(self._select):
            return
        determined = self._determine_order(outputs)
        distinct = self._select.args.get("distinct")
        if distinct is not None and (on := distinct.args.get("on")):
            distinct_values = [
                value for item in on.expressions for value in resolve_order(item, outputs, self._rows.aliases)
            ]
            together = self._rows.determine(*distinct_values, *determined.values)
            if not all(map(together.has, outputs)):
                self._add_tie(("DISTINCT",), together)
            return
        if isinstance(self._select.parent, exp.Exists):
            return
        for word in list_cuts(self._select):
            if not all(map(determined.has, outputs)):
                self._add_tie((word,), determined)

    def _build_shape(self, outputs: Sequence[exp.Expr]) -> Shape:
        columns = self._name_outputs(outputs)
        if columns is None:
            return Shape()
        names = tuple(columns)
        distinct = self._select.args.get("distinct")
        if distinct is not None:
            on = distinct.args.get("on")
            distinct_names = [
                name for name, value in columns.items() if on and any(value == item for item in on.expressions)
            ]
            if on and len(distinct_names) != len(on.expressions):
                return Shape(names)
            return Shape(names, (Key(frozenset(distinct_names if on else names)),))
        keys = find_keys(self._rows, columns)
        return Shape(names, (*keys, *self._find_number_keys(columns)))

    def _find_number_keys(self, columns: Mapping[str, exp.Expr]) -> Iterator[Key]:
        """Yield keys with a row number, and keys of partitions that keep one row."""
        for name, value in columns.items():
            if (parts := find_part_columns(value, columns)) is not None:
                yield Key(frozenset((name, *parts)))
        qualify = self._select.args.get("qualify")
        for item in split_conjuncts(qualify.this if qualify else None):
            if isinstance(item, exp.EQ) and isinstance(item.expression, exp.Literal) and item.expression.name == "1":
                value = item.this
                value = self._rows.aliases.get(value.name.casefold(), value) if isinstance(value, exp.Column) else value
                if (parts := find_part_columns(value, columns)) is not None:
                    yield Key(frozenset(parts))

    def _name_outputs(self, outputs: Sequence[exp.Expr]) -> dict[str, exp.Expr] | None:
        """Return the columns of the SELECT by their names; None where they are not known."""
        columns_by_name: dict[str, exp.Expr] = {}
        for item, value in zip(self._select.expressions, outputs, strict=True):
            if isinstance(value, exp.Columns):
                return None
            if not value.is_star or isinstance(value, exp.Count):
                columns_by_name[item.alias_or_name.casefold() or f"'{len(columns_by_name)}"] = value
                continue
            star = value.this if isinstance(value, exp.Column) else value
            aliases = [value.table.casefold()] if isinstance(value, exp.Column) else list(self._rows.sources)
            excluded_names = {column.name.casefold() for column in star.args.get("except_") or ()}
            replaced = {column.alias.casefold() for column in star.args.get("replace") or ()}
            if star.args.get("rename"):
                return None
            for alias in aliases:
                columns = self._rows.sources.get(alias, Shape()).columns
                if columns is None:
                    return None
                for name in columns:
                    if name not in excluded_names:
                        hidden = name in replaced
                        output = exp.Anonymous(this="replaced") if hidden else exp.column(name, table=alias)
                        columns_by_name.setdefault(name, output)
        return columns_by_name
