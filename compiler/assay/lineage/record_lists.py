"""Build SQL expressions over lists of records: join, sort and pick lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from assay.sql import dialect

LINES = "STRUCT(event VARCHAR, host VARCHAR, seq BIGINT)[]"
_AGGREGATES = ("arg_min_null", "arg_max_null", "fsum", "list", "favg", "string_agg", "mode")


def get_companion_name(name: str) -> str:
    """Return the name of the column that holds the records of a column."""
    return f"{name} from"


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether an expression computes one value from many rows."""
    return isinstance(node, (exp.AggFunc, exp.Filter)) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _AGGREGATES
    )


def is_aggregated(node: exp.Expr) -> bool:
    """Return whether a value is computed from many rows, by an aggregate that is not over a window."""
    if isinstance(node, exp.Window):
        return any(is_aggregated(item) for item in unwrap_window(node).function.iter_expressions())
    if isinstance(node, (exp.Select, exp.SetOperation)):
        return False
    return is_aggregate(node) or any(is_aggregated(item) for item in node.iter_expressions())


@dataclass(frozen=True, slots=True)
class WindowCall:
    """The parts of a window function: the function, the condition on its rows, and whether it ignores nulls."""

    function: exp.Expr
    where: exp.Expr | None
    ignores_nulls: bool


def unwrap_window(window: exp.Window) -> WindowCall:
    """Unwrap the function of a window from the nodes that the tree wraps around it."""
    function, where, ignores_nulls = window.this, None, False
    while isinstance(function, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        if isinstance(function, exp.Filter):
            where = function.expression.this
        ignores_nulls = ignores_nulls or isinstance(function, exp.IgnoreNulls)
        function = function.this
    return WindowCall(function, where, ignores_nulls)


def list_arguments(node: exp.Expr) -> list[exp.Expr]:
    """Return the values that a function is applied to; none for a count of rows."""
    if isinstance(node, exp.Anonymous):
        values = list(node.expressions)
    elif isinstance(node, (exp.ArgMin, exp.ArgMax)):
        values = [node.this, node.expression]
    else:
        values = [node.this] if node.this is not None else []
    unordered = [item.this if isinstance(item, exp.Order) else item for item in values]
    bare = [item.expressions[0] if isinstance(item, exp.Distinct) else item for item in unordered]
    return [item for item in bare if not isinstance(item, exp.Star)]


def find_pick_function(node: exp.Expr) -> str:
    """Return the function that picks a value from one row; empty if the function does not pick."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() if node.name.lower() in ("arg_min_null", "arg_max_null") else ""
    if isinstance(node, (exp.ArgMin, exp.Min)):
        return "arg_min"
    return "arg_max" if isinstance(node, (exp.ArgMax, exp.Max)) else ""


def replace_function(window: exp.Window, function: exp.Expr) -> exp.Window:
    """Return a window with another function, under the same condition."""
    copy = window.copy()
    where = unwrap_window(window).where
    copy.set("this", filter_aggregate(function, [where.copy()] if where is not None else []))
    return copy


def filter_aggregate(call: exp.Expr, conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Restrict an aggregate to the rows that meet all conditions."""
    return exp.Filter(this=call, expression=exp.Where(this=exp.and_(*conditions))) if conditions else call


def merge_lists(lists: exp.Expr) -> exp.Expr:
    """Return all members of lists, each once, in order."""
    return sort_list(coalesce_list(call_function("flatten", lists)))


def join_lists(parts: Iterable[exp.Expr | None]) -> exp.Expr | None:
    """Join the lists that are not None into one; None without lists."""
    distinct = list({item.sql(dialect.DIALECT): item for item in parts if item is not None}.values())
    if len(distinct) < 2:
        return distinct[0].copy() if distinct else None
    return sort_list(call_function("flatten", exp.Array(expressions=[item.copy() for item in distinct])))


def sort_list(records: exp.Expr) -> exp.Expr:
    """Return a list with each member once, in order."""
    return call_function("list_sort", call_function("list_distinct", records))


def pick_least(records: exp.Expr) -> exp.Expr:
    """Return the least list of a group; rows that are equal have the same list."""
    return exp.Min(this=records)


def build_when_present(values: Sequence[exp.Expr], value: exp.Expr) -> exp.Expr:
    """Return a value where all `values` are not null, and null elsewhere."""
    return exp.Case(ifs=[exp.If(this=exp.and_(*(build_not_null(item) for item in values)), true=value.copy())])


def build_not_null(value: exp.Expr) -> exp.Expr:
    """Return the condition that a value is not null."""
    return exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))


def build_empty_list() -> exp.Expr:
    """Return an empty list of records."""
    return exp.Cast(this=exp.Array(expressions=[]), to=exp.DataType.build(LINES, dialect=dialect.DIALECT))


def coalesce_list(records: exp.Expr) -> exp.Expr:
    """Replace a null list by an empty one."""
    return exp.Coalesce(this=records, expressions=[build_empty_list()])


def alias_companion(records: exp.Expr | None, name: str) -> exp.Expr:
    """Name a list as the companion of a column; None becomes an empty list."""
    return exp.alias_(records if records is not None else build_empty_list(), get_companion_name(name), quoted=True)


def quote_identifier(name: str) -> exp.Identifier:
    """Return a quoted identifier."""
    return exp.to_identifier(name, quoted=True)


def build_quoted_column(name: str, table: str = "") -> exp.Column:
    """Return a column with a quoted name."""
    return exp.Column(this=quote_identifier(name), table=exp.to_identifier(table) if table else None)


def call_function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function for which sqlglot has no class."""
    return exp.Anonymous(this=name, expressions=list(arguments))
