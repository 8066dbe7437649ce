"""Relations and checks: SQL files with `$constant` parameters as syntax trees, and their keys."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from assay.lang.model.package import Relation
from assay.lang.scopes import LOGS, SOURCE
from assay.plan.planner import ROWS_OF_KEY
from assay.sql import dialect
from assay.sql.error_positions import of_parse_error, of_word
from assay.sql.expressions import literal
from assay.sql.row_keys import Shape
from assay.sql.sandbox import parse_sandboxed, tied
from assay.util.diagnostics import AssayError, did_you_mean, fail

_OF_ROWS = ("unnest", "generate_subscripts", "regexp_split_to_table")


def select_duplicates(relation: Relation) -> exp.Select:
    """The keys of a relation that several rows have, and how many have them; without a key: the rows, if several."""
    number = exp.Count(this=exp.Star())
    several = exp.GT(this=number.copy(), expression=dialect.integer(1))
    keys = [dialect.column(name) for name in relation.key]
    query = dialect.select(*keys, exp.alias_(number, ROWS_OF_KEY)).from_(dialect.table(relation.name))
    query = query.having(several, copy=False)
    if not keys:
        return query
    return query.group_by(*(key.copy() for key in keys)).order_by(*(key.copy() for key in keys))


def are_unique(query: exp.Expr, key: Collection[str]) -> bool:
    """Whether a query can yield no two rows of one key: it groups by no more than that, or has distinct rows of it."""
    if not isinstance(query, exp.Select):
        return False
    named = {item.alias_or_name: item.unalias() for item in query.selects}
    if query.args.get("distinct"):
        return not query.args["distinct"].args.get("on") and set(named) <= set(key)
    if any(_makes_rows(item) for item in query.selects):
        return False
    group = query.args.get("group")
    if group is None:
        return not query.args.get("from_") or any(_aggregates(item, query) for item in query.selects)
    if any(value for name, value in group.args.items() if name != "expressions"):
        return False
    of_key = [value for name, value in named.items() if name in key]
    return all(item in of_key and not isinstance(item, exp.Literal) for item in group.expressions)


def _makes_rows(value: exp.Expr) -> bool:
    """Whether a value may be several rows: lists become those, and of functions that are not known it is not known."""
    return any(
        isinstance(item, (exp.UDTF, exp.Explode)) or item.name.casefold() in _OF_ROWS
        for item in value.find_all(exp.UDTF, exp.Explode, exp.Anonymous)
    )


def _aggregates(value: exp.Expr, query: exp.Select) -> bool:
    """Whether a value is of all rows of the query, not of those of a query inside it or of a window."""
    return any(
        item.find_ancestor(exp.Select) is query and not item.find_ancestor(exp.Window)
        for item in value.find_all(exp.AggFunc)
    )


def compile_query(sql: str, constants: Mapping[str, object], reads: Collection[str], what: str) -> exp.Expr:
    """The tree of a query over the tables that it `reads`; where every constant is a place, it is shared: not to be
    changed.

    Raises AssayError: `sql` when it does not parse, `unknown-constant` for a place that names none, and what
    `confined` refuses.
    """
    try:
        tree = _tree(sql, tuple(reads), what)
    except ParseError as error:
        raise _unparsable(error, sql, what) from None
    except TokenError as error:
        cause = re.split(r"[.:]? at line|\. Line", str(error))[0].split("\n")[0]
        raise fail("sql", f"the SQL of {what} does not parse: {cause}", text=sql) from None
    except RecursionError:
        raise fail("sql", f"the SQL of {what} is nested too deep", text=sql) from None
    names = [str(place.this) for place in tree.find_all(exp.Placeholder)]
    for name in names:
        if name not in constants:
            raise fail(
                "unknown-constant",
                f"the SQL of {what} names a constant that no source of the package has: ${name}",
                hint=did_you_mean(name, constants),
                span=of_word(sql, name, "$"),
                text=sql,
            )
    if all(isinstance(constants[name], exp.Placeholder) for name in names):
        return tree
    return filled(tree, constants)


@functools.lru_cache(maxsize=512)
def refuse_ties(sql: str, tables: tuple[tuple[str, Shape], ...], what: str) -> None:
    """AssayError `sql-order` where an order of a query, which `compile_query` has taken, decides a value and does not
    tell all rows of its tables apart."""
    shapes = dict(tables)
    for problem in tied(_tree(sql, tuple(shapes), what), sql, shapes, what):
        raise problem


def filled(tree: exp.Expr, constants: Mapping[str, object]) -> exp.Expr:
    """A query with values in the places of constants."""
    found = tree.copy()
    for place in list(found.find_all(exp.Placeholder)):
        place.replace(literal(constants[str(place.this)]))
    return found


def of_sources(query: exp.Expr, sources: Collection[str]) -> exp.Expr:
    """A query that reads of the logs those of some sources (none named: all that there are), whatever else is read."""
    if not sources:
        return query
    found = query.copy()
    for table in list(found.find_all(exp.Table)):
        if table.name.casefold() == LOGS and not table.db:
            kept = exp.In(this=dialect.column(SOURCE), expressions=[exp.Literal.string(name) for name in sources])
            alias = exp.TableAlias(this=exp.to_identifier(table.alias or LOGS))
            table.replace(exp.Subquery(this=dialect.select("*").from_(LOGS).where(kept), alias=alias))
    return found


@functools.lru_cache(maxsize=512)
def _tree(sql: str, reads: tuple[str, ...], what: str) -> exp.Expr:
    """The tree before its places are filled: the same file is compiled for many metrics."""
    return _as_declared(parse_sandboxed(sql, reads, what), reads)


def _as_declared(tree: exp.Expr, reads: Collection[str]) -> exp.Expr:
    """A query that names its tables as they are declared: the engine takes upper case for lower case, and what is made
    for a query, and hashed, is found by name."""
    declared = {name.casefold(): name for name in reads}
    if all(declared.get(item.name.casefold(), item.name) == item.name for item in tree.find_all(exp.Table)):
        return tree
    named = tree.copy()
    for item in named.find_all(exp.Table):
        if (name := declared.get(item.name.casefold(), item.name)) != item.name:
            item.set("this", exp.to_identifier(name))
    return named


def _unparsable(error: ParseError, sql: str, what: str) -> AssayError:
    first = error.errors[0] if error.errors else {}
    cause = re.sub(r"<Token .*?text: (.*?), line.*?>", r"`\1`", str(first.get("description", error)))
    cause = re.sub(r"^Required keyword: .*", "something is missing", cause)
    return fail("sql", f"the SQL of {what} does not parse: {cause}", span=of_parse_error(sql, error), text=sql)
