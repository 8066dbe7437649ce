"""SQL expressions that turn the text of a field into a typed column.

A JSON number reaches these as the shortest text that round-trips, an integer of up to 64 bits as its digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.event_forms import NumberedForm, paths_of
from assay.lang.model.package import Field
from assay.sql import dialect

DURATION = "duration"  # a transform
BLANKS = " \t\n\v\f\r"
BLANK = r"[ \t\n\v\f\r]*"  # allowed around a number
INTEGER = rf"{BLANK}[-+]?[0-9]+{BLANK}"
#: sign, digits before and after the point (at least one digit in all), exponent
DECIMAL = rf"{BLANK}([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]+))?{BLANK}"
#: a number with a point or an exponent may be an integer below 10^15: a double, which numbers of JSON were converted
#: to, represents all of these exactly
DIGITS = 15
#: hours, minutes and seconds, or one part below a second; no digits below a nanosecond
DURATIONS = (
    r"^([-+]?)(?:(?:([0-9]{1,7})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10}(?:\.[0-9]{1,9})?)s)?"
    r"|([0-9]{1,13}(?:\.[0-9]{1,6})?)ms|([0-9]{1,16}(?:\.[0-9]{1,3})?)(?:µs|μs|us)|([0-9]{1,19})ns|0)$"
)
DIGIT = "[0-9]"
A_DURATION = "a duration, such as 1m2.5s or 448.05ms"


def is_duration(text: str) -> bool:
    """Return whether a text is a duration."""
    return bool(re.match(DURATIONS, text) and re.search(DIGIT, text))


#: group of DURATIONS -> exact type of its number, nanoseconds of its unit, type of these; the product has at most 38
#: digits
DURATION_PARTS = {
    "h": ("INT128", 3_600_000_000_000, "INT128"),
    "m": ("INT128", 60_000_000_000, "INT128"),
    "s": ("DECIMAL(28, 9)", 1_000_000_000, "DECIMAL(10, 0)"),
    "ms": ("DECIMAL(28, 6)", 1_000_000, "DECIMAL(7, 0)"),
    "us": ("DECIMAL(28, 3)", 1_000, "DECIMAL(4, 0)"),
    "ns": ("INT128", 1, "INT128"),
}
NO_DURATION = ""  # result for a text that is not a duration


def duration_ns(text: exp.Expr) -> exp.Expr:
    """Return the nanoseconds of a duration as a text of digits; null where there is no text.

    For a text that is not a duration, return the empty text instead of null, since null would select the default.
    """
    is_valid = exp.and_(
        *(builder.call("regexp_matches", text.copy(), builder.text(item)) for item in (DURATIONS, DIGIT))
    )
    names = exp.Array(expressions=[builder.text(name) for name in ("sign", *DURATION_PARTS)])
    parts = builder.call("regexp_extract", text.copy(), builder.text(DURATIONS), names)
    total: exp.Expr | None = None
    for name in DURATION_PARTS:
        total = (
            part_nanoseconds(parts, name)
            if total is None
            else exp.Add(this=total, expression=part_nanoseconds(parts, name))
        )
    assert total is not None
    minus = exp.EQ(this=_part(parts, "sign"), expression=builder.text("-"))
    signed = builder.when(minus, exp.Neg(this=exp.paren(total)), total.copy())
    return builder.when(
        is_valid,
        builder.cast(signed, "TEXT"),
        builder.when(builder.is_not_null(text.copy()), builder.text(NO_DURATION)),
    )


def _part(parts: exp.Expr, name: str) -> exp.Expr:
    return builder.call("struct_extract", parts.copy(), builder.text(name))


def part_nanoseconds(parts: exp.Expr, name: str) -> exp.Expr:
    """Return the nanoseconds of a part of a duration; 0 if it is absent."""
    number, each, kind = DURATION_PARTS[name]
    value = exp.Mul(
        this=builder.try_cast(_part(parts, name), number), expression=builder.cast(dialect.integer(each), kind)
    )  # fmt: skip
    return builder.cast(builder.first_of([value, dialect.integer(0)]), "INT128")


#: types of fields that are 64-bit integers
WHOLE = ("integer", "unsigned")

Path_ = tuple[str, ...]


def whole_paths(forms: Sequence[NumberedForm]) -> frozenset[Path_]:
    """Return the paths of an event that only integer fields without transforms other than `plus` read.

    A field that has another path, or another type in another form, is read as text everywhere.
    """
    candidates = set(paths_of(forms))
    while True:
        texts = {
            path for name in _names(forms) for path in _read(forms, name) if not _is_whole(forms, name, candidates)
        }
        if not texts & candidates:
            return frozenset(candidates)
        candidates -= texts


def _names(forms: Sequence[NumberedForm]) -> list[str]:
    return list(dict.fromkeys(field.name for item in forms for field in item.fields))


def _fields(forms: Sequence[NumberedForm], name: str) -> list[Field]:
    return [field for item in forms for field in item.fields if field.name == name]


def _read(forms: Sequence[NumberedForm], name: str) -> set[Path_]:
    return {path for field in _fields(forms, name) for path in field.paths}


def _is_whole(forms: Sequence[NumberedForm], name: str, whole: set[Path_]) -> bool:
    fields = _fields(forms, name)
    plain = all(field.type in WHOLE and all(change.kind == "plus" for change in field.transforms) for field in fields)
    return plain and _read(forms, name) <= whole


#: the most frequent notation of these: an integral double as the engine writes it
USUAL = rf"^(-?[0-9]{{1,{DIGITS}}})\.0$"


def found_text(field: Field, read: Mapping[Path_, exp.Expr]) -> exp.Expr:
    """Return the text of a field: the first path with a value, after transforms; null if no path has one."""
    values = [read[path].copy() for path in field.paths]
    text = builder.first_of(values) if values else exp.Null()
    for change in field.transforms:
        if change.kind == "take":
            text = builder.call("left", text, dialect.integer(change.number))
        elif change.kind == "before":
            text = builder.call("split_part", text, builder.text(change.text), dialect.integer(1))
        elif change.kind == DURATION:
            text = duration_ns(text)
    return text


def typed(field: Field, text: exp.Expr, swift: bool = False, whole: bool = False) -> exp.Expr:
    """Return the value of a field: its text cast to its type, with constants added; the default if there is no text.

    Null if the text is not a valid value. With `swift`, also null for an integer that is not written like the engine
    writes it: the other notations are most of the expression and, on small logs, take longer to plan than to run. With
    `whole`, `text` is a 64-bit integer already.
    """
    default = None if field.default is None else constant(field)
    if not field.paths:
        return default or _null(field)
    value = _moved(field, text, (lambda kind: _tried(text, kind)) if whole else (lambda kind: _as(text, kind, swift)))
    if default is None:
        return value
    if is_any_text(field):
        return builder.first_of([value, default])
    return builder.when(builder.is_null(text.copy()), default, value)


def constant(field: Field) -> exp.Expr:
    """Return the default of a field, cast to its type."""
    text = builder.text(field.default or "")
    return text if field.type == "text" else builder.cast(text, dialect.TYPES[field.type])


def is_any_text(field: Field) -> bool:
    """Return whether every text is a valid value of the field."""
    return field.type == "text" and not _is_duration(field)


def _is_duration(field: Field) -> bool:
    return any(change.kind == DURATION for change in field.transforms)


def _null(field: Field) -> exp.Expr:
    return builder.cast(exp.Null(), dialect.TYPES[field.type])


def _moved(field: Field, text: exp.Expr, as_kind: Callable[[str], exp.Expr]) -> exp.Expr:
    moves = [change.number for change in field.transforms if change.kind == "plus"]
    if field.type == "text" and _is_duration(field):
        return builder.call("nullif", text, builder.text(NO_DURATION))
    if not moves or field.type not in (*WHOLE, "real"):
        return as_kind(field.type)
    if field.type == "real":
        return exp.Add(this=as_kind("real"), expression=dialect.integer(sum(moves)))
    # In 128 bits, no sum that fits into 64 bits overflows. An overflow is an error, which TRY turns into null.
    moved = exp.Add(this=as_kind("huge"), expression=dialect.integer(sum(moves)))
    return builder.tried(_tried(moved, field.type))


def _as(text: exp.Expr, kind: str, swift: bool) -> exp.Expr:
    """Return a text cast to a type, null if it is invalid; with `swift`, also for other notations of integers."""
    if kind == "text":
        return text
    if kind == "boolean":
        words = {True: "true", False: "false"}
        ifs = [
            exp.If(this=builder.text(word), true=exp.true() if value else exp.false()) for value, word in words.items()
        ]
        return exp.Case(this=text, ifs=ifs)
    if kind == "real":
        value = _tried(text, "real")
        # Other texts that the cast accepts are not finite.
        return builder.when(exp.and_(builder.call("isfinite", value), builder.is_plain(text)), value.copy())
    # The cast rounds, and accepts other bases and underscores. If the value has the same text, none of these applies.
    # This test comes first, since it is fast.
    value = _tried(text, kind)
    same = exp.EQ(this=builder.cast(value.copy(), "TEXT"), expression=text.copy())
    return builder.when(same, value, None if swift else _tried(_digits(text), kind))


def _digits(text: exp.Expr) -> exp.Expr:
    """Return the digits of an integer in any notation; null if it is not an integer."""
    whole = builder.call("regexp_full_match", text.copy(), builder.text(INTEGER))
    usual = builder.call("regexp_matches", text.copy(), builder.text(USUAL))
    point = builder.call("regexp_extract", text.copy(), builder.text(USUAL), dialect.integer(1))
    bare = builder.call("trim", text.copy(), builder.text(BLANKS))  # the cast to unsigned rejects `-0` before a blank
    return builder.when(whole, bare, builder.when(usual, point, _whole(text)))


def _whole(text: exp.Expr) -> exp.Expr:
    """Return the exact digits of an integer with a point or an exponent; null if it is not an integer."""
    names = ("sign", "before", "behind", "exponent")
    listed = exp.Array(expressions=[builder.text(name) for name in names])
    parts = builder.call("regexp_extract", text.copy(), builder.text(f"^{DECIMAL}$"), listed)
    sign, before, behind, exponent = (
        builder.call("struct_extract", parts.copy(), builder.text(name)) for name in names
    )
    digits = builder.call("concat", before, behind)
    until = builder.call("rtrim", digits, builder.text("0"))
    significant = builder.call("ltrim", until.copy(), builder.text("0"))
    power = builder.try_cast(
        builder.first_of([builder.call("nullif", exponent, builder.text("")), builder.text("0")]),
        "INTEGER",
    )
    # Zeros after the significant digits; negative if a significant digit is behind the point.
    zeros = exp.Sub(this=exp.Add(this=power, expression=_length(before.copy())), expression=_length(until))
    short = exp.LTE(
        this=exp.Add(this=_length(significant), expression=zeros.copy()), expression=dialect.integer(DIGITS)
    )
    fits = exp.and_(exp.GTE(this=zeros, expression=dialect.integer(0)), short)
    number = builder.call("concat", sign, significant.copy(), builder.call("repeat", builder.text("0"), zeros.copy()))
    has_digits = exp.NEQ(this=digits.copy(), expression=builder.text(""))
    is_zero = exp.EQ(this=significant.copy(), expression=builder.text(""))
    return builder.when(has_digits, builder.when(is_zero, builder.text("0"), builder.when(fits, number)))


def _length(text: exp.Expr) -> exp.Expr:
    return builder.call("strlen", text)


def _tried(value: exp.Expr, kind: str) -> exp.Expr:
    return builder.try_cast(value, dialect.TYPES[kind])
