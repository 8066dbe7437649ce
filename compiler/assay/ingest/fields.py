"""The expressions that make a typed field out of the texts found in a record.

A number in JSON reaches these as the shortest text that gives it back, an integer of up to 64 bits as its digits.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from assay.ingest import durations, tree
from assay.spec.model import Field
from assay.sql import dialect

WHOLE = ("integer", "unsigned")
DURATION = "duration"  # a transform
#: a real number that is an integer, as far as a double holds every integer
WHOLE_REAL = r"^(-?[0-9]{1,15})\.0$"

Path_ = tuple[str, ...]


def found_text(field: Field, read: Mapping[Path_, exp.Expr]) -> exp.Expr:
    """The field's text: the first path with a value, changed; null where no path has one."""
    values = [read[path].copy() for path in field.paths]
    found = tree.first_of(values) if values else exp.Null()
    for change in field.transforms:
        if change.kind == "take":
            found = tree.call("left", found, dialect.integer(change.number))
        elif change.kind == "before":
            found = tree.call("split_part", found, tree.text(change.text), dialect.integer(1))
        elif change.kind == DURATION:
            found = durations.nanoseconds(found)
    return found


def typed(field: Field, text: exp.Expr) -> exp.Expr:
    """The field's value: its text as its type, moved by constants; the default where there is no text.

    Null where the text is no such value, and where there is neither text nor default.
    """
    default = None if field.default is None else constant(field)
    if not field.paths:
        return default or _null(field)
    value = _moved(field, text)
    if default is None:
        return value
    if field.type == "text":
        return tree.first_of([value, default])
    return tree.when(tree.missing(text.copy()), default, value)


def constant(field: Field) -> exp.Expr:
    """The field's default, as its type."""
    text = tree.text(field.default or "")
    return text if field.type == "text" else tree.cast(text, dialect.TYPES[field.type])


def _null(field: Field) -> exp.Expr:
    return tree.cast(exp.Null(), dialect.TYPES[field.type])


def _moved(field: Field, text: exp.Expr) -> exp.Expr:
    moves = [change.number for change in field.transforms if change.kind == "plus"]
    if not moves or field.type not in (*WHOLE, "real"):
        return _as(text, field.type)
    if field.type == "real":
        return exp.Add(this=_as(text, "real"), expression=dialect.integer(sum(moves)))
    # In 128 bits the sum cannot overflow, which would be an error.
    moved = exp.Add(this=_as(text, "huge"), expression=dialect.integer(sum(moves)))
    return _tried(moved, field.type)


def _as(text: exp.Expr, kind: str) -> exp.Expr:
    """A text as a value of a type; null when it is none."""
    if kind == "text":
        return text
    if kind == "boolean":
        said = {True: "true", False: "false"}
        ifs = [exp.If(this=tree.text(word), true=exp.true() if value else exp.false()) for value, word in said.items()]
        return exp.Case(this=text, ifs=ifs)
    if kind == "real":
        value = _tried(text, "real")
        return tree.when(tree.call("isfinite", value), value.copy())
    # The cast rounds; the text of a JSON number that is written as a real one has one of these marks.
    real = exp.or_(*(tree.call("contains", text.copy(), tree.text(mark)) for mark in ".e"))
    whole = tree.call("regexp_extract", text.copy(), tree.text(WHOLE_REAL), dialect.integer(1))
    return _tried(tree.when(real, whole, text.copy()), kind)


def _tried(value: exp.Expr, kind: str) -> exp.Expr:
    return tree.try_cast(value, dialect.TYPES[kind])
