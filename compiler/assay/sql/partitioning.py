"""Decide whether a query can run for some hosts at a time: its rows of a host depend on rows of that host alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

#: the supported clauses; a query with any other clause is not partitionable
_PARTS = frozenset(
    ["with_", "expressions", "from_", "joins", "where", "group", "having", "qualify", "windows", "order", "distinct"]
)
_TABLE_PARTS = frozenset(["this", "alias"])
_JOIN_PARTS = frozenset(["this", "on", "method", "side", "kind"])

#: whether named queries are partitionable, by their names in lower case
NamedQueries = Mapping[str, bool]


def is_partitionable(query: exp.Expr, key: str) -> bool:
    """Return whether a query can run on partitions of its tables by the column `key`.

    If so, for any values of `key` it yields the same rows as when each table has only the rows of these values.  False
    also where this cannot be decided.  Tables without the column make no difference: a partitionable query compares the
    column in each table that it joins.  Rows in which it is null belong to no partition.
    """
    return _QueryReader(key).is_partitionable(query, {})


def is_partitionable_in_order(query: exp.Expr, key: str) -> bool:
    """Return whether the rows of a partitionable query are those of each value of `key`, in ascending order of it."""
    order = query.args.get("order")
    if not isinstance(query, exp.Select) or not order or not is_partitionable(query, key):
        return False
    first = order.expressions[0]
    column = first.this if isinstance(first, exp.Ordered) else first
    if first.args.get("desc") or first.args.get("nulls_first") or not isinstance(column, exp.Column):
        return False
    outputs = [item.unalias() for item in query.expressions if item.alias_or_name == key]
    return column.name == key and (not column.table or outputs == [column])


def can_check_partitions(query: exp.Expr, key: str) -> bool:
    """Return whether a query yields rows exactly if it yields rows on one of the partitions by the column `key`.

    Unlike a partitionable query it need not yield the column itself, and may count the rows of all partitions in its
    values.
    """
    query = query.copy()
    if not query.args.get("offset") and _is_at_least_one(query.args.get("limit")):
        query.set("limit", None)
    if isinstance(query, exp.Select):
        _drop_single_rows(query)
    return _QueryReader(key).is_partitionable(query, {}, needs_key=False)


def _is_at_least_one(limit: exp.Expr | None) -> bool:
    """Return whether a limit is a number above 0, and has no other clause."""
    value = limit.expression if isinstance(limit, exp.Limit) else None
    return isinstance(value, exp.Literal) and value.is_int and int(value.this) > 0


def _drop_single_rows(query: exp.Select) -> None:
    """Drop the tables of one row that a query joins to all rows, unless they decide how many rows it yields."""
    stages = query.args["with_"].expressions if query.args.get("with_") else ()
    single_rows = {item.alias.casefold() for item in stages if _yields_one_row(item.this)}
    conditions = [query.args.get(name) for name in ("where", "group", "having", "qualify")]
    conditions += [join.args.get("on") for join in query.args.get("joins") or ()]
    lists = [part for item in query.expressions for part in item.find_all(exp.UDTF)]
    read_tables = {item.table.casefold() for part in conditions + lists if part for item in part.find_all(exp.Column)}
    joins = [
        join
        for join in query.args.get("joins") or ()
        if not (
            isinstance(join.this, exp.Table)
            and join.kind == "CROSS"
            and not join.side
            and join.this.name.casefold() in single_rows
            and not {"", join.this.alias_or_name.casefold()} & read_tables
        )
    ]
    query.set("joins", joins)


def _yields_one_row(query: exp.Expr) -> bool:
    """Return whether a query yields one row: it aggregates all rows that it reads."""
    return (
        isinstance(query, exp.Select)
        and _has_only(query, frozenset(["expressions", "from_", "joins", "where"]))
        and all(_is_aggregate(item.unalias()) for item in query.expressions)
    )


def _is_aggregate(value: exp.Expr) -> bool:
    return isinstance(value, exp.AggFunc) and not isinstance(value.parent, exp.Window)


@dataclass(slots=True)
class _JoinedTables:
    """The tables that a SELECT joins, by alias.

    `same`: tables whose key equals that of the row.  `linked`: tables whose key equals it or is null.  `seen`: tables
    whose columns may be named without the table.
    """

    same: set[str] = field(default_factory=set)
    linked: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)


class _QueryReader:
    """Reads queries with regard to one key column."""

    def __init__(self, key: str) -> None:
        self._key = key

    def is_partitionable(self, query: exp.Expr, queries: NamedQueries, *, needs_key: bool = True) -> bool:
        """Return whether a query is partitionable; `queries` are the named queries that it may read.

        Without `needs_key`, rows of different keys may be the same.
        """
        if isinstance(query, exp.Subquery) and _has_only(query, _TABLE_PARTS):
            return self.is_partitionable(query.this, queries, needs_key=needs_key)
        stages = query.args.get("with_")
        if stages:
            if stages.recursive or any(item.args["alias"].columns for item in stages.expressions):
                return False
            for item in stages.expressions:
                queries = {
                    **queries,
                    item.alias.casefold(): self.is_partitionable(item.this, queries),
                }
        if isinstance(query, exp.Union):
            return self._is_partitionable_union(query, queries)
        return (
            isinstance(query, exp.Select)
            and _has_only(query, _PARTS)
            and self._is_partitionable_select(query, queries, needs_key)
        )

    def _is_partitionable_union(self, query: exp.Union, queries: NamedQueries) -> bool:
        if not _has_only(query, {"with_", "this", "expression", "distinct", "order"}):
            return False
        left, right = (side.named_selects for side in (query.left, query.right))
        indexes = [index for index, name in enumerate(left) if name == self._key]
        fits = len(indexes) == 1 and indexes[0] < len(right) and right[indexes[0]] == self._key
        return (
            fits
            and "*" not in (*left, *right)
            and self.is_partitionable(query.left, queries)
            and self.is_partitionable(query.right, queries)
        )

    def _is_partitionable_select(self, query: exp.Select, queries: NamedQueries, needs_key: bool) -> bool:
        rows = self._read_tables(query, queries)
        if rows is None or _has_nested_rows(query, is_plain=_is_plain(query)):
            return False
        if needs_key and not self._has_key_once(query, rows):
            return False
        if not needs_key and _aggregates_all(query) and not _needs_a_row(query):
            return False
        group, distinct = query.args.get("group"), query.args.get("distinct")
        if group and not (_has_only(group, {"expressions"}) and self._has_key(group.expressions, rows)):
            return False
        if distinct and distinct.args.get("on"):
            return False
        return all(self._has_key(_list_partition(item, query), rows) for item in _list_windows(query))

    def _read_tables(self, query: exp.Select, queries: NamedQueries) -> _JoinedTables | None:
        """Return the joined tables; None where rows of different keys may be joined."""
        first = query.args.get("from_")
        if first is None or not self._is_source(first.this, queries):
            return None
        name = first.this.alias_or_name
        rows = _JoinedTables({name}, {name}, {name})
        for join in query.args.get("joins") or ():
            if not self._add_join(join, rows, queries):
                return None
        return rows

    def _add_join(self, join: exp.Join, rows: _JoinedTables, queries: NamedQueries) -> bool:
        """Add a joined table; return False where its rows may have another key."""
        name, side, kind = join.this.alias_or_name, join.side, join.kind
        on = join.args.get("on")
        if not _has_only(join, _JOIN_PARTS) or not on or name in rows.linked or not self._is_source(join.this, queries):
            return False
        if join.method not in ("", "ASOF") or side not in ("", "LEFT") or kind not in ("", "INNER", "SEMI", "ANTI"):
            return False
        conditions = on.flatten() if isinstance(on, exp.And) else [on]
        if not any(self._is_key_link(item, name, rows.linked) for item in conditions):
            return False
        if kind in ("SEMI", "ANTI"):
            return not side
        rows.linked.add(name)
        rows.seen.add(name)
        if not side:
            rows.same.add(name)
        return True

    def _is_key_link(self, condition: exp.Expr, name: str, others: set[str]) -> bool:
        """Return whether a condition equates the key of a joined table with that of another one."""
        if not isinstance(condition, exp.EQ):
            return False
        left, right = condition.left, condition.right
        if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
            return False
        if left.name != self._key or right.name != self._key:
            return False
        return (left.table == name and right.table in others) or (right.table == name and left.table in others)

    def _is_source(self, source: exp.Expr, queries: NamedQueries) -> bool:
        """Return whether a source is a table or a partitionable query."""
        alias = source.args.get("alias")
        if not _has_only(source, _TABLE_PARTS) or (alias and alias.columns):
            return False
        if isinstance(source, exp.Table):
            return isinstance(source.this, exp.Identifier) and queries.get(source.name.casefold(), True)
        return isinstance(source, exp.Subquery) and self.is_partitionable(source.this, queries)

    def _is_key(self, value: exp.Expr, rows: _JoinedTables) -> bool:
        """Return whether a value is the key of the row."""
        if not isinstance(value, exp.Column) or value.name != self._key:
            return False
        return value.table in rows.same if value.table else len(rows.seen) == 1

    def _has_key(self, values: list[exp.Expr], rows: _JoinedTables) -> bool:
        return any(self._is_key(item, rows) for item in values)

    def _has_key_once(self, query: exp.Select, rows: _JoinedTables) -> bool:
        """Return whether exactly one output is the key of the row, under its own name."""
        count = 0
        for item in query.expressions:
            value = item.unalias()
            if value.is_star:
                star = value.this if isinstance(value, exp.Column) else value
                table = value.args.get("table") if isinstance(value, exp.Column) else None
                if any(star.args.values()) or not (table.name in rows.same if table else len(rows.seen) == 1):
                    return False
                count += 1
            elif item.alias_or_name == self._key:
                if not self._is_key(value, rows):
                    return False
                count += 1
        return count == 1


def _has_only(part: exp.Expr, names: frozenset[str] | set[str]) -> bool:
    """Return whether a node has no parts except those of these names."""
    return all(name in names for name, value in part.args.items() if value)


def _has_nested_rows(query: exp.Select, is_plain: bool) -> bool:
    """Return whether a value or condition contains a query, or a function that returns several rows.

    The values of a plain query may have such functions: each of its rows becomes several rows with the same key.
    """
    conditions = [query.args.get(name) for name in ("where", "group", "having", "qualify", "order")]
    conditions += [join.args["on"] for join in query.args.get("joins") or ()]
    in_values: tuple[type[exp.Expr], ...] = (exp.Query,) if is_plain else (exp.Query, exp.UDTF)
    return any(part.find(exp.Query, exp.UDTF) for part in conditions if part) or any(
        item.find(*in_values) for item in query.expressions
    )


def _is_plain(query: exp.Select) -> bool:
    """Return whether a query has neither groups, windows nor aggregates, and does not drop equal rows."""
    has_clause = any(query.args.get(name) for name in ("group", "having", "qualify", "windows", "distinct"))
    return not has_clause and not any(item.find(exp.AggFunc, exp.Window) for item in query.expressions)


def _aggregates_all(query: exp.Select) -> bool:
    """Return whether a query without groups has an aggregate: it yields a row even without rows to read."""
    parts = [*query.expressions, query.args.get("having")]
    return not query.args.get("group") and any(part.find(exp.AggFunc) for part in parts if part)


def _needs_a_row(query: exp.Select) -> bool:
    """Return whether a query yields a row only if it reads one: `HAVING COUNT(*) > 0`."""
    having = query.args.get("having")
    return having is not None and having.this == _COUNT_ABOVE_ZERO


_COUNT_ABOVE_ZERO = exp.GT(this=exp.Count(this=exp.Star(), big_int=True), expression=exp.Literal.number(0))


def _list_windows(query: exp.Select) -> list[exp.Window]:
    """Return the windows in the values of a query itself."""
    parts = [*query.expressions, query.args.get("qualify"), query.args.get("order")]
    return [item for part in parts if part for item in part.find_all(exp.Window)]


def _list_partition(window: exp.Window, query: exp.Select) -> list[exp.Expr]:
    """Return the values by which a window is partitioned, in itself or in the named window that it refers to."""
    windows_by_name = {item.name: item for item in query.args.get("windows") or ()}
    definition = windows_by_name.get(window.alias) if window.alias else None
    if window.alias and definition is None:
        return []
    return [
        *(window.args.get("partition_by") or ()),
        *((definition.args.get("partition_by") or ()) if definition else ()),
    ]
