"""Fill SQL templates: statements written as SQL, with typed slots.

A slot is a name `$name`.  What fills it depends on its value:

* an expression or query replaces the slot (the template has the parentheses that its place needs);
* a text is a name: of a table after `FROM` and `JOIN`, of a column elsewhere.  `$table.$column` keeps its qualifier;
* a list replaces the slot by all its items, in a list such as `SELECT $keys, n` or `GROUP BY $keys`.  After `ON`,
  `WHERE` and `AND`, the items are conditions that must all hold.  An empty list leaves its clause out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import exp

from assay.lang.sql_dependencies import drop_positions
from assay.sql.dialect import DIALECT, build_column

Slot = exp.Expr | str | Sequence[exp.Expr] | Sequence[str]

#: sqlglot reads slots as ordinary names with this prefix
_PREFIX = "slot__"


def fill_query(template: str, **slots: Slot) -> exp.Select:
    """Return the query of a template with its slots filled.  Raises KeyError if the names of the slots differ."""
    query = _fill(template, slots)
    assert isinstance(query, exp.Select)
    return query


def fill_expression(template: str, **slots: Slot) -> exp.Expr:
    """Return the expression of a template with its slots filled.  Raises KeyError if the names of the slots differ."""
    return _fill(template, slots)


@functools.cache
def _parse(template: str) -> exp.Expr:
    tree = sqlglot.parse_one(re.sub(r"\$(\w+)", rf"{_PREFIX}\1", template), read=DIALECT)
    drop_positions(tree)
    return tree


def _fill(template: str, slots: Mapping[str, Slot]) -> exp.Expr:
    root = exp.Paren(this=_parse(template).copy())  # the parent of an expression that is itself a slot
    names = [item for item in root.find_all(exp.Identifier) if item.name.startswith(_PREFIX)]
    if {item.name.removeprefix(_PREFIX) for item in names} != set(slots):
        raise KeyError(f"slots {sorted(slots)} do not match the template: {template}")
    # Qualifiers first: `$table.$columns` becomes several columns with the same qualifier.
    for name in sorted(names, key=lambda item: item.arg_key == "this" and isinstance(item.parent, exp.Column)):
        _fill_slot(name, slots[name.name.removeprefix(_PREFIX)])
    filled: exp.Expr = root.this.pop()
    return filled


def _fill_slot(name: exp.Expr, value: Slot) -> None:
    """Replace a name, or the column or table that it names, by the value of its slot."""
    parent = name.parent
    assert parent is not None
    if isinstance(parent, exp.Table) and isinstance(value, exp.Query):
        parent.replace(value.subquery(alias=parent.alias or None))
    elif not isinstance(parent, exp.Column) or name.arg_key != "this":
        assert isinstance(value, str)
        name.replace(exp.to_identifier(value))
    elif isinstance(value, str | exp.Expr):
        parent.replace(_build_item(value, parent.table))
    else:
        _splice(parent, [_build_item(item, parent.table) for item in value])


def _build_item(value: exp.Expr | str, qualifier: str) -> exp.Expr:
    """Return the expression that fills a slot; a copy, as a slot may occur more than once."""
    return build_column(value, qualifier) if isinstance(value, str) else value.copy()


def _splice(slot: exp.Expr, items: list[exp.Expr]) -> None:
    """Replace a slot by several expressions."""
    target, clause = slot, slot.parent
    if isinstance(clause, exp.Ordered):
        target, clause = clause, clause.parent
        items = [exp.Ordered(this=item) for item in items]
    assert clause is not None
    if isinstance(clause, exp.Where) and not items:
        clause.pop()
        return
    if isinstance(clause, exp.Connector) and not items:
        clause.replace(clause.right if clause.left is target else clause.left)
        return
    if isinstance(clause, exp.Connector | exp.Where | exp.Join):
        # `and_` leaves a single condition without parentheses, so that an OR would bind less than the clause's AND.
        needs_parentheses = isinstance(clause, exp.Connector) and isinstance(items[0], exp.Connector)
        target.replace(exp.paren(items[0]) if needs_parentheses and not items[1:] else exp.and_(*items))
        return
    target.replace(items)
    if isinstance(clause, exp.Group | exp.Order) and not clause.expressions:
        clause.pop()
