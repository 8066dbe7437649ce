"""Find the parts of a query that order its rows, and those whose values depend on an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from assay.sql.determinism import get_outer_node, list_function_names, resolve_window
from assay.sql.row_keys import split_conjuncts

_EXTREMES = ("arg_max", "arg_min", "argmax", "argmin", "max_by", "min_by")
#: window functions that depend on the position of each row, and those for which the parser has no class
_POSITIONAL_FUNCTIONS = (exp.RowNumber, exp.Lag, exp.Lead, exp.NthValue, exp.Ntile)
_POSITIONAL_NAMES = ("fill",)


def list_cuts(query: exp.Expr) -> Iterator[str]:
    """Yield the keywords of the clauses that select some rows of a query: `LIMIT`, `OFFSET`, `FETCH`."""
    for clause in ("limit", "offset"):
        if node := query.args.get(clause):
            yield "FETCH" if isinstance(node, exp.Fetch) else clause.upper()


def resolve_order(value: exp.Expr, outputs: Sequence[exp.Expr], aliases: Mapping[str, exp.Expr]) -> list[exp.Expr]:
    """Return the values that a term of ORDER BY refers to: an output by number or name, or all outputs."""
    if isinstance(value, exp.Var) and value.name.casefold() == "all":
        return list(outputs)
    if isinstance(value, exp.Literal) and value.is_int and 1 <= int(value.name) <= len(outputs):
        return [outputs[int(value.name) - 1]]
    if isinstance(value, exp.Column) and not value.table and value.name.casefold() in aliases:
        return [aliases[value.name.casefold()]]
    return [value]


def is_positional(call: exp.Expr) -> bool:
    """Return whether a window function depends on the position of each row."""
    return isinstance(call, _POSITIONAL_FUNCTIONS) or (
        isinstance(call, exp.Anonymous) and call.name.casefold() in _POSITIONAL_NAMES
    )


def is_read(node: exp.Expr) -> bool:
    """Return whether a node reads a row; the star of `count(*)` does not."""
    return not (isinstance(node, exp.Star) and isinstance(node.parent, exp.Count))


def is_window_function(call: exp.Expr) -> bool:
    """Return whether a call is the function of a window."""
    parent = get_outer_node(call)
    while isinstance(parent, (exp.RespectNulls, exp.Filter, exp.IgnoreNulls)):
        parent = parent.parent
    return isinstance(parent, exp.Window) and parent.this.find(type(call)) is call


def is_whole_partition(spec: exp.Expr) -> bool:
    """Return whether the frame of a window covers its whole partition."""
    return [str(spec.args.get(name)).upper() for name in ("start", "end")] == ["UNBOUNDED", "UNBOUNDED"]


def split_arguments(call: exp.Expr) -> tuple[list[exp.Expr], list[exp.Expr], bool]:
    """Split the arguments of an aggregate function: its values, its order, and whether it is DISTINCT."""
    expressions = list(call.iter_expressions())
    outside = get_outer_node(call)
    order: list[exp.Expr] = []
    if isinstance(outside, exp.WithinGroup) and isinstance(call, exp.GroupConcat):
        order = [item.this for item in outside.expression.expressions]
    arguments: list[exp.Expr] = []
    for value in expressions:
        if isinstance(value, exp.Order):
            order += [item.this for item in value.expressions]
            value = value.this
        if value is not None:
            arguments.append(value)
    is_distinct = any(isinstance(value, exp.Distinct) for value in arguments)
    arguments = [
        item for value in arguments for item in (value.expressions if isinstance(value, exp.Distinct) else [value])
    ]
    name = list_function_names(call)[0]
    if not order and name.casefold().startswith(_EXTREMES) and len(arguments) > 1:
        return arguments[:1], arguments[1:2], is_distinct
    if is_distinct:
        arguments = arguments[:1]
    return arguments, order, is_distinct


def list_equalities(condition: exp.Expr | None) -> list[tuple[exp.Expr, exp.Expr]]:
    """List the pairs of values that are equal where a condition holds."""
    pairs = (item for item in split_conjuncts(condition) if isinstance(item, exp.EQ))
    return [(item.this.unnest(), item.expression.unnest()) for item in pairs]


def find_part_columns(value: exp.Expr, columns: Mapping[str, exp.Expr]) -> tuple[str, ...] | None:
    """Return the columns that partition a `row_number`.

    None for other values, and for partitions by other values than columns of the result.
    """
    if not isinstance(value, exp.Window) or not isinstance(value.this, exp.RowNumber):
        return None
    parts = value.args.get("partition_by") or resolve_window(value).args.get("partition_by") or []
    names = tuple(name for name, output in columns.items() if output in parts)
    return names if len(names) == len(parts) else None
