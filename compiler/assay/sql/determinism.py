"""Where a query takes some rows out of several and does not say which: the engine would take any."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

#: functions of a window whose values depend on the order of its rows
OF_PLACES = (exp.RowNumber, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Ntile)
#: functions of a group, likewise
OF_GROUPS = (exp.First, exp.Last, exp.GroupConcat, exp.AnyValue, exp.ArrayAgg, exp.Mode)
#: those that the parser has no class for
OTHERS = ("arbitrary", "json_group_array", "json_group_object", "json_group_structure", "lttb", "variant_group_array",
           "variant_group_object")  # fmt: skip
#: functions of a list for which the order of its elements is no matter
ANY_ORDER = (exp.ArraySort, exp.Length, exp.ArraySize, exp.ArrayContains)


def find_nondeterminism(tree: exp.Expr) -> Iterator[tuple[tuple[str, ...], str]]:
    """What of a query lacks an order: the word of SQL that stands there, one of those of its kind, and what it does."""
    for query in tree.find_all(exp.Query):
        if not query.args.get("order"):
            yield from _parts(query)
    for window in tree.find_all(exp.Window):
        orders = window.args.get("order") or named(window).args.get("order")
        if isinstance(bare(window.this), (*OF_PLACES, *OF_GROUPS)) and not orders and not window.this.find(exp.Order):
            yield word_of(bare(window.this)), "is of places in a window that has no order"
    for group in tree.find_all(*OF_GROUPS, exp.Anonymous):
        if isinstance(group, exp.Anonymous) and group.name.casefold() not in OTHERS:
            continue
        in_window = isinstance(group.find_ancestor(exp.Window, exp.Select), exp.Window)
        if not in_window and not group.find(exp.Order) and not isinstance(around(group), ANY_ORDER):
            yield word_of(group), "is of the rows of a group in no order"
    for join in tree.find_all(exp.Join):
        if join.method == "POSITIONAL":
            yield ("POSITIONAL",), "pairs rows of no order"
    for one in tree.find_all(exp.ArgMax, exp.ArgMin):
        if not one.expression.find(exp.Column):
            yield word_of(one), "takes one row of a group by what is the same in all"


def _parts(query: exp.Expr) -> Iterator[tuple[tuple[str, ...], str]]:
    """What cuts the rows of a query that has no order, unless it is one row or is asked only whether there is any."""
    if isinstance(query.parent, exp.Exists) or is_one_row(query):
        return
    for part in ("limit", "offset"):
        if found := query.args.get(part):
            yield ("FETCH" if isinstance(found, exp.Fetch) else part.upper(),), "takes some rows of no order"
    distinct = query.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        yield ("DISTINCT",), "takes one row of several that have no order"


def is_one_row(query: exp.Expr) -> bool:
    """Whether a query is one row that sums up all."""
    return (
        isinstance(query, exp.Select)
        and not query.args.get("group")
        and all(item.find(exp.AggFunc) and not item.find(exp.Window) for item in query.expressions)
    )


def named(window: exp.Window) -> exp.Expr:
    """What a window is: as it says, or as the query says of its name."""
    select, name = window.find_ancestor(exp.Select), window.alias
    known = select.args.get("windows") or () if select and name else ()
    return next((item for item in known if item.name.casefold() == name.casefold()), window)


def bare(node: exp.Expr) -> exp.Expr:
    """A function without what is said of missing values beside it."""
    return node.this if isinstance(node, (exp.IgnoreNulls, exp.RespectNulls)) else node


def around(group: exp.Expr) -> exp.Expr | None:
    """What a function of a group is given to, a condition on its rows aside."""
    parent = group.parent
    while isinstance(parent, (exp.Filter, exp.IgnoreNulls)):
        parent = parent.parent
    return parent


#: how functions that have several names may be called in texts
NAMES: dict[type[exp.Func], tuple[str, ...]] = {
    exp.GroupConcat: ("string_agg", "group_concat", "listagg"),
    exp.ArrayAgg: ("list", "array_agg"),
    exp.ArgMax: ("arg_max", "max_by", "argmax"),
    exp.ArgMin: ("arg_min", "min_by", "argmin"),
}


def word_of(node: exp.Expr) -> tuple[str, ...]:
    """What a function may be called in texts."""
    if isinstance(node, exp.Anonymous):
        return (node.name,)
    assert isinstance(node, exp.Func)
    return NAMES.get(type(node), (node.sql_name().casefold(),))
