"""SQL expressions that turn the text of a field into a typed column.

A number in JSON reaches these as the shortest text that gives it back, an integer of up to 64 bits as its digits.
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
BLANK = r"[ \t\n\v\f\r]*"  # what may stand around a number
INTEGER = rf"{BLANK}[-+]?[0-9]+{BLANK}"
#: sign, digits before and behind the point (one at least), exponent
DECIMAL = rf"{BLANK}([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]+))?{BLANK}"
#: a number with a point or an exponent may be an integer below 10^15: so far a double holds every one, which numbers
#: of JSON have come through
DIGITS = 15
#: hours, minutes and seconds, or one part below a second; no more digits than whole nanoseconds have
DURATIONS = (
    r"^([-+]?)(?:(?:([0-9]{1,7})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10}(?:\.[0-9]{1,9})?)s)?"
    r"|([0-9]{1,13}(?:\.[0-9]{1,6})?)ms|([0-9]{1,16}(?:\.[0-9]{1,3})?)(?:µs|μs|us)|([0-9]{1,19})ns|0)$"
)
DIGIT = "[0-9]"
A_DURATION = "a duration, such as 1m2.5s or 448.05ms"


def is_duration(text: str) -> bool:
    """Whether a text is a duration."""
    return bool(re.match(DURATIONS, text) and re.search(DIGIT, text))


#: group of DURATIONS -> type that holds its number exactly, ns of one, type of these; their product has 38 digits at
#: most
DURATION_PARTS = {
    "h": ("INT128", 3_600_000_000_000, "INT128"),
    "m": ("INT128", 60_000_000_000, "INT128"),
    "s": ("DECIMAL(28, 9)", 1_000_000_000, "DECIMAL(10, 0)"),
    "ms": ("DECIMAL(28, 6)", 1_000_000, "DECIMAL(7, 0)"),
    "us": ("DECIMAL(28, 3)", 1_000, "DECIMAL(4, 0)"),
    "ns": ("INT128", 1, "INT128"),
}
NO_DURATION = ""  # what stands for a text that is no duration


def duration_ns(text: exp.Expr) -> exp.Expr:
    """The digits of the nanoseconds of a duration, as a text; null where there is no text.

    Of a text that is no duration the empty one, which is no value, and not null: a default stands for no text alone.
    """
    known = exp.and_(*(builder.call("regexp_matches", text.copy(), builder.text(item)) for item in (DURATIONS, DIGIT)))
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
        known,
        builder.cast(signed, "TEXT"),
        builder.when(builder.is_not_null(text.copy()), builder.text(NO_DURATION)),
    )


def _part(parts: exp.Expr, name: str) -> exp.Expr:
    return builder.call("struct_extract", parts.copy(), builder.text(name))


def part_nanoseconds(parts: exp.Expr, name: str) -> exp.Expr:
    """The nanoseconds of a part; 0 where it is not there."""
    number, each, kind = DURATION_PARTS[name]
    value = exp.Mul(
        this=builder.try_cast(_part(parts, name), number), expression=builder.cast(dialect.integer(each), kind)
    )  # fmt: skip
    return builder.cast(builder.first_of([value, dialect.integer(0)]), "INT128")


#: types of fields that are integers of 64 bits
WHOLE = ("integer", "unsigned")

Path_ = tuple[str, ...]


def whole_paths(own: Sequence[NumberedForm]) -> frozenset[Path_]:
    """The paths of an event (`own` are its forms) all of whose fields are integers that are only moved.

    A field that has another path, or in another form another type, is read as a text everywhere.
    """
    found = set(paths_of(own))
    while True:
        texts = {path for name in _names(own) for path in _read(own, name) if not _is_whole(own, name, found)}
        if not texts & found:
            return frozenset(found)
        found -= texts


def _names(own: Sequence[NumberedForm]) -> list[str]:
    return list(dict.fromkeys(field.name for item in own for field in item.fields))


def _fields(own: Sequence[NumberedForm], name: str) -> list[Field]:
    return [field for item in own for field in item.fields if field.name == name]


def _read(own: Sequence[NumberedForm], name: str) -> set[Path_]:
    return {path for field in _fields(own, name) for path in field.paths}


def _is_whole(own: Sequence[NumberedForm], name: str, whole: set[Path_]) -> bool:
    fields = _fields(own, name)
    plain = all(field.type in WHOLE and all(change.kind == "plus" for change in field.transforms) for field in fields)
    return plain and _read(own, name) <= whole


#: what most of these are: a double of JSON that is an integer
USUAL = rf"^(-?[0-9]{{1,{DIGITS}}})\.0$"


def found_text(field: Field, read: Mapping[Path_, exp.Expr]) -> exp.Expr:
    """The field's text: the first path with a value, changed; null where no path has one."""
    values = [read[path].copy() for path in field.paths]
    found = builder.first_of(values) if values else exp.Null()
    for change in field.transforms:
        if change.kind == "take":
            found = builder.call("left", found, dialect.integer(change.number))
        elif change.kind == "before":
            found = builder.call("split_part", found, builder.text(change.text), dialect.integer(1))
        elif change.kind == DURATION:
            found = duration_ns(found)
    return found


def typed(field: Field, text: exp.Expr, swift: bool = False, whole: bool = False) -> exp.Expr:
    """The field's value: its text as its type, moved by constants; the default where there is no text.

    Null where the text is no such value, and where there is neither text nor default.  `swift`: it is null, too, where
    an integer is not written as the engine writes it: all other spellings make the most of the expression, which takes
    longer to plan than to run on small logs.  `whole`: the text is none, but an integer of 64 bits already.
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
    """The field's default, as its type."""
    text = builder.text(field.default or "")
    return text if field.type == "text" else builder.cast(text, dialect.TYPES[field.type])


def is_any_text(field: Field) -> bool:
    """Whether every text that is found is a value of the field."""
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
    # In 128 bits no sum that fits into 64 overflows; one that does is an error, which is caught.
    moved = exp.Add(this=as_kind("huge"), expression=dialect.integer(sum(moves)))
    return builder.tried(_tried(moved, field.type))


def _as(text: exp.Expr, kind: str, swift: bool) -> exp.Expr:
    """A text as a value of a type; null when it is none; `swift`: when it is an integer of another spelling, too."""
    if kind == "text":
        return text
    if kind == "boolean":
        said = {True: "true", False: "false"}
        ifs = [
            exp.If(this=builder.text(word), true=exp.true() if value else exp.false()) for value, word in said.items()
        ]
        return exp.Case(this=text, ifs=ifs)
    if kind == "real":
        value = _tried(text, "real")
        # Whatever else the cast takes that is no decimal is not finite.
        return builder.when(exp.and_(builder.call("isfinite", value), builder.is_plain(text)), value.copy())
    # The cast rounds, and takes other bases and underscores.  What it gives back as it was is none of these; that is
    # asked first, since it is swift.
    value = _tried(text, kind)
    same = exp.EQ(this=builder.cast(value.copy(), "TEXT"), expression=text.copy())
    return builder.when(same, value, None if swift else _tried(_digits(text), kind))


def _digits(text: exp.Expr) -> exp.Expr:
    """The digits of an integer, however it is written; null when it is none."""
    whole = builder.call("regexp_full_match", text.copy(), builder.text(INTEGER))
    usual = builder.call("regexp_matches", text.copy(), builder.text(USUAL))
    point = builder.call("regexp_extract", text.copy(), builder.text(USUAL), dialect.integer(1))
    bare = builder.call(
        "trim", text.copy(), builder.text(BLANKS)
    )  # `-0` with a blank behind it would be no unsigned number
    return builder.when(whole, bare, builder.when(usual, point, _whole(text)))


def _whole(text: exp.Expr) -> exp.Expr:
    """The digits of a number with a point or an exponent that is an integer, exactly; null when it is none."""
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
    # The zeros behind what is significant, below 0 where that reaches behind the point.
    zeros = exp.Sub(this=exp.Add(this=power, expression=_length(before.copy())), expression=_length(until))
    short = exp.LTE(
        this=exp.Add(this=_length(significant), expression=zeros.copy()), expression=dialect.integer(DIGITS)
    )
    fits = exp.and_(exp.GTE(this=zeros, expression=dialect.integer(0)), short)
    written = builder.call("concat", sign, significant.copy(), builder.call("repeat", builder.text("0"), zeros.copy()))
    some = exp.NEQ(this=digits.copy(), expression=builder.text(""))
    nothing = exp.EQ(this=significant.copy(), expression=builder.text(""))
    return builder.when(some, builder.when(nothing, builder.text("0"), builder.when(fits, written)))


def _length(text: exp.Expr) -> exp.Expr:
    return builder.call("strlen", text)


def _tried(value: exp.Expr, kind: str) -> exp.Expr:
    return builder.try_cast(value, dialect.TYPES[kind])
