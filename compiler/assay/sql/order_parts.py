"""What an order in a query is by, and what it decides: read off the query's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from assay.sql.ordered import around, word_of
from assay.sql.row_keys import conjuncts

_EXTREMES = ("arg_max", "arg_min", "argmax", "argmin", "max_by", "min_by")
#: functions of a window that depend on the place of each row; those that the parser has no class for
_OF_PLACES = (exp.RowNumber, exp.Lag, exp.Lead, exp.NthValue, exp.Ntile)
_PLACES = ("fill",)


def cuts(query: exp.Expr) -> Iterator[str]:
    """The words of what takes some rows of a query."""
    for part in ("limit", "offset"):
        if found := query.args.get(part):
            yield "FETCH" if isinstance(found, exp.Fetch) else part.upper()


def ordered_by(value: exp.Expr, outputs: Sequence[exp.Expr], aliases: Mapping[str, exp.Expr]) -> list[exp.Expr]:
    """What an order of the rows of a query is by: outputs by their numbers or names, or all of them."""
    if isinstance(value, exp.Var) and value.name.casefold() == "all":
        return list(outputs)
    if isinstance(value, exp.Literal) and value.is_int and 1 <= int(value.name) <= len(outputs):
        return [outputs[int(value.name) - 1]]
    if isinstance(value, exp.Column) and not value.table and value.name.casefold() in aliases:
        return [aliases[value.name.casefold()]]
    return [value]


def is_of_places(call: exp.Expr) -> bool:
    """Whether a function of a window depends on the place of each row."""
    return isinstance(call, _OF_PLACES) or (isinstance(call, exp.Anonymous) and call.name.casefold() in _PLACES)


def is_read(node: exp.Expr) -> bool:
    """Whether a node stands for what is read of a row, and not for all rows that are counted."""
    return not (isinstance(node, exp.Star) and isinstance(node.parent, exp.Count))


def is_of_window(call: exp.Expr) -> bool:
    """Whether a call is the function of a window."""
    parent = around(call)
    while isinstance(parent, (exp.RespectNulls, exp.Filter, exp.IgnoreNulls)):
        parent = parent.parent
    return isinstance(parent, exp.Window) and parent.this.find(type(call)) is call


def is_all(spec: exp.Expr) -> bool:
    """Whether a window's frame is all rows of its part."""
    return [str(spec.args.get(name)).upper() for name in ("start", "end")] == ["UNBOUNDED", "UNBOUNDED"]


def arguments_of(call: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr], bool]:
    """What a function of a group takes of its rows, by what it orders these, and whether it takes each value once."""
    values = list(call.iter_expressions())
    outside = around(call)
    by: list[exp.Expr] = []
    if isinstance(outside, exp.WithinGroup) and isinstance(call, exp.GroupConcat):
        by = [item.this for item in outside.expression.expressions]
    found: list[exp.Expr] = []
    for value in values:
        if isinstance(value, exp.Order):
            by += [item.this for item in value.expressions]
            value = value.this
        if value is not None:
            found.append(value)
    distinct = any(isinstance(value, exp.Distinct) for value in found)
    found = [item for value in found for item in (value.expressions if isinstance(value, exp.Distinct) else [value])]
    name = word_of(call)[0]
    if not by and name.casefold().startswith(_EXTREMES) and len(found) > 1:
        return found[:1], found[1:2], distinct
    if distinct:
        found = found[:1]
    return found, by, distinct


def equalities(condition: exp.Expr | None) -> list[tuple[exp.Expr, exp.Expr]]:
    """The pairs of values that are equal where a condition holds."""
    pairs = (item for item in conjuncts(condition) if isinstance(item, exp.EQ))
    return [(item.this.unnest(), item.expression.unnest()) for item in pairs]
