"""SQL expressions that turn the text of a field into a typed column.

A JSON number reaches these as the shortest text that round-trips, an integer of up to 64 bits as its digits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.event_forms import NumberedForm, list_field_paths
from assay.ingest.quantities import NO_QUANTITY, QUANTITIES
from assay.ingest.record_unit_sql import build_converted_quantity, build_converted_text
from assay.lang.model.package import NO_VALUE, Field
from assay.lang.record_units import UNIT_OF, WITH_UNIT, RecordUnit
from assay.sql import dialect
from assay.util.regex import BLANK, WHITE_SPACE

#: a number, around which blanks are allowed
INTEGER = rf"{BLANK}*[-+]?[0-9]+{BLANK}*"
#: sign, digits before and after the point (at least one digit in all), exponent
DECIMAL = rf"{BLANK}*([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]+))?{BLANK}*"
#: a number with a point or an exponent may be an integer below 10^15. The engine converts such numbers of JSON to
#: doubles, which represent all these integers exactly
DIGITS = 15

#: types of fields that are 64-bit integers
INTEGER_TYPES = ("integer", "unsigned")

Path_ = tuple[str, ...]


def find_integer_paths(forms: Sequence[NumberedForm]) -> frozenset[Path_]:
    """Return the paths of an event that only integer fields read, without transforms other than `plus`.

    A field that has another path, or another type in another form, is read as text everywhere.
    """
    candidates = set(list_field_paths(forms))
    while True:
        texts = {
            path
            for name in _list_field_names(forms)
            for path in _list_read_paths(forms, name)
            if not _is_integer(forms, name, candidates)
        }
        if not texts & candidates:
            return frozenset(candidates)
        candidates -= texts


def _list_field_names(forms: Sequence[NumberedForm]) -> list[str]:
    return list(dict.fromkeys(field.name for item in forms for field in item.fields))


def _list_fields(forms: Sequence[NumberedForm], name: str) -> list[Field]:
    return [field for item in forms for field in item.fields if field.name == name]


def _list_read_paths(forms: Sequence[NumberedForm], name: str) -> set[Path_]:
    return {path for field in _list_fields(forms, name) for path in field.paths}


def _is_integer(forms: Sequence[NumberedForm], name: str, candidates: set[Path_]) -> bool:
    fields = _list_fields(forms, name)
    has_integer_type = all(
        field.type in INTEGER_TYPES and all(change.kind == "plus" for change in field.transforms) for field in fields
    )
    return has_integer_type and _list_read_paths(forms, name) <= candidates


#: the most frequent notation of these integers: a double as the engine writes it
USUAL_NOTATION = rf"^(-?[0-9]{{1,{DIGITS}}})\.0$"


def build_source_text(
    field: Field, values_by_path: Mapping[Path_, exp.Expr], record_unit: RecordUnit | None = None
) -> exp.Expr:
    """Return the text of a field: the first path with a value, after transforms; null if no path has one.

    A number in the `record_unit` that its record carries is converted to the unit of the field.
    """
    values = [values_by_path[path].copy() for path in field.paths]
    text = sql_trees.build_coalesce(values) if values else exp.Null()
    for change in field.transforms:
        if change.kind == "take":
            text = sql_trees.call("left", text, dialect.build_integer(change.number))
        elif change.kind == "before":
            text = sql_trees.call("split_part", text, sql_trees.build_text(change.text), dialect.build_integer(1))
        elif change.kind == NO_VALUE:
            text = sql_trees.call("nullif", text, sql_trees.build_text(change.text))
        elif change.kind in QUANTITIES:
            text = QUANTITIES[change.kind].build_value(text)
        elif record_unit and change.kind == WITH_UNIT:
            text = build_converted_quantity(text, record_unit)
        elif record_unit and record_unit.named_by and change.kind == UNIT_OF:
            text = build_converted_text(text, _build_unit_text(record_unit.named_by, values_by_path), record_unit)
    return text


def _build_unit_text(field: Field, values_by_path: Mapping[Path_, exp.Expr]) -> exp.Expr:
    """Return the text of the field that names a unit; its default where a record has none."""
    text = build_source_text(field, values_by_path)
    return text if field.default is None else sql_trees.build_coalesce([text, sql_trees.build_text(field.default)])


def has_notations(field: Field, integer_paths: Collection[Path_] = ()) -> bool:
    """Return whether the fast query may take a valid value of a field for none, since it is an integer of a text."""
    return field.type in INTEGER_TYPES and not set(field.paths) <= set(integer_paths)


def may_be_number(text: exp.Expr) -> exp.Expr:
    """Return the condition that a text has only characters of numbers, a necessary one for an integer."""
    return sql_trees.call("regexp_full_match", text, sql_trees.build_text(rf"(?:{BLANK}|[-+.0-9eE])*"))


def build_typed_value(field: Field, text: exp.Expr, is_fast: bool = False, is_integer: bool = False) -> exp.Expr:
    """Return the value of a field: its text cast to its type, with constants added; the default if there is no text.

    The value is null if the text is not valid. With `is_fast`, it is also null for an integer in another notation than
    that of the engine, since the other notations make the expression long: on small logs, it takes longer to plan than
    to run. With `is_integer`, `text` already is a 64-bit integer.
    """
    default = None if field.default is None else build_default(field)
    if not field.paths:
        return default or _build_null(field)
    value = _build_shifted(
        field,
        text,
        (lambda kind: _try_cast(text, kind)) if is_integer else (lambda kind: _cast_text(text, kind, is_fast)),
    )
    if default is None:
        return value
    if is_any_text(field):
        return sql_trees.build_coalesce([value, default])
    return sql_trees.build_if(sql_trees.is_null(text.copy()), default, value)


def build_default(field: Field) -> exp.Expr:
    """Return the default of a field, cast to its type."""
    text = sql_trees.build_text(field.default or "")
    return text if field.type == "text" else sql_trees.cast(text, dialect.TYPES[field.type])


def is_any_text(field: Field) -> bool:
    """Return whether every text is a valid value of the field."""
    return field.type == "text" and not _is_quantity(field)


def _is_quantity(field: Field) -> bool:
    return any(change.kind in QUANTITIES for change in field.transforms)


def _build_null(field: Field) -> exp.Expr:
    return sql_trees.cast(exp.Null(), dialect.TYPES[field.type])


def _build_shifted(field: Field, text: exp.Expr, cast_to: Callable[[str], exp.Expr]) -> exp.Expr:
    offsets = [change.number for change in field.transforms if change.kind == "plus"]
    if field.type == "text" and _is_quantity(field):
        return sql_trees.call("nullif", text, sql_trees.build_text(NO_QUANTITY))
    if not offsets or field.type not in (*INTEGER_TYPES, "real"):
        return cast_to(field.type)
    if field.type == "real":
        return exp.Add(this=cast_to("real"), expression=dialect.build_integer(sum(offsets)))
    # 128 bits, so that no sum that fits into 64 bits overflows. An overflow is an error, which TRY turns into null.
    shifted = exp.Add(this=cast_to("huge"), expression=dialect.build_integer(sum(offsets)))
    return sql_trees.build_try(_try_cast(shifted, field.type))


def _cast_text(text: exp.Expr, kind: str, is_fast: bool) -> exp.Expr:
    """Return a text cast to a type, null if it is invalid or, with `is_fast`, an integer in another notation."""
    if kind == "text":
        return text
    if kind == "boolean":
        words = {True: "true", False: "false"}
        ifs = [
            exp.If(this=sql_trees.build_text(word), true=exp.true() if value else exp.false())
            for value, word in words.items()
        ]
        return exp.Case(this=text, ifs=ifs)
    if kind == "real":
        value = _try_cast(text, "real")
        # Other texts that the cast accepts are not finite.
        return sql_trees.build_if(exp.and_(sql_trees.call("isfinite", value), sql_trees.is_plain(text)), value.copy())
    # The cast rounds, and accepts other bases and underscores. If the value as text equals the text, it did neither.
    # This fast test comes first.
    value = _try_cast(text, kind)
    has_same_text = exp.EQ(this=sql_trees.cast(value.copy(), "TEXT"), expression=text.copy())
    return sql_trees.build_if(has_same_text, value, None if is_fast else _try_cast(_build_digits(text), kind))


def _build_digits(text: exp.Expr) -> exp.Expr:
    """Return the digits of an integer in any notation; null if it is not an integer."""
    is_integer = sql_trees.call("regexp_full_match", text.copy(), sql_trees.build_text(INTEGER))
    has_usual_notation = sql_trees.call("regexp_matches", text.copy(), sql_trees.build_text(USUAL_NOTATION))
    integer_part = sql_trees.call(
        "regexp_extract", text.copy(), sql_trees.build_text(USUAL_NOTATION), dialect.build_integer(1)
    )
    trimmed = sql_trees.call(
        "trim", text.copy(), sql_trees.build_text(WHITE_SPACE)
    )  # the cast to unsigned rejects `-0` before a blank
    return sql_trees.build_if(
        is_integer, trimmed, sql_trees.build_if(has_usual_notation, integer_part, _build_integer_digits(text))
    )


def _build_integer_digits(text: exp.Expr) -> exp.Expr:
    """Return the exact digits of an integer with a point or an exponent; null if it is not an integer."""
    names = ("sign", "integer_part", "fraction", "exponent")
    name_list = exp.Array(expressions=[sql_trees.build_text(name) for name in names])
    parts = sql_trees.call("regexp_extract", text.copy(), sql_trees.build_text(f"^{DECIMAL}$"), name_list)
    sign, integer_part, fraction, exponent = (
        sql_trees.call("struct_extract", parts.copy(), sql_trees.build_text(name)) for name in names
    )
    digits = sql_trees.call("concat", integer_part, fraction)
    trimmed = sql_trees.call("rtrim", digits, sql_trees.build_text("0"))
    significant = sql_trees.call("ltrim", trimmed.copy(), sql_trees.build_text("0"))
    power = sql_trees.try_cast(
        sql_trees.build_coalesce(
            [sql_trees.call("nullif", exponent, sql_trees.build_text("")), sql_trees.build_text("0")]
        ),
        "INTEGER",
    )
    # Zeros after the significant digits; negative if a significant digit is behind the point.
    zeros = exp.Sub(
        this=exp.Add(this=power, expression=_build_length(integer_part.copy())), expression=_build_length(trimmed)
    )
    is_short = exp.LTE(
        this=exp.Add(this=_build_length(significant), expression=zeros.copy()), expression=dialect.build_integer(DIGITS)
    )
    fits = exp.and_(exp.GTE(this=zeros, expression=dialect.build_integer(0)), is_short)
    number = sql_trees.call(
        "concat", sign, significant.copy(), sql_trees.call("repeat", sql_trees.build_text("0"), zeros.copy())
    )
    has_digits = exp.NEQ(this=digits.copy(), expression=sql_trees.build_text(""))
    is_zero = exp.EQ(this=significant.copy(), expression=sql_trees.build_text(""))
    return sql_trees.build_if(
        has_digits, sql_trees.build_if(is_zero, sql_trees.build_text("0"), sql_trees.build_if(fits, number))
    )


def _build_length(text: exp.Expr) -> exp.Expr:
    return sql_trees.call("strlen", text)


def _try_cast(value: exp.Expr, kind: str) -> exp.Expr:
    return sql_trees.try_cast(value, dialect.TYPES[kind])
