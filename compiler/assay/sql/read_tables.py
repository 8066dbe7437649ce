"""Find the tables that a query reads: those that it names, without its own queries (`WITH`)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def find_tables(query: exp.Expr) -> Iterator[exp.Table]:
    """Yield the references to tables in a query, without those to a query of a `WITH` around them."""
    for table in query.find_all(exp.Table):
        if table.db or table.name.casefold() not in list_visible_queries(table):
            yield table


def list_visible_queries(table: exp.Expr) -> set[str]:
    """Return the names, in lower case, of the queries (`WITH`) that a table may refer to.

    In each enclosing `WITH` these are the queries before the one that contains the table; if it is recursive, also that
    query itself.
    """
    names: set[str] = set()
    node, parent = table, table.parent
    while parent is not None:
        if isinstance(parent, exp.With):
            index = next(number for number, item in enumerate(parent.expressions) if item is node)
            visible = parent.expressions[: index + bool(parent.recursive)]
        else:
            with_clause = parent.args.get("with_")
            visible = with_clause.expressions if with_clause is not None and with_clause is not node else []
        names |= {item.alias.casefold() for item in visible}
        node, parent = parent, parent.parent
    return names
