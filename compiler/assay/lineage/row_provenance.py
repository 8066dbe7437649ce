"""Rewrite a query so that it also returns the records that each value was computed from.

For a column `x` the rewritten query adds `x from`: a list of (event, host, seq) that identifies the records behind `x`.
The list follows the expressions that compute the value. Where a value is picked (the first of a group, the greatest,
the previous one), its list is picked by the same rule; where values are added up, their lists are joined. Records are
therefore never matched by similar values. `* from` lists the records that a row counts for in a `count(*)`.

Records that only decide conditions are not listed; the column lineage has their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from assay.lang.reserved_names import ACCEPTED
from assay.lang.scopes import LOG_COLUMNS, LOGS
from assay.lineage.column_lineage import ROWS, Schema, qualify_columns
from assay.lineage.record_lists import (
    alias_companion,
    build_empty_list,
    build_not_null,
    build_quoted_column,
    build_when_present,
    call_function,
    coalesce_list,
    filter_aggregate,
    find_pick_function,
    get_companion_name,
    is_aggregate,
    is_aggregated,
    join_lists,
    list_arguments,
    merge_lists,
    pick_least,
    quote_identifier,
    replace_function,
    unwrap_window,
)
from assay.plan.planner import EventStep
from assay.sql import dialect
from assay.sql.codegen import Statement
from assay.sql.read_tables import find_tables
from assay.util.diagnostics import fail

_SHIFTS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)


@dataclass(frozen=True, slots=True)
class TracedQuery:
    """Statements that carry the records of some columns, in order, and the rewritten query."""

    statements: tuple[Statement, ...]
    query: exp.Expr


def add_provenance(statements: Sequence[Statement], query: exp.Expr, column_names: Iterable[str]) -> TracedQuery:
    """Return the query with companions for the wanted columns, and the statements that it needs.

    The query reads tables that `statements` create; statements that it does not need are left out.
    """
    schema, events = _build_schema(statements)
    demands: dict[str, set[str]] = {}
    tree = _rewrite_query(query, schema, set(column_names), demands, events)
    needed_statements: list[Statement] = []
    needed = _collect_tables(tree)
    for item in reversed(statements):
        if item.kind not in ("table", "view") or item.name.lower() not in needed:
            continue
        if item.kind == "table" and demands.get(item.name.lower()):
            item = replace(
                item,
                query=_rewrite_query(item.query, schema, demands[item.name.lower()], demands, events),
            )
        needed |= _collect_tables(item.query)
        needed_statements.append(item)
    return TracedQuery(tuple(reversed(needed_statements)), tree)


def _build_schema(statements: Sequence[Statement]) -> tuple[Schema, Mapping[str, str]]:
    """Return the columns of every table that the statements create, and the names of events by their lower case.

    The engine ignores case in names, and qualifying a query lowers them.
    """
    schema: dict[str, tuple[str, ...]] = {LOGS: tuple(LOG_COLUMNS)}
    for item in statements:
        if item.kind in ("table", "view"):
            tree = item.query if item.kind == "view" else qualify_columns(item.query, schema)
            schema[item.name] = tuple(column.alias_or_name for column in _get_selects(tree))
    return schema, {item.name.lower(): item.name for item in statements if isinstance(item.step, EventStep)}


def _collect_tables(tree: exp.Expr) -> set[str]:
    return {item.name.lower() for item in find_tables(tree)}


def _get_selects(tree: exp.Expr) -> list[exp.Expr]:
    """Return the output columns of a query; of a union those of its first part."""
    while not isinstance(tree, exp.Select):
        tree = tree.this
    return list(tree.selects)


def _rewrite_query(
    query: exp.Expr, schema: Schema, column_names: set[str], demands: dict[str, set[str]], events: Mapping[str, str]
) -> exp.Expr:
    holder = exp.Subquery(this=qualify_columns(query, schema))
    lowered = [name.lower() for name in schema if name != LOGS]
    names = {name: demands.setdefault(name, set()) for name in lowered if name not in events}
    _QueryRewriter(names, events).rewrite(holder.this, column_names)
    return holder.this.pop() if isinstance(holder.this, exp.Expr) else holder.this


@dataclass(frozen=True, slots=True)
class _QueryRewriter:
    """Rewrite queries.

    `demands` collects, per table or CTE, the columns whose records are needed. `recursive` holds the CTEs that are
    being computed from themselves.
    """

    demands: Mapping[str, set[str]]
    events: Mapping[str, str]
    recursive: frozenset[str] = frozenset()

    def rewrite(self, tree: exp.Expr, column_names: set[str]) -> None:
        """Add companions for the wanted columns to a query."""
        names = [item.alias_or_name for item in _get_selects(tree)]
        self._rewrite_columns(
            tree, [index for index, name in enumerate(names) if name in column_names], ROWS in column_names
        )

    def _rewrite_columns(self, tree: exp.Expr, positions: Sequence[int], rows: bool) -> None:
        clause = tree.args.get("with_")
        cte_demands = {item.alias: set[str]() for item in (clause.expressions if clause else ())}
        inside = replace(self, demands={**self.demands, **cte_demands}, events=_remove_hidden(self.events, cte_demands))
        if isinstance(tree, (exp.Subquery, exp.Paren)):
            inside._rewrite_columns(tree.this, positions, rows)
        elif isinstance(tree, exp.SetOperation):
            inside._rewrite_set_operation(tree, positions, rows)
        else:
            assert isinstance(tree, exp.Select)
            _SelectRewriter(inside, tree).add_companions(positions, rows)
        for item in reversed(clause.expressions if clause else ()):
            inside._rewrite_cte(item)

    def _rewrite_cte(self, item: exp.CTE) -> None:
        """Rewrite a CTE for the columns demanded of it; repeat a recursive one until the demands stop growing."""
        demanded = self.demands[item.alias]
        inner = replace(self, recursive=self.recursive | {item.alias})
        columns = [column.name for column in item.args["alias"].args.get("columns") or ()]
        while True:
            processed = set(demanded)
            holder = exp.Subquery(this=item.this.copy())
            names = columns or [column.alias_or_name for column in _get_selects(holder.this)]
            indexes = [index for index, name in enumerate(names) if name in processed]
            inner._rewrite_columns(holder.this, indexes, ROWS in processed)
            if demanded == processed:
                break
        item.set("this", holder.this)
        if columns:
            companions = [get_companion_name(names[index]) for index in indexes] + [get_companion_name(ROWS)] * (
                ROWS in processed
            )
            item.args["alias"].set("columns", [*item.args["alias"].args["columns"], *map(quote_identifier, companions)])

    def _rewrite_set_operation(self, tree: exp.SetOperation, positions: Sequence[int], rows: bool) -> None:
        whole = tree.copy()
        self._rewrite_columns(tree.this, positions, rows)
        if not isinstance(tree, exp.Union):
            if positions or rows:
                _rewrite_membership(tree, whole, len(positions) + rows)
            return
        self._rewrite_columns(tree.expression, positions, rows)
        if (positions or rows) and tree.args.get("distinct"):
            _deduplicate_union(tree, positions, rows)


def _remove_hidden(events: Mapping[str, str], ctes: Iterable[str]) -> Mapping[str, str]:
    """Return the events that no CTE hides."""
    hidden = set(ctes)
    return {key: name for key, name in events.items() if key not in hidden}


def _deduplicate_union(tree: exp.SetOperation, positions: Sequence[int], rows: bool) -> None:
    """Keep the rows of a UNION distinct by their columns without companions."""
    clause = tree.args.get("with_")
    tree.set("with_", None)
    union = tree.copy()
    union.set("distinct", False)
    count = len(positions) + rows
    names = [item.alias_or_name for item in _get_selects(union)]
    plain, companions = names[: len(names) - count], names[len(names) - count :]
    query = dialect.select(
        *plain, *(exp.alias_(pick_least(build_quoted_column(name)), name, quoted=True) for name in companions)
    )
    query = query.from_(exp.Subquery(this=union, alias=exp.TableAlias(this=exp.to_identifier("both"))))
    query = query.group_by(*(dialect.build_column(name) for name in plain))
    query.set("with_", clause)
    tree.replace(query)


def _rewrite_membership(tree: exp.SetOperation, whole: exp.Expr, count: int) -> None:
    """Rewrite INTERSECT or EXCEPT: keep each row of the first query that is among the rows of `whole`, once.

    Records of the second query only decide which rows are kept, so they are not listed.
    """
    if not tree.args.get("distinct"):
        raise fail(
            "untraceable",
            f"the records behind rows of {type(tree).__name__.upper()} ALL cannot be traced",
            hint="remove ALL, which merges equal rows",
        )
    clause = tree.args.get("with_")
    whole.set("with_", None)
    names = [item.alias_or_name for item in _get_selects(tree.this)]
    plain, companions = names[: len(names) - count], names[len(names) - count :]
    equalities = [
        exp.NullSafeEQ(this=build_qualified_column("some", name), expression=build_qualified_column("kept", name))
        for name in plain
    ]
    query = dialect.select(
        *(exp.alias_(build_qualified_column("some", name), name, quoted=True) for name in plain),
        *(exp.alias_(pick_least(build_qualified_column("some", name)), name, quoted=True) for name in companions),
    )
    query = query.from_(_alias_query(tree.this, "some")).join(
        _alias_query(whole, "kept"), on=exp.and_(*equalities), copy=False
    )
    query = query.group_by(*(build_qualified_column("some", name) for name in plain))
    query.set("with_", clause)
    tree.replace(query)


def is_constant(node: exp.Expr) -> bool:
    """Return whether a value depends only on constants of the run, so that no record has a part in it."""
    return node.find(exp.Placeholder) is not None and not is_aggregated(node)


def build_qualified_column(table: str, name: str) -> exp.Column:
    """Return the column of a table, quoted."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _alias_query(tree: exp.Expr, name: str) -> exp.Subquery:
    inner = tree.this if isinstance(tree, (exp.Subquery, exp.Paren)) else tree
    return exp.Subquery(this=inner.copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))


@dataclass(slots=True)
class _SelectRewriter:
    """Rewrite one SELECT.

    `outer` are the sources whose rows may not match (outer, semi and anti joins), `inner` the demanded columns of
    subqueries.
    """

    query: _QueryRewriter
    tree: exp.Select
    sources: dict[str, exp.Expr] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    inner: dict[str, set[str]] = field(default_factory=dict)
    is_grouped: bool = False

    def add_companions(self, positions: Sequence[int], rows: bool) -> None:
        """Add companions for the wanted columns, and for the rows if `rows` is set."""
        self._read_sources()
        selects = list(self.tree.selects)
        distinct = self.tree.args.get("distinct") is not None and not self.tree.args["distinct"].args.get("on")
        has_demand = bool(positions or rows)
        self.is_grouped = (
            self.tree.args.get("group") is not None or any(map(is_aggregated, selects)) or (distinct and has_demand)
        )
        if distinct and has_demand:
            self.tree.set("distinct", None)
            self.tree.set("group", exp.Group(expressions=[item.unalias().copy() for item in selects]))
        for index in positions:
            item = selects[index]
            records = self.trace(item.unalias(), inside=False)
            if records is None and not isinstance(item.unalias(), exp.Null) and not is_constant(item):
                records = self.trace_rows(inside=False) if not item.find(exp.Column) else None
            self.tree.select(alias_companion(records, item.alias_or_name), copy=False)
        if rows:
            is_total = self.is_grouped and self.tree.args.get("group") is None
            # An aggregate over all rows returns one row, even if no rows exist.
            self.tree.select(alias_companion(None if is_total else self.trace_rows(inside=False), ROWS), copy=False)
        for alias, demanded in self.inner.items():
            self.query.rewrite(self.sources[alias], demanded)

    def _read_sources(self) -> None:
        start = self.tree.args.get("from_")
        joins = self.tree.args.get("joins") or ()
        for item in [*([start.this] if start else []), *(join.this for join in joins)]:
            self.sources[item.alias_or_name] = item
            if not isinstance(item, exp.Table):
                self.inner[item.alias_or_name] = set()
        for join in joins:
            if join.side or join.kind in ("SEMI", "ANTI"):
                self.outer.add(join.this.alias_or_name)

    def trace(self, node: exp.Expr, inside: bool) -> exp.Expr | None:
        """Return the list of records of a value; None if no record has a part in it, as for a literal.

        `inside`: the value is the argument of an aggregate, so it has one value per row.
        """
        if not node.find(exp.Column, exp.Star):
            return None
        if isinstance(node, exp.Column):
            records = self.trace_column(node)
            return records if inside or not self.is_grouped or records is None else pick_least(records)
        if isinstance(node, exp.Case):
            return self.trace_case(node, inside)
        if isinstance(node, exp.Coalesce):
            return self.trace_coalesce([node.this, *node.expressions], inside)
        if isinstance(node, exp.Window):
            return self.trace_window(node)
        if is_aggregate(node):
            return self.trace_aggregate(node)
        if isinstance(node, exp.Subquery):
            return self.trace_scalar(node)
        if isinstance(node, (exp.Exists, exp.In, exp.Select, exp.SetOperation)):
            return None
        if (records_of_member := self.trace_list_member(node)) is not None:
            return records_of_member
        return join_lists(self.trace(item, inside) for item in node.iter_expressions())

    def trace_column(self, node: exp.Column) -> exp.Expr | None:
        """Return the companion of a column of a source."""
        source = self.sources.get(node.table)
        if source is None or node.name == "":
            return None  # a column of an enclosing query has no records in this query
        if isinstance(source, exp.Table):
            name = source.name
            if name in self.query.events:
                return self.build_record(node.table, self.query.events[name])
            if name not in self.query.demands:
                return None
            self.query.demands[name].add(node.name)
        else:
            self.inner[node.table].add(node.name)
        return coalesce_list(build_quoted_column(get_companion_name(node.name), node.table))

    def build_record(self, alias: str, event: str) -> exp.Expr:
        """Return the record of a row of an event as a list; empty where an outer join matched no row."""
        parts = {"event": exp.Literal.string(event), "host": dialect.build_column("host", alias)}
        pairs = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in parts.items()]
        pairs.append(exp.PropertyEQ(this=exp.to_identifier("seq"), expression=dialect.build_column("seq", alias)))
        record = exp.Array(expressions=[exp.Struct(expressions=pairs)])
        if alias not in self.outer:
            return record
        matched = exp.Not(this=exp.Is(this=dialect.build_column("seq", alias), expression=exp.Null()))
        return exp.Case(ifs=[exp.If(this=matched, true=record)], default=build_empty_list())

    def trace_case(self, node: exp.Case, inside: bool) -> exp.Expr | None:
        """Return the records of the chosen branch; of a constant branch those of the conditions."""
        conditions = [item.this for item in node.args["ifs"]] + ([node.this] if node.this else [])
        deciding = join_lists(self.trace(item, inside) for item in conditions)
        branches = [item.args["true"] for item in node.args["ifs"]]
        traced = [self.trace(item, inside) or deciding for item in branches]
        default = node.args.get("default")
        last = (self.trace(default, inside) or deciding) if default is not None else None
        if all(item is None for item in (*traced, last)):
            return None
        ifs = [
            exp.If(this=item.this.copy(), true=records.copy() if records else build_empty_list())
            for item, records in zip(node.args["ifs"], traced, strict=True)
        ]
        return exp.Case(
            this=node.this.copy() if node.this else None, ifs=ifs, default=last.copy() if last else build_empty_list()
        )

    def trace_coalesce(self, values: Sequence[exp.Expr], inside: bool) -> exp.Expr | None:
        """Return the records of the first value that is not null."""
        traced = [self.trace(item, inside) for item in values]
        if all(item is None for item in traced):
            return None
        ifs = [
            exp.If(this=build_not_null(item), true=records if records is not None else build_empty_list())
            for item, records in zip(values[:-1], traced[:-1], strict=True)
        ]
        return exp.Case(ifs=ifs, default=traced[-1] if traced[-1] is not None else build_empty_list())

    def trace_list_member(self, node: exp.Expr) -> exp.Expr | None:
        """Return the records of a member of an ordered list of values, such as a centile."""
        if not (isinstance(node, exp.Anonymous) and node.name.lower() == "list_extract"):
            return None
        listed, index = node.expressions
        values = listed.expressions[0] if isinstance(listed, exp.Anonymous) and listed.name.lower() == "list" else None
        if not isinstance(values, exp.Order):
            return None
        records = self.trace(values.this, inside=True)
        if records is None:
            return None
        order = [*(item.copy() for item in values.expressions), exp.Ordered(this=records.copy())]
        ordered = call_function("list", exp.Order(this=records, expressions=order))
        return coalesce_list(call_function("list_extract", ordered, index.copy()))

    def trace_aggregate(self, node: exp.Expr) -> exp.Expr | None:
        """Return the records of an aggregate.

        For a picked value these are the records of its row; for a sum or a count, those of all rows that are added or
        counted.
        """
        where = None
        if isinstance(node, exp.Filter):
            where, node = node.expression.this, node.this
        values = list_arguments(node)
        value = values[0] if values else None
        records = (self.trace(value, inside=True) if value is not None else None) or self.trace_counted(where)
        if records is None:
            return None
        conditions = [where.copy()] if where is not None else []
        picked = find_pick_function(node)
        if picked:
            key = exp.Anonymous(this="row", expressions=[values[-1].copy(), records.copy()])
            required = values if not picked.endswith("_null") else values[1:]
            conditions += [build_not_null(item) for item in required]
            return coalesce_list(
                filter_aggregate(call_function(picked.removesuffix("_null"), records, key), conditions)
            )
        if value is not None:
            conditions += [build_not_null(value)]
        return merge_lists(filter_aggregate(call_function("list", records), conditions))

    def trace_window(self, node: exp.Window) -> exp.Expr | None:
        """Return the records of a value that is picked or aggregated over a window."""
        parts = unwrap_window(node)
        function = parts.function
        if isinstance(function, _RANKS):
            return None
        values = list_arguments(function)
        value = values[0] if values else None
        records = (self.trace(value, inside=True) if value is not None else None) or self.trace_rows(inside=True)
        if records is None:
            return None
        if isinstance(function, _SHIFTS):
            shifted = function.copy()
            shifted.set("this", build_when_present(values, records) if parts.ignores_nulls else records)
            shifted.set("default", None)
            return coalesce_list(
                replace_function(node, exp.IgnoreNulls(this=shifted) if parts.ignores_nulls else shifted)
            )
        picked = find_pick_function(function)
        if picked:
            key = build_when_present(values if not picked.endswith("_null") else values[1:], values[-1])
            return coalesce_list(replace_function(node, call_function(picked.removesuffix("_null"), records, key)))
        return merge_lists(replace_function(node, call_function("list", records)))

    def trace_scalar(self, node: exp.Subquery) -> exp.Expr:
        """Return the records of a subquery that returns one value."""
        inner = node.copy()
        name = get_companion_name(_get_selects(inner)[0].alias_or_name)
        self.query.rewrite(inner, {_get_selects(inner)[0].alias_or_name})
        companion_query = dialect.select(build_quoted_column(name)).from_(
            exp.Subquery(this=inner.this, alias=exp.TableAlias(this=exp.to_identifier("inner")))
        )
        return coalesce_list(exp.Subquery(this=companion_query))

    def trace_counted(self, where: exp.Expr | None) -> exp.Expr | None:
        """Return the records of the rows that a count counts.

        If the condition of the count reads an outer-joined source, that source's rows are counted, not those they join.
        """
        outer_sources = {item.table for item in where.find_all(exp.Column)} & self.outer if where is not None else set()
        return (self.trace(where, inside=True) if where is not None and outer_sources else None) or self.trace_rows(
            inside=True
        )

    def trace_row(self, alias: str, source: exp.Expr) -> exp.Expr | None:
        """Return the records of a row of one source."""
        name = source.name if isinstance(source, exp.Table) else ""
        if name in self.query.recursive:
            return None
        if name in self.query.events:
            return self.build_record(alias, self.query.events[name])
        if name and name not in self.query.demands:
            return None
        (self.query.demands[name] if name else self.inner[alias]).add(ROWS)
        return coalesce_list(build_quoted_column(get_companion_name(ROWS), alias))

    def trace_rows(self, inside: bool) -> exp.Expr | None:
        """Return the records of a row: those of the joined rows, and those behind the values in its conditions."""
        parts = [self.trace_row(alias, source) for alias, source in self.sources.items() if alias not in self.outer]
        where = self.tree.args.get("where")
        if where is not None and not any(item.name == ACCEPTED for item in where.find_all(exp.Column)):
            parts.append(self.trace(where.this, inside=True))
        records = join_lists(parts)
        return records if inside or not self.is_grouped or records is None else pick_least(records)
