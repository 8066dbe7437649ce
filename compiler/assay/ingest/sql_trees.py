"""Syntax tree helpers for the queries over raw records."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.sql import dialect


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function of the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def build_text(value: str) -> exp.Expr:
    """Return a text literal."""
    return exp.Literal.string(value)


def build_if(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    """Return `value` if a condition holds, else `otherwise` (null by default). Only one of them is evaluated."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def build_case(operand: exp.Expr, values: Mapping[int, exp.Expr], otherwise: exp.Expr | None = None) -> exp.Expr:
    """Return a CASE that selects a value by a number; without a CASE if only one value is possible."""
    first = next(iter(values.values()), otherwise)
    if first is not None and (not values or (otherwise is None and all(value == first for value in values.values()))):
        return first
    ifs = [exp.If(this=dialect.build_integer(number), true=value) for number, value in values.items()]
    return exp.Case(this=operand, ifs=ifs, default=otherwise)


def build_alias(value: exp.Expr, name: str) -> exp.Expr:
    """Return a value with a column alias."""
    return exp.Alias(this=value, alias=exp.to_identifier(name))


def set_source(query: exp.Select, source: exp.Expr | str) -> exp.Select:
    """Set the source of a query, a table name or a tree; return the query."""
    query.set("from_", exp.From(this=exp.to_table(source) if isinstance(source, str) else source))
    return query


@functools.cache
def _build_type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=dialect.DIALECT)


def cast(value: exp.Expr, kind: str) -> exp.Expr:
    """Return a value cast to a type of the engine."""
    return exp.Cast(this=value, to=_build_type(kind).copy())


def try_cast(value: exp.Expr, kind: str) -> exp.Expr:
    """Return a value cast to a type of the engine, null if the cast fails."""
    return exp.TryCast(this=value, to=_build_type(kind).copy())


def build_member(items: exp.Expr, index: int) -> exp.Expr:
    """Return an item of a list; indices begin at 1."""
    return dialect.build_list_extract(items, dialect.build_integer(index))


def build_between(value: exp.Expr, low: int, high: int) -> exp.Expr:
    """Return the condition that an integer is between two others, inclusive."""
    if low == high:
        return exp.EQ(this=value, expression=dialect.build_integer(low))
    return exp.Between(this=value, low=dialect.build_integer(low), high=dialect.build_integer(high))


def is_null(value: exp.Expr) -> exp.Expr:
    """Return the condition that a value is null."""
    return exp.Is(this=value, expression=exp.Null())


def is_not_null(value: exp.Expr) -> exp.Expr:
    """Return the condition that a value is not null."""
    return exp.Not(this=is_null(value))


def build_coalesce(values: Sequence[exp.Expr]) -> exp.Expr:
    """Return the first value that is not null. Later values are not evaluated."""
    return values[0] if len(values) == 1 else exp.Coalesce(this=values[0], expressions=list(values[1:]))


def build_try(value: exp.Expr) -> exp.Expr:
    """Return a value, null where its evaluation fails."""
    return call("TRY", value)


def build_starts_with(value: exp.Expr, prefix: str) -> exp.Expr:
    """Return the condition that a text starts with a prefix."""
    return call("starts_with", value, build_text(prefix))


def build_pointer(path: Sequence[str]) -> exp.Expr:
    """Return a path of keys as a JSON pointer, in which keys need no quotes."""
    return build_text("".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path))


def extract_texts(document: exp.Expr, paths: Sequence[Sequence[str]]) -> exp.Expr:
    """Return the values at several paths of a JSON text as a list of texts. The JSON is parsed once."""
    return call("json_extract_string", document, exp.Array(expressions=[build_pointer(path) for path in paths]))


def build_json_exists(document: exp.Expr, path: Sequence[str]) -> exp.Expr:
    """Return the condition that a JSON text has a value, possibly null, at a path."""
    return call("json_exists", document, build_pointer(path))


def is_plain(number: exp.Expr) -> exp.Expr:
    """Return the condition that a text has no `_` and no `+-`, since the engine accepts both in numbers."""
    conditions = (exp.Not(this=call("contains", number.copy(), build_text(sign))) for sign in ("_", "+-"))
    return exp.and_(*conditions)


def build_list_parameter(name: str, kind: str) -> exp.Expr:
    """Return a list parameter of the statement."""
    return cast(exp.Placeholder(this=name), f"{kind}[]")


def build_smallint(number: int) -> exp.Expr:
    """Return a 16-bit integer literal."""
    return cast(dialect.build_integer(number), "SMALLINT")


def join_by_blanks(texts: Sequence[exp.Expr]) -> exp.Expr:
    """Return texts with blanks between them; null if one is null."""
    joined = texts[0]
    for text in texts[1:]:
        joined = exp.DPipe(this=exp.DPipe(this=joined, expression=build_text(" ")), expression=text)
    return joined
