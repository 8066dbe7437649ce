"""Lists of the places of records, as expressions: joined, put in order, picked as the values are that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.sql import dialect

LINES = "STRUCT(event VARCHAR, host VARCHAR, seq BIGINT)[]"
_AGGREGATES = ("arg_min_null", "arg_max_null", "fsum", "list", "favg", "string_agg", "mode")


def companion(name: str) -> str:
    """The name of the column that tells of a column."""
    return f"{name} from"


def is_aggregate(node: exp.Expr) -> bool:
    """Whether an expression makes one value of many rows."""
    return isinstance(node, (exp.AggFunc, exp.Filter)) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES
    )


def aggregated(node: exp.Expr) -> bool:
    """Whether a value is made of many rows (an aggregate that is not over a window)."""
    if isinstance(node, exp.Window):
        return any(aggregated(item) for item in windowed(node).function.iter_expressions())
    if isinstance(node, (exp.Select, exp.SetOperation)):
        return False
    return is_aggregate(node) or any(aggregated(item) for item in node.iter_expressions())


@dataclass(frozen=True, slots=True)
class Windowed:
    """What is over a window: the function itself, the condition on its rows, whether rows without a value are passed
    over."""

    function: exp.Expr
    where: exp.Expr | None
    present: bool


def windowed(window: exp.Window) -> Windowed:
    """What is over a window, without what the tree wraps around the function."""
    function, where, present = window.this, None, False
    while isinstance(function, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        if isinstance(function, exp.Filter):
            where = function.expression.this
        present = present or isinstance(function, exp.IgnoreNulls)
        function = function.this
    return Windowed(function, where, present)


def arguments(node: exp.Expr) -> list[exp.Expr]:
    """The values that a function is of; none of a count of rows."""
    if isinstance(node, exp.Anonymous):
        given = list(node.expressions)
    elif isinstance(node, (exp.ArgMin, exp.ArgMax)):
        given = [node.this, node.expression]
    else:
        given = [node.this] if node.this is not None else []
    plain = [item.this if isinstance(item, exp.Order) else item for item in given]
    found = [item.expressions[0] if isinstance(item, exp.Distinct) else item for item in plain]
    return [item for item in found if not isinstance(item, exp.Star)]


def picking(node: exp.Expr) -> str:
    """The function by which a value is picked from one row; empty where it is not."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() if node.name.lower() in ("arg_min_null", "arg_max_null") else ""
    if isinstance(node, (exp.ArgMin, exp.Min)):
        return "arg_min"
    return "arg_max" if isinstance(node, (exp.ArgMax, exp.Max)) else ""


def over(window: exp.Window, function: exp.Expr) -> exp.Window:
    """A window with another function, under the same condition."""
    found = window.copy()
    where = windowed(window).where
    found.set("this", filtered(function, [where.copy()] if where is not None else []))
    return found


def filtered(call: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Expr:
    """A call of an aggregate over the rows that meet all conditions."""
    return exp.Filter(this=call, expression=exp.Where(this=exp.and_(*conditions))) if conditions else call


def all_of(lists: exp.Expr) -> exp.Expr:
    """All members of lists, each once, in order."""
    return in_order(or_nothing(call("flatten", lists)))


def joined(parts: Iterable[exp.Expr | None]) -> exp.Expr | None:
    """One list of those that there are; none of none."""
    found = list({item.sql(dialect.DIALECT): item for item in parts if item is not None}.values())
    if len(found) < 2:
        return found[0].copy() if found else None
    return in_order(call("flatten", exp.Array(expressions=[item.copy() for item in found])))


def in_order(lines: exp.Expr) -> exp.Expr:
    """A list with each member once, in order."""
    return call("list_sort", call("list_distinct", lines))


def least(lines: exp.Expr) -> exp.Expr:
    """Of the lists of a group the least: those of rows that are alike say the same."""
    return exp.Min(this=lines)


def when_there(values: Sequence[exp.Expr], found: exp.Expr) -> exp.Expr:
    """What is found where all values are there; null elsewhere."""
    return exp.Case(ifs=[exp.If(this=exp.and_(*(is_there(item) for item in values)), true=found.copy())])


def is_there(value: exp.Expr) -> exp.Expr:
    """Whether a value is not null."""
    return exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))


def empty_list() -> exp.Expr:
    """An empty list."""
    return exp.Cast(this=exp.Array(expressions=[]), to=exp.DataType.build(LINES, dialect=dialect.DIALECT))


def or_nothing(lines: exp.Expr) -> exp.Expr:
    """A list, empty for null."""
    return exp.Coalesce(this=lines, expressions=[empty_list()])


def told_as(lines: exp.Expr | None, name: str) -> exp.Expr:
    """A list, empty where there is none, as the column that tells of a column."""
    return exp.alias_(lines if lines is not None else empty_list(), companion(name), quoted=True)


def quoted(name: str) -> exp.Identifier:
    """A name in quotes."""
    return exp.to_identifier(name, quoted=True)


def quoted_column(name: str, table: str = "") -> exp.Column:
    """A column by its name in quotes."""
    return exp.Column(this=quoted(name), table=exp.to_identifier(table) if table else None)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function that the library of trees has no class for."""
    return exp.Anonymous(this=name, expressions=list(arguments))
