"""Queries that may be worked out for some hosts at a time: what they yield of a host depends on rows of that host
alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

#: what a query may be made of; of all else it is not known what it does
_PARTS = frozenset(
    ["with_", "expressions", "from_", "joins", "where", "group", "having", "qualify", "windows", "order", "distinct"]
)
_OF_TABLES = frozenset(["this", "alias"])
_OF_JOINS = frozenset(["this", "on", "method", "side", "kind"])

#: of queries by their names, which the engine takes in any case
Known = Mapping[str, bool]


def is_partitionable(query: exp.Expr, key: str) -> bool:
    """Whether the rows that a query yields of any values of the column `key` are those that it yields when every table
    that it reads has the rows of these values alone.

    No where that is not sure.  Tables that lack the column make no difference: a query that is sure of itself compares
    it in each.  Rows in which it is null are none of any value.
    """
    return _Reader(key).of(query, {})


@dataclass(slots=True)
class _Rows:
    """Which of the queries that are joined have the key of the row (`same`), or that or null (`linked`), and which
    columns may be named without them (`seen`)."""

    same: set[str] = field(default_factory=set)
    linked: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)


class _Reader:
    def __init__(self, key: str) -> None:
        self._key = key

    def of(self, query: exp.Expr, known: Known) -> bool:
        """The same of a query that may name others, of which it is known."""
        if isinstance(query, exp.Subquery) and _has_only(query, _OF_TABLES):
            return self.of(query.this, known)
        stages = query.args.get("with_")
        if stages:
            if stages.recursive or any(item.args["alias"].columns for item in stages.expressions):
                return False
            for item in stages.expressions:
                known = {**known, item.alias.casefold(): self.of(item.this, known)}
        if isinstance(query, exp.Union):
            return self._of_union(query, known)
        return isinstance(query, exp.Select) and _has_only(query, _PARTS) and self._of_select(query, known)

    def _of_union(self, query: exp.Union, known: Known) -> bool:
        if not _has_only(query, {"with_", "this", "expression", "distinct"}):
            return False
        left, right = (side.named_selects for side in (query.left, query.right))
        places = [index for index, name in enumerate(left) if name == self._key]
        fits = len(places) == 1 and places[0] < len(right) and right[places[0]] == self._key
        return fits and "*" not in (*left, *right) and self.of(query.left, known) and self.of(query.right, known)

    def _of_select(self, query: exp.Select, known: Known) -> bool:
        rows = self._joined(query, known)
        if rows is None or _asks_within(query) or not self._yields_key(query, rows):
            return False
        group, distinct = query.args.get("group"), query.args.get("distinct")
        if group and not (_has_only(group, {"expressions"}) and self._some_key(group.expressions, rows)):
            return False
        if distinct and distinct.args.get("on"):
            return False
        return all(self._some_key(_partition(item, query), rows) for item in _windows(query))

    def _joined(self, query: exp.Select, known: Known) -> _Rows | None:
        """What is joined; None where rows of different keys may come together."""
        first = query.args.get("from_")
        if first is None or not self._is_source(first.this, known):
            return None
        name = first.this.alias_or_name
        rows = _Rows({name}, {name}, {name})
        for join in query.args.get("joins") or ():
            if not self._joins(join, rows, known):
                return None
        return rows

    def _joins(self, join: exp.Join, rows: _Rows, known: Known) -> bool:
        """Add what is joined; False where it may be of another key."""
        name, side, kind = join.this.alias_or_name, join.side, join.kind
        on = join.args.get("on")
        if not _has_only(join, _OF_JOINS) or not on or name in rows.linked or not self._is_source(join.this, known):
            return False
        if join.method not in ("", "ASOF") or side not in ("", "LEFT") or kind not in ("", "INNER", "SEMI", "ANTI"):
            return False
        conditions = on.flatten() if isinstance(on, exp.And) else [on]
        if not any(self._links(item, name, rows.linked) for item in conditions):
            return False
        if kind in ("SEMI", "ANTI"):
            return not side
        rows.linked.add(name)
        rows.seen.add(name)
        if not side:
            rows.same.add(name)
        return True

    def _links(self, condition: exp.Expr, name: str, others: set[str]) -> bool:
        """Whether a condition sets the key of what is joined equal to that of another."""
        if not isinstance(condition, exp.EQ):
            return False
        one, other = condition.left, condition.right
        if not (isinstance(one, exp.Column) and isinstance(other, exp.Column)):
            return False
        if one.name != self._key or other.name != self._key:
            return False
        return (one.table == name and other.table in others) or (other.table == name and one.table in others)

    def _is_source(self, source: exp.Expr, known: Known) -> bool:
        """Whether what is read is a table, or stands apart itself."""
        alias = source.args.get("alias")
        if not _has_only(source, _OF_TABLES) or (alias and alias.columns):
            return False
        if isinstance(source, exp.Table):
            return isinstance(source.this, exp.Identifier) and known.get(source.name.casefold(), True)
        return isinstance(source, exp.Subquery) and self.of(source.this, known)

    def _is_key(self, value: exp.Expr, rows: _Rows) -> bool:
        """Whether a value is the row's key."""
        if not isinstance(value, exp.Column) or value.name != self._key:
            return False
        return value.table in rows.same if value.table else len(rows.seen) == 1

    def _some_key(self, values: list[exp.Expr], rows: _Rows) -> bool:
        return any(self._is_key(item, rows) for item in values)

    def _yields_key(self, query: exp.Select, rows: _Rows) -> bool:
        """Whether one column, and no other, is the row's key under its own name."""
        found = 0
        for item in query.expressions:
            value = item.unalias()
            if value.is_star:
                star = value.this if isinstance(value, exp.Column) else value
                of = value.args.get("table") if isinstance(value, exp.Column) else None
                if any(star.args.values()) or not (of.name in rows.same if of else len(rows.seen) == 1):
                    return False
                found += 1
            elif item.alias_or_name == self._key:
                if not self._is_key(value, rows):
                    return False
                found += 1
        return found == 1


def _has_only(part: exp.Expr, names: frozenset[str] | set[str]) -> bool:
    """Whether nothing is said of a part but what these names tell."""
    return all(name in names for name, value in part.args.items() if value)


def _asks_within(query: exp.Select) -> bool:
    """Whether a value or a condition of a query is another query, or makes several rows."""
    own = [*query.expressions, *(query.args.get(name) for name in ("where", "group", "having", "qualify", "order"))]
    own += [join.args["on"] for join in query.args.get("joins") or ()]
    return any(part.find(exp.Query, exp.UDTF) for part in own if part)


def _windows(query: exp.Select) -> list[exp.Window]:
    """The windows of a query's own values."""
    own = [*query.expressions, query.args.get("qualify"), query.args.get("order")]
    return [item for part in own if part for item in part.find_all(exp.Window)]


def _partition(window: exp.Window, query: exp.Select) -> list[exp.Expr]:
    """What the rows of a window have in common, which may be said where the window is named."""
    named = {item.name: item for item in query.args.get("windows") or ()}
    other = named.get(window.alias) if window.alias else None
    if window.alias and other is None:
        return []
    return [*(window.args.get("partition_by") or ()), *((other.args.get("partition_by") or ()) if other else ())]
