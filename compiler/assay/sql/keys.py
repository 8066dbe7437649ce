"""Rows of one key: the query that finds them, and whether a relation's SQL cannot yield any."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from assay.lang.model.package import Relation
from assay.plan.planner import ROWS_OF_KEY
from assay.sql import dialect

_OF_ROWS = ("unnest", "generate_subscripts", "regexp_split_to_table")


def duplicates(relation: Relation) -> exp.Select:
    """The keys of a relation that several rows have, and how many have them; without a key: the rows, if several."""
    number = exp.Count(this=exp.Star())
    several = exp.GT(this=number.copy(), expression=dialect.integer(1))
    keys = [dialect.column(name) for name in relation.key]
    query = dialect.select(*keys, exp.alias_(number, ROWS_OF_KEY)).from_(dialect.table(relation.name))
    query = query.having(several, copy=False)
    if not keys:
        return query
    return query.group_by(*(key.copy() for key in keys)).order_by(*(key.copy() for key in keys))


def are_unique(query: exp.Expr, key: Collection[str]) -> bool:
    """Whether a query can yield no two rows of one key: it groups by no more than that, or has distinct rows of it."""
    if not isinstance(query, exp.Select):
        return False
    named = {item.alias_or_name: item.unalias() for item in query.selects}
    if query.args.get("distinct"):
        return not query.args["distinct"].args.get("on") and set(named) <= set(key)
    if any(_makes_rows(item) for item in query.selects):
        return False
    group = query.args.get("group")
    if group is None:
        return not query.args.get("from_") or any(_aggregates(item, query) for item in query.selects)
    if any(value for name, value in group.args.items() if name != "expressions"):
        return False
    of_key = [value for name, value in named.items() if name in key]
    return all(item in of_key and not isinstance(item, exp.Literal) for item in group.expressions)


def _makes_rows(value: exp.Expr) -> bool:
    """Whether a value may be several rows: lists become those, and of functions that are not known it is not known."""
    return any(
        isinstance(item, (exp.UDTF, exp.Explode)) or item.name.casefold() in _OF_ROWS
        for item in value.find_all(exp.UDTF, exp.Explode, exp.Anonymous)
    )


def _aggregates(value: exp.Expr, query: exp.Select) -> bool:
    """Whether a value is of all rows of the query, not of those of a query inside it or of a window."""
    return any(
        item.find_ancestor(exp.Select) is query and not item.find_ancestor(exp.Window)
        for item in value.find_all(exp.AggFunc)
    )
