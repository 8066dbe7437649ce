"""What a query passes on with the unit that it has: told by its tree.

A value keeps its unit where it is taken as it is, picked out of several, or averaged. A product or a quotient has
another one; so may a sum (what a second adds up to may be called a rate), and whatever is not known here. Instants
are told apart, for what lies between two of them is in their unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from assay.lang.sql_dependencies import parse_statements

if TYPE_CHECKING:
    from sqlglot import exp

#: a column of a table that the query reads, both in lower case (of a constant the table is empty), and whether it is
#: taken as it is; else what lies between two such values is
Passed: TypeAlias = "frozenset[tuple[str, str, bool]]"
Outputs: TypeAlias = "dict[str, Passed]"
Known: TypeAlias = "Mapping[str, Outputs]"

NOTHING: Passed = frozenset()
#: nodes whose value has the unit of their first part
_FIRST = ("Paren", "Alias", "Cast", "TryCast", "Neg", "Abs", "Filter", "Window", "IgnoreNulls", "RespectNulls",
          "Order", "Min", "Max", "Avg", "Median", "Quantile", "PercentileCont", "PercentileDisc", "AnyValue", "First",
          "Last", "ArgMin", "ArgMax", "Lag", "Lead", "FirstValue", "LastValue", "NthValue")  # fmt: skip
#: nodes whose value has the unit of any of their parts
_ANY = ("Coalesce", "Greatest", "Least")


def passed(sql: str, tables: Mapping[str, Sequence[str]]) -> Outputs:
    """Result column (in lower case) -> the columns of tables, and the constants, whose unit it has.

    `tables` are those that the query may read, with their columns.  Raises sqlglot's ParseError or TokenError, and
    RecursionError.
    """
    known = {
        name.casefold(): {item.casefold(): frozenset({(name.casefold(), item.casefold(), True)}) for item in columns}
        for name, columns in tables.items()
    }
    found = [_query(tree, known) for tree in parse_statements(sql)]
    return found[0] if len(found) == 1 else {}


def _query(tree: exp.Expr, known: Known) -> Outputs:
    from sqlglot import exp

    with_ = tree.args.get("with_")
    if with_ and not with_.args.get("recursive"):
        known = dict(known)
        for item in with_.expressions:
            known[item.alias.casefold()] = _renamed(_query(item.this, known), item)
    elif with_:
        return {}
    if isinstance(tree, (exp.Subquery, exp.Paren)):
        return _query(tree.this, known)
    if isinstance(tree, exp.SetOperation):
        return _both(_query(tree.this, known), _query(tree.expression, known), tree)
    return _select(tree, known) if isinstance(tree, exp.Select) else {}


def _renamed(found: Outputs, item: exp.Expr) -> Outputs:
    """The results by the names that an alias gives to its columns; none where it does not name them all."""
    alias = item.args.get("alias")
    names = [name.name.casefold() for name in alias.args.get("columns") or ()] if alias else []
    if not names:
        return found
    return dict(zip(names, found.values(), strict=True)) if len(names) == len(found) else {}


def _both(left: Outputs, right: Outputs, tree: exp.SetOperation) -> Outputs:
    """The results of both sides: by their places, unless they are matched by names."""
    if tree.args.get("by_name"):
        return {name: left.get(name, NOTHING) | right.get(name, NOTHING) for name in {*left, *right}}
    if len(left) != len(right):
        return {}
    return {name: one | other for (name, one), other in zip(left.items(), right.values(), strict=True)}


def _select(tree: exp.Select, known: Known) -> Outputs:
    from sqlglot import exp

    sources: dict[str, Outputs] = {}
    from_ = tree.args.get("from_")
    for item in [*([from_.this] if from_ else []), *(join.this for join in tree.args.get("joins") or ())]:
        inner = item.this if isinstance(item, exp.Lateral) else item
        own = known.get(inner.name.casefold(), {}) if isinstance(inner, exp.Table) else _query(inner, known)
        sources[item.alias_or_name.casefold()] = _renamed(own, item)
    found: Outputs = {}
    for item in tree.expressions:
        for name, columns in _projected(item, sources):
            found[name] = columns
    return found


def _projected(item: exp.Expr, sources: Mapping[str, Outputs]) -> Iterator[tuple[str, Passed]]:
    """The results that a projection makes: one, or those of a star."""
    from sqlglot import exp

    star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
    if not isinstance(star, exp.Star):
        yield item.alias_or_name.casefold(), _unit_of(item, sources)
        return
    of = item.table.casefold() if isinstance(item, exp.Column) else ""
    except_ = {name.name.casefold() for name in star.args.get("except_") or ()}
    replaced = {one.alias.casefold(): _unit_of(one, sources) for one in star.args.get("replace") or ()}
    renamed = {one.this.name.casefold(): one.alias.casefold() for one in star.args.get("rename") or ()}
    for source, columns in sources.items():
        for name, passed_on in columns.items():
            if of in ("", source) and name not in except_:
                yield renamed.get(name, name), replaced.get(name, passed_on)


def _unit_of(node: exp.Expr | None, sources: Mapping[str, Outputs]) -> Passed:
    """The columns whose unit a value has."""
    from sqlglot import exp

    kind = type(node).__name__
    if node is None:
        return NOTHING
    if isinstance(node, exp.Column):
        return _column(node, sources)
    if isinstance(node, exp.Placeholder):
        return frozenset({("", str(node.this).casefold(), True)})
    if isinstance(node, exp.Sub):
        return _between(_unit_of(node.this, sources), _unit_of(node.expression, sources))
    if isinstance(node, (exp.Case, exp.If)):
        branches = [item.args.get("true") for item in node.args.get("ifs") or [node]]
        parts = [*branches, node.args.get("default") or node.args.get("false")]
    elif kind in _ANY:
        parts = [node.this, node.args.get("expression"), *node.expressions]
    else:
        parts = [node.this] if kind in _FIRST and isinstance(node.this, exp.Expr) else []
    return NOTHING.union(*(_unit_of(part, sources) for part in parts))


def _between(left: Passed, right: Passed) -> Passed:
    """The columns whose unit a difference has."""
    return frozenset((table, name, False) for table, name, _ in left | right) if left and right else NOTHING


def _column(node: exp.Column, sources: Mapping[str, Outputs]) -> Passed:
    name, table = node.name.casefold(), node.table.casefold()
    if table:
        return sources.get(table, {}).get(name, NOTHING)
    having = [columns[name] for columns in sources.values() if name in columns]
    return having[0] if len(having) == 1 else NOTHING
