"""Rows of one key: the query that finds them, and whether a relation's SQL cannot yield any."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from assay.plan.steps import ROWS_OF_KEY
from assay.spec.model import Relation
from assay.sql import dialect

SHOWN = 100  # keys that are told of


def duplicates(relation: Relation) -> exp.Select:
    """The keys of a relation that several rows have, and how many have them; without a key: the rows, if several."""
    number = exp.Count(this=exp.Star())
    several = exp.GT(this=number.copy(), expression=dialect.integer(1))
    keys = [dialect.column(name) for name in relation.key]
    query = dialect.select(*keys, exp.alias_(number, ROWS_OF_KEY)).from_(dialect.table(relation.name))
    query = query.having(several, copy=False)
    if not keys:
        return query
    return query.group_by(*(key.copy() for key in keys)).order_by(*(key.copy() for key in keys)).limit(SHOWN)


def are_unique(query: exp.Expr, key: Collection[str]) -> bool:
    """Whether a query can yield no two rows of one key: it groups by no more than that, or has distinct rows of it."""
    if not isinstance(query, exp.Select):
        return False
    named = {item.alias_or_name: item.unalias() for item in query.selects}
    if query.args.get("distinct"):
        return not query.args["distinct"].args.get("on") and set(named) <= set(key)
    group = query.args.get("group")
    if group is None:
        return not query.args.get("from_") or (
            bool(query.selects) and all(item.find(exp.AggFunc) and not item.find(exp.Window) for item in query.selects)
        )
    if any(value for name, value in group.args.items() if name != "expressions"):
        return False
    of_key = [value for name, value in named.items() if name in key]
    return all(item in of_key for item in group.expressions)
