"""Compile relations and checks: SQL files with `$constant` parameters as syntax trees, and the keys of relations."""

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
from assay.sql.error_positions import find_word, locate_parse_error
from assay.sql.expressions import build_literal
from assay.sql.read_tables import find_tables
from assay.sql.row_keys import Shape
from assay.sql.sandbox import find_tie_problems, parse_sandboxed
from assay.sql.template import fill_query
from assay.util.diagnostics import AssayError, fail, suggest_names

_EXPANDING_FUNCTIONS = ("unnest", "generate_subscripts", "regexp_split_to_table")


def select_duplicates(relation: Relation) -> exp.Select:
    """Return the keys of a relation that several rows have, with the number of these rows.

    Of a relation without a key: the number of its rows, if there are several.
    """
    query = "SELECT $key, count(*) AS $number FROM $relation GROUP BY $key HAVING count(*) > 1 ORDER BY $key"
    return fill_query(query, key=relation.key, number=ROWS_OF_KEY, relation=relation.name)


def has_unique_key(query: exp.Expr, key: Collection[str]) -> bool:
    """Return whether the text of a query proves that no two of its rows have the same key.

    It does when the query groups by columns of the key only, or selects distinct rows of them (as UNION does).
    """
    if isinstance(query, exp.Union):
        is_distinct = query.args.get("distinct") and not query.args.get("by_name")
        return bool(is_distinct) and set(query.named_selects) <= set(key)
    if not isinstance(query, exp.Select):
        return False
    values_by_name = {item.alias_or_name: item.unalias() for item in query.selects}
    if query.args.get("distinct"):
        return not query.args["distinct"].args.get("on") and set(values_by_name) <= set(key)
    if any(can_expand(item) for item in query.selects):
        return False
    group = query.args.get("group")
    if group is None:
        return not query.args.get("from_") or any(_is_aggregated(item, query) for item in query.selects)
    if any(value for name, value in group.args.items() if name != "expressions"):
        return False
    key_values = [value for name, value in values_by_name.items() if name in key]
    return all(item in key_values and not isinstance(item, exp.Literal) for item in group.expressions)


def can_expand(value: exp.Expr) -> bool:
    """Return whether a value may become several rows: it unnests a list, or calls a function that may do so."""
    return any(
        isinstance(item, (exp.UDTF, exp.Explode)) or item.name.casefold() in _EXPANDING_FUNCTIONS
        for item in value.find_all(exp.UDTF, exp.Explode, exp.Anonymous)
    )


def _is_aggregated(value: exp.Expr, query: exp.Select) -> bool:
    """Return whether a value aggregates the rows of the query itself, not those of a subquery or window."""
    return any(
        item.find_ancestor(exp.Select) is query and not item.find_ancestor(exp.Window)
        for item in value.find_all(exp.AggFunc)
    )


def compile_query(sql: str, constants: Mapping[str, object], reads: Collection[str], subject: str) -> exp.Expr:
    """Return the tree of a query over the tables `reads`; `subject` names the query in messages.

    When every constant is a placeholder the tree is shared: copy it before you change it.

    Raises AssayError: `sql` when the text does not parse, `unknown-constant` for a placeholder without a constant, and
    all errors of `parse_sandboxed`.
    """
    try:
        tree = _parse_cached(sql, tuple(reads), subject)
    except ParseError as error:
        raise _describe_parse_error(error, sql, subject) from None
    except TokenError as error:
        cause = re.split(r"[.:]? at line|\. Line", str(error))[0].split("\n")[0]
        raise fail("sql", f"the SQL of {subject} does not parse: {cause}", text=sql) from None
    except RecursionError:
        raise fail("sql", f"the SQL of {subject} is nested too deeply", text=sql) from None
    names = [str(placeholder.this) for placeholder in tree.find_all(exp.Placeholder)]
    for name in names:
        if name not in constants:
            raise fail(
                "unknown-constant",
                f"unknown constant `${name}` in the SQL of {subject}",
                hint=suggest_names(name, constants),
                span=find_word(sql, name, "$"),
                text=sql,
            )
    if all(isinstance(constants[name], exp.Placeholder) for name in names):
        return tree
    return fill_constants(tree, constants)


@functools.lru_cache(maxsize=512)
def refuse_ties(sql: str, tables: tuple[tuple[str, Shape], ...], subject: str) -> None:
    """Raise AssayError (`sql-order`) when an order in which rows tie decides a value of a query.

    Expects a query that `compile_query` accepts.
    """
    shapes = dict(tables)
    for problem in find_tie_problems(_parse_cached(sql, tuple(shapes), subject), sql, shapes, subject):
        raise problem


def fill_constants(tree: exp.Expr, constants: Mapping[str, object]) -> exp.Expr:
    """Return a query with constants in place of their placeholders."""
    result = tree.copy()
    for placeholder in list(result.find_all(exp.Placeholder)):
        placeholder.replace(build_literal(constants[str(placeholder.this)]))
    return result


def restrict_sources(query: exp.Expr, sources: Collection[str]) -> exp.Expr:
    """Return a query that reads only the logs of some sources; none means all.  Other tables are unchanged."""
    if not sources:
        return query
    result = query.copy()
    for table in list(find_tables(result)):
        if table.name.casefold() == LOGS and not table.db:
            is_of_source = exp.In(
                this=dialect.build_column(SOURCE), expressions=[exp.Literal.string(name) for name in sources]
            )
            alias = exp.TableAlias(this=exp.to_identifier(table.alias or LOGS))
            table.replace(exp.Subquery(this=dialect.select("*").from_(LOGS).where(is_of_source), alias=alias))
    return result


@functools.lru_cache(maxsize=512)
def _parse_cached(sql: str, reads: tuple[str, ...], subject: str) -> exp.Expr:
    """Return the tree before placeholders are filled, cached: the same file is compiled for many metrics."""
    return _rename_tables(parse_sandboxed(sql, reads, subject), reads)


def _rename_tables(tree: exp.Expr, reads: Collection[str]) -> exp.Expr:
    """Return a query that spells its tables as they are declared.

    The engine ignores case, but the tables that a query needs, and its hash, are found by the exact name.
    """
    declared = {name.casefold(): name for name in reads}
    if all(declared.get(item.name.casefold(), item.name) == item.name for item in tree.find_all(exp.Table)):
        return tree
    renamed = tree.copy()
    for item in renamed.find_all(exp.Table):
        if (name := declared.get(item.name.casefold(), item.name)) != item.name:
            item.set("this", exp.to_identifier(name))
    return renamed


def _describe_parse_error(error: ParseError, sql: str, subject: str) -> AssayError:
    first = error.errors[0] if error.errors else {}
    cause = re.sub(r"<Token .*?text: (.*?), line.*?>", r"`\1`", str(first.get("description", error)))
    cause = re.sub(r"^Required keyword: .*", "a required part is missing", cause)
    return fail("sql", f"the SQL of {subject} does not parse: {cause}", span=locate_parse_error(sql, error), text=sql)
