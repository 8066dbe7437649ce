"""Pieces of syntax trees that the queries over raw records are made of."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from sqlglot import exp

from assay.sql import dialect


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Expr:
    """A text literal."""
    return exp.Literal.string(value)


def when(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    """A value where a condition holds, another (or null) elsewhere; only what is taken is worked out."""
    return exp.Case(ifs=[exp.If(this=condition, true=value)], default=otherwise)


def cases(by: exp.Expr, values: Mapping[int, exp.Expr], otherwise: exp.Expr | None = None) -> exp.Expr:
    """A value by a number; the one value there is when all are the same, or there is no other."""
    first = next(iter(values.values()), otherwise)
    if first is not None and (not values or (otherwise is None and all(value == first for value in values.values()))):
        return first
    ifs = [exp.If(this=dialect.integer(number), true=value) for number, value in values.items()]
    return exp.Case(this=by, ifs=ifs, default=otherwise)


def alias(value: exp.Expr, name: str) -> exp.Expr:
    """A value under a name."""
    return exp.Alias(this=value, alias=exp.to_identifier(name))


def from_source(query: exp.Select, source: exp.Expr | str) -> exp.Select:
    """A query of values, of a source (a text is a table's name)."""
    query.set("from_", exp.From(this=exp.to_table(source) if isinstance(source, str) else source))
    return query


@functools.cache
def _type(name: str) -> exp.DataType:
    return exp.DataType.build(name, dialect=dialect.DIALECT)


def cast(value: exp.Expr, kind: str) -> exp.Expr:
    """A value as a type of the engine."""
    return exp.Cast(this=value, to=_type(kind).copy())


def try_cast(value: exp.Expr, kind: str) -> exp.Expr:
    """A value as a type of the engine; null when it is none."""
    return exp.TryCast(this=value, to=_type(kind).copy())


def member(within: exp.Expr, index: int) -> exp.Expr:
    """A member of a list, counted from 1."""
    return dialect.member(within, dialect.integer(index))


def within(value: exp.Expr, low: int, high: int) -> exp.Expr:
    """Whether an integer is one of those from one to another."""
    if low == high:
        return exp.EQ(this=value, expression=dialect.integer(low))
    return exp.Between(this=value, low=dialect.integer(low), high=dialect.integer(high))


def is_null(value: exp.Expr) -> exp.Expr:
    """Whether a value is null."""
    return exp.Is(this=value, expression=exp.Null())


def is_not_null(value: exp.Expr) -> exp.Expr:
    """Whether a value is not null."""
    return exp.Not(this=is_null(value))


def first_of(values: Sequence[exp.Expr]) -> exp.Expr:
    """The first value that is not null; later ones are worked out only where they are needed."""
    return values[0] if len(values) == 1 else exp.Coalesce(this=values[0], expressions=list(values[1:]))


def tried(value: exp.Expr) -> exp.Expr:
    """A value, or null where it cannot be worked out."""
    return call("TRY", value)


def starts(value: exp.Expr, prefix: str) -> exp.Expr:
    """Whether a text begins with another."""
    return call("starts_with", value, text(prefix))


def pointer(path: Sequence[str]) -> exp.Expr:
    """A path of keys as a JSON pointer, which takes keys as they are."""
    return text("".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path))


def texts_at(document: exp.Expr, paths: Sequence[Sequence[str]]) -> exp.Expr:
    """What stands at several paths of a JSON text, as a list of texts; it is parsed once."""
    return call("json_extract_string", document, exp.Array(expressions=[pointer(path) for path in paths]))


def exists(document: exp.Expr, path: Sequence[str]) -> exp.Expr:
    """Whether a JSON text has a value at a path, null included."""
    return call("json_exists", document, pointer(path))


def is_plain(number: exp.Expr) -> exp.Expr:
    """Whether a text has no underscore and no minus behind a plus, which casts to numbers take."""
    absent = (exp.Not(this=call("contains", number.copy(), text(sign))) for sign in ("_", "+-"))
    return exp.and_(*absent)


def given_list(name: str, kind: str) -> exp.Expr:
    """A list that is a parameter of the statement."""
    return cast(exp.Placeholder(this=name), f"{kind}[]")


def small(number: int) -> exp.Expr:
    """A small integer (16 bits)."""
    return cast(dialect.integer(number), "SMALLINT")
