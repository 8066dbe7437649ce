"""Which records each value of a query was made of: the query rewritten so that it tells.

Beside a column `x` the rewritten query yields `x from`: a list of (event, host, seq), the places of the records whose
values `x` has.  The list is carried along the very expressions that carry the value: where a value is picked (the first
of a group, the greatest, the one before) its list is picked by the same rule, where values are added up their lists are
joined.  So nothing is matched by likeness.  `* from` tells of a row what a count of it counts.

Of records that only decide conditions nothing is told; lineage names their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from assay.lang.reserved_names import ACCEPTED
from assay.lang.scopes import LOG_COLUMNS, LOGS
from assay.lineage.column_lineage import ROWS, Schema, qualified
from assay.lineage.record_lists import (
    aggregated,
    all_of,
    arguments,
    call,
    companion,
    empty_list,
    filtered,
    is_aggregate,
    is_there,
    joined,
    least,
    or_nothing,
    over,
    picking,
    quoted,
    quoted_column,
    told_as,
    when_there,
    windowed,
)
from assay.plan.planner import EventStep
from assay.sql import dialect
from assay.sql.codegen import Statement
from assay.util.diagnostics import fail

_SHIFTS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_PLACES = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)


@dataclass(frozen=True, slots=True)
class Witnessed:
    """Statements that tell of some columns, in order, and the query that was asked."""

    statements: tuple[Statement, ...]
    query: exp.Expr


def add_provenance(statements: Sequence[Statement], query: exp.Expr, wanted: Iterable[str]) -> Witnessed:
    """The query, which reads what the statements make, telling of the wanted columns; and the statements it needs."""
    schema, events = _schema(statements)
    demands: dict[str, set[str]] = {}
    tree = _rewritten(query, schema, set(wanted), demands, events)
    found: list[Statement] = []
    needed = _tables(tree)
    for item in reversed(statements):
        if item.kind not in ("table", "view") or item.name.lower() not in needed:
            continue
        if item.kind == "table" and demands.get(item.name.lower()):
            item = replace(item, query=_rewritten(item.query, schema, demands[item.name.lower()], demands, events))
        needed |= _tables(item.query)
        found.append(item)
    return Witnessed(tuple(reversed(found)), tree)


def _schema(statements: Sequence[Statement]) -> tuple[Schema, Mapping[str, str]]:
    """The columns of every table that the statements make; the names of events, by them in lower case.

    The engine does not tell upper case from lower case in names, and qualifying a query lowers them.
    """
    schema: dict[str, tuple[str, ...]] = {LOGS: tuple(LOG_COLUMNS)}
    for item in statements:
        if item.kind in ("table", "view"):
            tree = item.query if item.kind == "view" else qualified(item.query, schema)
            schema[item.name] = tuple(column.alias_or_name for column in _selects(tree))
    return schema, {item.name.lower(): item.name for item in statements if isinstance(item.step, EventStep)}


def _tables(tree: exp.Expr) -> set[str]:
    return {item.name.lower() for item in tree.find_all(exp.Table)}


def _selects(tree: exp.Expr) -> list[exp.Expr]:
    """What a query yields; of a union what its first part does."""
    while not isinstance(tree, exp.Select):
        tree = tree.this
    return list(tree.selects)


def _rewritten(
    query: exp.Expr, schema: Schema, wanted: set[str], demands: dict[str, set[str]], events: Mapping[str, str]
) -> exp.Expr:
    holder = exp.Subquery(this=qualified(query, schema))
    lowered = [name.lower() for name in schema if name != LOGS]
    names = {name: demands.setdefault(name, set()) for name in lowered if name not in events}
    _Query(names, events).rewrite(holder.this, wanted)
    return holder.this.pop() if isinstance(holder.this, exp.Expr) else holder.this


@dataclass(frozen=True, slots=True)
class _Query:
    """Rewrites a query.  `demands` collects the columns of tables and named queries that are to be told of.

    `again` are named queries that are being made of themselves.
    """

    demands: Mapping[str, set[str]]
    events: Mapping[str, str]
    again: frozenset[str] = frozenset()

    def rewrite(self, tree: exp.Expr, wanted: set[str]) -> None:
        """Let a query tell of the wanted columns."""
        names = [item.alias_or_name for item in _selects(tree)]
        self._indexed(tree, [index for index, name in enumerate(names) if name in wanted], ROWS in wanted)

    def _indexed(self, tree: exp.Expr, wanted: Sequence[int], rows: bool) -> None:
        own = tree.args.get("with_")
        named = {item.alias: set[str]() for item in (own.expressions if own else ())}
        inside = replace(self, demands={**self.demands, **named}, events=_without(self.events, named))
        if isinstance(tree, (exp.Subquery, exp.Paren)):
            inside._indexed(tree.this, wanted, rows)
        elif isinstance(tree, exp.SetOperation):
            inside._both(tree, wanted, rows)
        else:
            assert isinstance(tree, exp.Select)
            _Select(inside, tree).tell(wanted, rows)
        for item in reversed(own.expressions if own else ()):
            inside._named(item)

    def _named(self, item: exp.CTE) -> None:
        """Let a named query tell of what was asked of it; of one made of itself, until it asks for nothing more."""
        wanted = self.demands[item.alias]
        inner = replace(self, again=self.again | {item.alias})
        columns = [column.name for column in item.args["alias"].args.get("columns") or ()]
        while True:
            before = set(wanted)
            holder = exp.Subquery(this=item.this.copy())
            names = columns or [column.alias_or_name for column in _selects(holder.this)]
            told = [index for index, name in enumerate(names) if name in before]
            inner._indexed(holder.this, told, ROWS in before)
            if wanted == before:
                break
        item.set("this", holder.this)
        if columns:
            more = [companion(names[index]) for index in told] + [companion(ROWS)] * (ROWS in before)
            item.args["alias"].set("columns", [*item.args["alias"].args["columns"], *map(quoted, more)])

    def _both(self, tree: exp.SetOperation, wanted: Sequence[int], rows: bool) -> None:
        whole = tree.copy()
        self._indexed(tree.this, wanted, rows)
        if not isinstance(tree, exp.Union):
            if wanted or rows:
                _among(tree, whole, len(wanted) + rows)
            return
        self._indexed(tree.expression, wanted, rows)
        if (wanted or rows) and tree.args.get("distinct"):
            _once(tree, wanted, rows)


def _without(events: Mapping[str, str], named: Iterable[str]) -> Mapping[str, str]:
    """The events that are not hidden by named queries."""
    hidden = set(named)
    return {key: name for key, name in events.items() if key not in hidden}


def _once(tree: exp.SetOperation, wanted: Sequence[int], rows: bool) -> None:
    """A union of distinct rows stays one of rows that are distinct but for what is told of them."""
    own = tree.args.get("with_")
    tree.set("with_", None)
    every = tree.copy()
    every.set("distinct", False)
    told = len(wanted) + rows
    names = [item.alias_or_name for item in _selects(every)]
    plain, more = names[: len(names) - told], names[len(names) - told :]
    found = dialect.select(*plain, *(exp.alias_(least(quoted_column(name)), name, quoted=True) for name in more))
    found = found.from_(exp.Subquery(this=every, alias=exp.TableAlias(this=exp.to_identifier("both"))))
    found = found.group_by(*(dialect.column(name) for name in plain))
    found.set("with_", own)
    tree.replace(found)


def _among(tree: exp.SetOperation, whole: exp.Expr, told: int) -> None:
    """Rows that are in both queries, or in the first alone: those of the first that are among the `whole`'s, each once.

    What the second is made of only decides.
    """
    if not tree.args.get("distinct"):
        raise fail(
            "untraceable",
            f"what rows of {type(tree).__name__.upper()} ALL were made of cannot be told",
            hint="without ALL it can, as equal rows then are one",
        )
    own = tree.args.get("with_")
    whole.set("with_", None)
    names = [item.alias_or_name for item in _selects(tree.this)]
    plain, more = names[: len(names) - told], names[len(names) - told :]
    alike = [
        exp.NullSafeEQ(this=qualified_column("some", name), expression=qualified_column("kept", name)) for name in plain
    ]
    found = dialect.select(
        *(exp.alias_(qualified_column("some", name), name, quoted=True) for name in plain),
        *(exp.alias_(least(qualified_column("some", name)), name, quoted=True) for name in more),
    )
    found = found.from_(_aliased(tree.this, "some")).join(_aliased(whole, "kept"), on=exp.and_(*alike), copy=False)
    found = found.group_by(*(qualified_column("some", name) for name in plain))
    found.set("with_", own)
    tree.replace(found)


def is_constant(node: exp.Expr) -> bool:
    """Whether a value is made of constants of the run alone, the same on every row: no record has a part in it."""
    return node.find(exp.Placeholder) is not None and not aggregated(node)


def qualified_column(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _aliased(tree: exp.Expr, name: str) -> exp.Subquery:
    inner = tree.this if isinstance(tree, (exp.Subquery, exp.Paren)) else tree
    return exp.Subquery(this=inner.copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))


@dataclass(slots=True)
class _Select:
    """Rewrites one SELECT."""

    query: _Query
    tree: exp.Select
    sources: dict[str, exp.Expr] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    inner: dict[str, set[str]] = field(default_factory=dict)
    grouped: bool = False

    def tell(self, wanted: Sequence[int], rows: bool) -> None:
        """Add what tells of the wanted columns, and of the rows."""
        self._read_sources()
        selects = list(self.tree.selects)
        distinct = self.tree.args.get("distinct") is not None and not self.tree.args["distinct"].args.get("on")
        told = bool(wanted or rows)
        self.grouped = self.tree.args.get("group") is not None or any(map(aggregated, selects)) or (distinct and told)
        if distinct and told:
            self.tree.set("distinct", None)
            self.tree.set("group", exp.Group(expressions=[item.unalias().copy() for item in selects]))
        for index in wanted:
            item = selects[index]
            lines = self.lines(item.unalias(), inside=False)
            if lines is None and not isinstance(item.unalias(), exp.Null) and not is_constant(item):
                lines = self.rows(inside=False) if not item.find(exp.Column) else None
            self.tree.select(told_as(lines, item.alias_or_name), copy=False)
        if rows:
            always = self.grouped and self.tree.args.get("group") is None
            # A row that is made of all rows is there whatever these are.
            self.tree.select(told_as(None if always else self.rows(inside=False), ROWS), copy=False)
        for alias, asked in self.inner.items():
            self.query.rewrite(self.sources[alias], asked)

    def _read_sources(self) -> None:
        start = self.tree.args.get("from_")
        joins = self.tree.args.get("joins") or ()
        for item in [*([start.this] if start else []), *(join.this for join in joins)]:
            self.sources[item.alias_or_name] = item
            if not isinstance(item, exp.Table):
                self.inner[item.alias_or_name] = set()
        for join in joins:
            if join.side or join.kind in ("SEMI", "ANTI"):
                self.left.add(join.this.alias_or_name)

    def lines(self, node: exp.Expr, inside: bool) -> exp.Expr | None:
        """The list of what a value was made of; None where it is made of nothing (a literal).

        `inside` tells that it stands in an aggregate, where it has a value for each row.
        """
        if not node.find(exp.Column, exp.Star):
            return None
        if isinstance(node, exp.Column):
            found = self.column(node)
            return found if inside or not self.grouped or found is None else least(found)
        if isinstance(node, exp.Case):
            return self.case(node, inside)
        if isinstance(node, exp.Coalesce):
            return self.first([node.this, *node.expressions], inside)
        if isinstance(node, exp.Window):
            return self.window(node)
        if is_aggregate(node):
            return self.aggregate(node)
        if isinstance(node, exp.Subquery):
            return self.scalar(node)
        if isinstance(node, (exp.Exists, exp.In, exp.Select, exp.SetOperation)):
            return None
        if (chosen := self.member(node)) is not None:
            return chosen
        return joined(self.lines(item, inside) for item in node.iter_expressions())

    def column(self, node: exp.Column) -> exp.Expr | None:
        """What tells of a column of a source."""
        source = self.sources.get(node.table)
        if source is None or node.name == "":
            return None  # of a query around this one: it does not make a value here
        if isinstance(source, exp.Table):
            name = source.name
            if name in self.query.events:
                return self.record(node.table, self.query.events[name])
            if name not in self.query.demands:
                return None
            self.query.demands[name].add(node.name)
        else:
            self.inner[node.table].add(node.name)
        return or_nothing(quoted_column(companion(node.name), node.table))

    def record(self, alias: str, event: str) -> exp.Expr:
        """The record that a row of an event is; nothing where a join found none."""
        parts = {"event": exp.Literal.string(event), "host": dialect.column("host", alias)}
        pairs = [exp.PropertyEQ(this=exp.to_identifier(name), expression=value) for name, value in parts.items()]
        pairs.append(exp.PropertyEQ(this=exp.to_identifier("seq"), expression=dialect.column("seq", alias)))
        found = exp.Array(expressions=[exp.Struct(expressions=pairs)])
        if alias not in self.left:
            return found
        there = exp.Not(this=exp.Is(this=dialect.column("seq", alias), expression=exp.Null()))
        return exp.Case(ifs=[exp.If(this=there, true=found)], default=empty_list())

    def case(self, node: exp.Case, inside: bool) -> exp.Expr | None:
        """That of the branch which is taken; where the branch is a constant, that of the conditions."""
        conditions = [item.this for item in node.args["ifs"]] + ([node.this] if node.this else [])
        deciding = joined(self.lines(item, inside) for item in conditions)
        branches = [item.args["true"] for item in node.args["ifs"]]
        found = [self.lines(item, inside) or deciding for item in branches]
        default = node.args.get("default")
        last = (self.lines(default, inside) or deciding) if default is not None else None
        if all(item is None for item in (*found, last)):
            return None
        ifs = [
            exp.If(this=item.this.copy(), true=lines.copy() if lines else empty_list())
            for item, lines in zip(node.args["ifs"], found, strict=True)
        ]
        return exp.Case(
            this=node.this.copy() if node.this else None, ifs=ifs, default=last.copy() if last else empty_list()
        )

    def first(self, values: Sequence[exp.Expr], inside: bool) -> exp.Expr | None:
        """That of the first value that is there."""
        found = [self.lines(item, inside) for item in values]
        if all(item is None for item in found):
            return None
        ifs = [
            exp.If(this=is_there(item), true=lines if lines is not None else empty_list())
            for item, lines in zip(values[:-1], found[:-1], strict=True)
        ]
        return exp.Case(ifs=ifs, default=found[-1] if found[-1] is not None else empty_list())

    def member(self, node: exp.Expr) -> exp.Expr | None:
        """That of a member of an ordered list of values, such as a centile."""
        if not (isinstance(node, exp.Anonymous) and node.name.lower() == "list_extract"):
            return None
        of, index = node.expressions
        values = of.expressions[0] if isinstance(of, exp.Anonymous) and of.name.lower() == "list" else None
        if not isinstance(values, exp.Order):
            return None
        lines = self.lines(values.this, inside=True)
        if lines is None:
            return None
        order = [*(item.copy() for item in values.expressions), exp.Ordered(this=lines.copy())]
        listed = call("list", exp.Order(this=lines, expressions=order))
        return or_nothing(call("list_extract", listed, index.copy()))

    def aggregate(self, node: exp.Expr) -> exp.Expr | None:
        """Of a picked value that of the row it is picked from; of a sum or a number all that is added or counted."""
        where = None
        if isinstance(node, exp.Filter):
            where, node = node.expression.this, node.this
        values = arguments(node)
        value = values[0] if values else None
        lines = (self.lines(value, inside=True) if value is not None else None) or self.counted(where)
        if lines is None:
            return None
        conditions = [where.copy()] if where is not None else []
        picked = picking(node)
        if picked:
            key = exp.Anonymous(this="row", expressions=[values[-1].copy(), lines.copy()])
            kept = values if not picked.endswith("_null") else values[1:]
            conditions += [is_there(item) for item in kept]
            return or_nothing(filtered(call(picked.removesuffix("_null"), lines, key), conditions))
        if value is not None:
            conditions += [is_there(value)]
        return all_of(filtered(call("list", lines), conditions))

    def window(self, node: exp.Window) -> exp.Expr | None:
        """The same of a value picked or summed over the rows of a window."""
        found = windowed(node)
        function = found.function
        if isinstance(function, _PLACES):
            return None
        values = arguments(function)
        value = values[0] if values else None
        lines = (self.lines(value, inside=True) if value is not None else None) or self.rows(inside=True)
        if lines is None:
            return None
        if isinstance(function, _SHIFTS):
            shifted = function.copy()
            shifted.set("this", when_there(values, lines) if found.present else lines)
            shifted.set("default", None)
            return or_nothing(over(node, exp.IgnoreNulls(this=shifted) if found.present else shifted))
        picked = picking(function)
        if picked:
            kept = when_there(values if not picked.endswith("_null") else values[1:], values[-1])
            return or_nothing(over(node, call(picked.removesuffix("_null"), lines, kept)))
        return all_of(over(node, call("list", lines)))

    def scalar(self, node: exp.Subquery) -> exp.Expr:
        """That of a query that yields one value."""
        inner = node.copy()
        name = companion(_selects(inner)[0].alias_or_name)
        self.query.rewrite(inner, {_selects(inner)[0].alias_or_name})
        told = dialect.select(quoted_column(name)).from_(
            exp.Subquery(this=inner.this, alias=exp.TableAlias(this=exp.to_identifier("told")))
        )
        return or_nothing(exp.Subquery(this=told))

    def counted(self, where: exp.Expr | None) -> exp.Expr | None:
        """What rows that are counted were made of; where a condition is about an outer join, what that is about: its
        rows are counted then, and not those that they are joined to."""
        about = {item.table for item in where.find_all(exp.Column)} & self.left if where is not None else set()
        return (self.lines(where, inside=True) if where is not None and about else None) or self.rows(inside=True)

    def row(self, alias: str, source: exp.Expr) -> exp.Expr | None:
        """What a row of a source was made of."""
        name = source.name if isinstance(source, exp.Table) else ""
        if name in self.query.again:
            return None
        if name in self.query.events:
            return self.record(alias, self.query.events[name])
        if name and name not in self.query.demands:
            return None
        (self.query.demands[name] if name else self.inner[alias]).add(ROWS)
        return or_nothing(quoted_column(companion(ROWS), alias))

    def rows(self, inside: bool) -> exp.Expr | None:
        """What a row was made of: the rows that are joined, and what the conditions on it are about."""
        parts = [self.row(alias, source) for alias, source in self.sources.items() if alias not in self.left]
        where = self.tree.args.get("where")
        if where is not None and not any(item.name == ACCEPTED for item in where.find_all(exp.Column)):
            parts.append(self.lines(where.this, inside=True))
        found = joined(parts)
        return found if inside or not self.grouped or found is None else least(found)
