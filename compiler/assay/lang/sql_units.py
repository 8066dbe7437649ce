"""Find the columns whose unit a query passes on to its results, by its syntax tree.

A value keeps its unit where it is selected unchanged, picked out of several, or averaged.  A product or a quotient has
another unit; so may a sum (a total per second may be declared as a rate), and every function that is not listed below.
Differences are marked: the difference of two instants has their unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from assay.lang.sql_dependencies import parse_statements

if TYPE_CHECKING:
    from sqlglot import exp

#: (table, column, is_unchanged), in lower case; the table of a constant is empty.  Where `is_unchanged` is false, the
#: result is a difference of two such values.
UnitSources: TypeAlias = "frozenset[tuple[str, str, bool]]"
Outputs: TypeAlias = "dict[str, UnitSources]"
Tables: TypeAlias = "Mapping[str, Outputs]"

NO_SOURCES: UnitSources = frozenset()
#: nodes whose value has the unit of their first operand
_FIRST = ("Paren", "Alias", "Cast", "TryCast", "Neg", "Abs", "Filter", "Window", "IgnoreNulls", "RespectNulls",
          "Order", "Min", "Max", "Avg", "Median", "Quantile", "PercentileCont", "PercentileDisc", "AnyValue", "First",
          "Last", "ArgMin", "ArgMax", "Lag", "Lead", "FirstValue", "LastValue", "NthValue")  # fmt: skip
#: nodes whose value has the unit of any of their operands
_ANY = ("Coalesce", "Greatest", "Least")


def trace_units(sql: str, tables: Mapping[str, Sequence[str]]) -> Outputs:
    """Return the upstream columns and constants of each result column (in lower case) that pass on their unit.

    `tables` are those that the query may read, with their columns.  Raises sqlglot's ParseError or TokenError, and
    RecursionError.
    """
    sources = {
        name.casefold(): {item.casefold(): frozenset({(name.casefold(), item.casefold(), True)}) for item in columns}
        for name, columns in tables.items()
    }
    outputs = [_trace_query(tree, sources) for tree in parse_statements(sql)]
    return outputs[0] if len(outputs) == 1 else {}


def _trace_query(tree: exp.Expr, tables: Tables) -> Outputs:
    from sqlglot import exp

    with_ = tree.args.get("with_")
    if with_ and not with_.args.get("recursive"):
        tables = dict(tables)
        for item in with_.expressions:
            tables[item.alias.casefold()] = _rename_outputs(_trace_query(item.this, tables), item)
    elif with_:
        return {}
    if isinstance(tree, (exp.Subquery, exp.Paren)):
        return _trace_query(tree.this, tables)
    if isinstance(tree, exp.SetOperation):
        return _merge_outputs(_trace_query(tree.this, tables), _trace_query(tree.expression, tables), tree)
    return _trace_select(tree, tables) if isinstance(tree, exp.Select) else {}


def _rename_outputs(outputs: Outputs, item: exp.Expr) -> Outputs:
    """Return the outputs under the column names of an alias; none if the alias does not name them all."""
    alias = item.args.get("alias")
    names = [name.name.casefold() for name in alias.args.get("columns") or ()] if alias else []
    if not names:
        return outputs
    return dict(zip(names, outputs.values(), strict=True)) if len(names) == len(outputs) else {}


def _merge_outputs(left: Outputs, right: Outputs, tree: exp.SetOperation) -> Outputs:
    """Return the outputs of a set operation: matched by position, or by name."""
    if tree.args.get("by_name"):
        return {name: left.get(name, NO_SOURCES) | right.get(name, NO_SOURCES) for name in {*left, *right}}
    if len(left) != len(right):
        return {}
    return {
        name: left_columns | right_columns
        for (name, left_columns), right_columns in zip(left.items(), right.values(), strict=True)
    }


def _trace_select(tree: exp.Select, tables: Tables) -> Outputs:
    from sqlglot import exp

    sources: dict[str, Outputs] = {}
    from_ = tree.args.get("from_")
    for item in [*([from_.this] if from_ else []), *(join.this for join in tree.args.get("joins") or ())]:
        inner = item.this if isinstance(item, exp.Lateral) else item
        outputs = tables.get(inner.name.casefold(), {}) if isinstance(inner, exp.Table) else _trace_query(inner, tables)
        sources[item.alias_or_name.casefold()] = _rename_outputs(outputs, item)
    results: Outputs = {}
    for item in tree.expressions:
        for name, columns in _trace_projection(item, sources):
            results[name] = columns
    return results


def _trace_projection(item: exp.Expr, sources: Mapping[str, Outputs]) -> Iterator[tuple[str, UnitSources]]:
    """Yield the results of a projection: one, or those of a star."""
    from sqlglot import exp

    star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
    if not isinstance(star, exp.Star):
        yield item.alias_or_name.casefold(), _trace_unit(item, sources)
        return
    table = item.table.casefold() if isinstance(item, exp.Column) else ""
    excluded = {name.name.casefold() for name in star.args.get("except_") or ()}
    replacements = {
        expression.alias.casefold(): _trace_unit(expression, sources) for expression in star.args.get("replace") or ()
    }
    new_names = {
        expression.this.name.casefold(): expression.alias.casefold() for expression in star.args.get("rename") or ()
    }
    for source, columns in sources.items():
        for name, upstream in columns.items():
            if table in ("", source) and name not in excluded:
                yield new_names.get(name, name), replacements.get(name, upstream)


def _trace_unit(node: exp.Expr | None, sources: Mapping[str, Outputs]) -> UnitSources:
    """Return the columns that pass on their unit to a value."""
    from sqlglot import exp

    kind = type(node).__name__
    if node is None:
        return NO_SOURCES
    if isinstance(node, exp.Column):
        return _trace_column(node, sources)
    if isinstance(node, exp.Placeholder):
        return frozenset({("", str(node.this).casefold(), True)})
    if isinstance(node, exp.Sub):
        return _trace_difference(_trace_unit(node.this, sources), _trace_unit(node.expression, sources))
    if isinstance(node, (exp.Case, exp.If)):
        branches = [item.args.get("true") for item in node.args.get("ifs") or [node]]
        parts = [*branches, node.args.get("default") or node.args.get("false")]
    elif kind in _ANY:
        parts = [node.this, node.args.get("expression"), *node.expressions]
    else:
        parts = [node.this] if kind in _FIRST and isinstance(node.this, exp.Expr) else []
    return NO_SOURCES.union(*(_trace_unit(part, sources) for part in parts))


def _trace_difference(left: UnitSources, right: UnitSources) -> UnitSources:
    """Return the columns that pass on their unit to a difference."""
    return frozenset((table, name, False) for table, name, _ in left | right) if left and right else NO_SOURCES


def _trace_column(node: exp.Column, sources: Mapping[str, Outputs]) -> UnitSources:
    name, table = node.name.casefold(), node.table.casefold()
    if table:
        return sources.get(table, {}).get(name, NO_SOURCES)
    candidates = [columns[name] for columns in sources.values() if name in columns]
    return candidates[0] if len(candidates) == 1 else NO_SOURCES
