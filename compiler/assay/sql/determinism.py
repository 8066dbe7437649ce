"""Find the parts of a query whose values depend on an order of rows that the query does not define."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

#: window functions whose values depend on the order of rows
POSITIONAL_FUNCTIONS = (exp.RowNumber, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Ntile)
#: aggregate functions whose values depend on the order of rows
ORDERED_AGGREGATES = (exp.First, exp.Last, exp.GroupConcat, exp.AnyValue, exp.ArrayAgg, exp.Mode)
#: aggregate functions of this kind for which the parser has no class
ORDERED_AGGREGATE_NAMES = (
    "arbitrary",
    "json_group_array",
    "json_group_object",
    "json_group_structure",
    "lttb",
    "variant_group_array",
    "variant_group_object",
)
#: list functions that ignore the order of elements
ANY_ORDER = (exp.ArraySort, exp.Length, exp.ArraySize, exp.ArrayContains)


def find_nondeterminism(tree: exp.Expr) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the parts of a query that need an order and have none.

    Each is a pair: the synonyms of SQL for the part, one of which is in the text, and a description for messages.
    """
    for query in tree.find_all(exp.Query):
        if not query.args.get("order"):
            yield from _find_unordered_cuts(query)
    for window in tree.find_all(exp.Window):
        orders = window.args.get("order") or resolve_window(window).args.get("order")
        if (
            isinstance(strip_null_handling(window.this), (*POSITIONAL_FUNCTIONS, *ORDERED_AGGREGATES))
            and not orders
            and not window.this.find(exp.Order)
        ):
            yield list_function_names(strip_null_handling(window.this)), "in a window without ORDER BY"
    for group in tree.find_all(*ORDERED_AGGREGATES, exp.Anonymous):
        if isinstance(group, exp.Anonymous) and group.name.casefold() not in ORDERED_AGGREGATE_NAMES:
            continue
        in_window = isinstance(group.find_ancestor(exp.Window, exp.Select), exp.Window)
        if not in_window and not group.find(exp.Order) and not isinstance(get_outer_node(group), ANY_ORDER):
            yield list_function_names(group), "over the rows of a group without ORDER BY"
    for join in tree.find_all(exp.Join):
        if join.method == "POSITIONAL":
            yield ("POSITIONAL",), "join of rows without an order"
    for call in tree.find_all(exp.ArgMax, exp.ArgMin):
        if not call.expression.find(exp.Column):
            yield list_function_names(call), "by a value that all rows of the group share"


def _find_unordered_cuts(query: exp.Expr) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the clauses that cut the rows of a query without an order.

    Queries of one row, and queries in EXISTS, need no order.
    """
    if isinstance(query.parent, exp.Exists) or is_one_row(query):
        return
    for part in ("limit", "offset"):
        if clause := query.args.get(part):
            yield ("FETCH" if isinstance(clause, exp.Fetch) else part.upper(),), "without ORDER BY"
    distinct = query.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        yield ("DISTINCT",), "ON without ORDER BY"


def is_one_row(query: exp.Expr) -> bool:
    """Return whether a query aggregates all rows into one."""
    return (
        isinstance(query, exp.Select)
        and not query.args.get("group")
        and all(item.find(exp.AggFunc) and not item.find(exp.Window) for item in query.expressions)
    )


def resolve_window(window: exp.Window) -> exp.Expr:
    """Return the definition of a window: its own, or that of the named window to which it refers."""
    select, name = window.find_ancestor(exp.Select), window.alias
    definitions = select.args.get("windows") or () if select and name else ()
    return next((item for item in definitions if item.name.casefold() == name.casefold()), window)


def strip_null_handling(node: exp.Expr) -> exp.Expr:
    """Return a function without `IGNORE NULLS` or `RESPECT NULLS`."""
    return node.this if isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)) else node


def get_outer_node(group: exp.Expr) -> exp.Expr | None:
    """Return the node that an aggregate function is an argument of, apart from a filter of its rows."""
    parent = group.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls)):
        parent = parent.parent
    return parent


#: the names of functions that have several
NAMES: dict[type[exp.Func], tuple[str, ...]] = {
    exp.GroupConcat: ("string_agg", "group_concat", "listagg"),
    exp.ArrayAgg: ("list", "array_agg"),
    exp.ArgMax: ("arg_max", "max_by", "argmax"),
    exp.ArgMin: ("arg_min", "min_by", "argmin"),
}


def list_function_names(node: exp.Expr) -> tuple[str, ...]:
    """Return the names of a function in SQL texts."""
    if isinstance(node, exp.Anonymous):
        return (node.name,)
    assert isinstance(node, exp.Func)
    return NAMES.get(type(node), (node.sql_name().casefold(),))
