"""What differs between engines, one function a difference.  Everything else is SQL that DuckDB, Spark and Trino share."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

DIALECT = "duckdb"

#: column type of the spec language -> type of the engine
TYPES = {
    "integer": "BIGINT",
    "unsigned": "UBIGINT",
    "huge": "INT128",
    "real": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "instant": "BIGINT",
}


def text(tree: exp.Expression) -> str:
    """A statement as people read it."""
    return tree.sql(dialect=DIALECT, pretty=True)


def column(name: str, table: str = "") -> exp.Column:
    """A column, quoted where its name needs it."""
    return exp.column(name, table=table or None)


def cast(value: exp.Expression, kind: str) -> exp.Expression:
    """A value as another type of the spec language."""
    return exp.cast(value, TYPES[kind], dialect=DIALECT)


def real(value: str) -> exp.Expression:
    """A double from its decimal text (a bare `0.1` would be a decimal)."""
    return cast(exp.Literal.number(value), "real")


def integer(value: int) -> exp.Expression:
    """An integer literal."""
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def picked(value: str, last: bool) -> exp.Expression:
    """The value of the row with the least (`last`: greatest) `seq` of a group, null if it is null there."""
    return exp.Anonymous(this="arg_max_null" if last else "arg_min_null", expressions=[column(value), column("seq")])


def ordered_list(value: exp.Expression) -> exp.Expression:
    """All values of a group, ascending."""
    return exp.Anonymous(this="list", expressions=[exp.Order(this=value, expressions=[exp.Ordered(this=value.copy())])])


def listed(value: exp.Expression) -> exp.Expression:
    """All values of a group as a list, in an order made by the query."""
    return exp.Anonymous(this="list", expressions=[value])


def length(of: exp.Expression) -> exp.Expression:
    """Number of members of a list."""
    return exp.Anonymous(this="len", expressions=[of])


def member(of: exp.Expression, index: exp.Expression) -> exp.Expression:
    """A member of a list by its index, counted from 1."""
    return exp.Anonymous(this="list_extract", expressions=[of, index])


def transformed(of: exp.Expression, name: str, body: exp.Expression) -> exp.Expression:
    """A list with an expression worked out for each member, which the expression calls `name`."""
    return exp.Transform(this=of, expression=exp.Lambda(this=body, expressions=[exp.to_identifier(name)], colon=True))


def exact_sum(of: exp.Expression) -> exp.Expression:
    """Sum of a list of doubles with compensation, in the order of the list: the same for any number of threads."""
    return exp.Anonymous(this="list_aggregate", expressions=[of, exp.Literal.string("fsum")])


def plain_sum(of: exp.Expression) -> exp.Expression:
    """Sum of a list of doubles, one after the other."""
    return exp.Anonymous(this="list_aggregate", expressions=[of, exp.Literal.string("sum")])


def sliced(of: exp.Expression, count: exp.Expression) -> exp.Expression:
    """The first `count` members of a list."""
    return exp.Anonymous(this="list_slice", expressions=[of, integer(1), count])


def literal_list(values: Sequence[exp.Expression]) -> exp.Expression:
    """A list of given values."""
    return exp.Array(expressions=list(values))


def latest_before(query: exp.Select, table: str | exp.Expression, alias: str, on: exp.Expression) -> exp.Select:
    """Join each row with the last row of `table` that `on` (equalities and one `<`) allows."""
    joined = exp.alias_(exp.to_table(table), alias, table=True) if isinstance(table, str) else exp.alias_(table, alias, table=True)
    query.append("joins", exp.Join(this=joined, method="ASOF", side="LEFT", on=on))
    return query
