"""Instants in the notations of records, in ns since 1970."""

from __future__ import annotations

from sqlglot import exp

from assay.ingest import sql_trees
from assay.lang.model.package import Source
from assay.lang.time_format import SINCE_1970, build_digits_pattern, parse_offset, split_date, split_unpadded
from assay.sql import dialect
from assay.util.regex import WHITE_SPACE

_ISO = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?"
    r" ?(Z|[+-](?:0[0-9]|1[0-5]):?[0-5][0-9])"
)
ISO = f"{_ISO}?$"
ZONED_ISO = f"{_ISO}$"
NUMBER = r"^(-?)([0-9]{1,19})(?:\.([0-9]+))?$"
DIGITS = 9  # significant digits of a fraction of a second
DATE = 10  # characters of a date
MINUTE = 60_000_000_000


def build_parts(source: Source, text: exp.Expr) -> exp.Expr:
    """Return the parts of the text of an instant without blanks around it, the argument of `build_instant`."""
    text = trim(text)
    if "%" in source.time_form:
        date, date_form, form = split_date(source.time_form)
        if date:  # parsed with the text, since without its year 29 February may not exist
            text = exp.DPipe(this=sql_trees.build_text(f"{date} "), expression=text)
            form = f"{date_form} {form}"
        form, expression, width = split_unpadded(form)
        if expression:
            text = _pad_part(text, expression, width)
        parsed = sql_trees.call("try_strptime", text.copy(), sql_trees.build_text(form))
        pattern = build_digits_pattern(form)
        if not pattern:
            return parsed
        return sql_trees.build_if(sql_trees.call("regexp_full_match", text, sql_trees.build_text(pattern)), parsed)
    return _build_groups(text, *((NUMBER, 3) if source.time_form else (ISO, 4)))


def trim(text: exp.Expr) -> exp.Expr:
    """Return a text without blanks around it."""
    return sql_trees.call("trim", text, sql_trees.build_text(WHITE_SPACE))


def _pad_part(text: exp.Expr, expression: str, width: int) -> exp.Expr:
    """Return a text whose second group of an expression has leading zeros up to a number of digits."""
    before, part, behind = (
        sql_trees.call("regexp_extract", text.copy(), sql_trees.build_text(expression), dialect.build_integer(group))
        for group in (1, 2, 3)
    )
    padded = sql_trees.call("lpad", part, dialect.build_integer(width), sql_trees.build_text("0"))
    return exp.paren(exp.DPipe(this=exp.DPipe(this=before, expression=padded), expression=behind))


def has_no_blank(text: exp.Expr) -> exp.Expr:
    """Return the condition that the time of day has no blank, since the engine would ignore the text after it."""
    time = sql_trees.call("substr", text.copy(), dialect.build_integer(DATE + 2))
    return exp.Not(this=sql_trees.call("contains", time, sql_trees.build_text(" ")))


def is_utc(text: exp.Expr) -> exp.Expr:
    """Return the condition that a text may be a UTC time with at least seconds."""
    return exp.and_(
        sql_trees.call("ends_with", text.copy(), sql_trees.build_text("Z")),
        exp.GTE(this=sql_trees.call("strlen", text.copy()), expression=dialect.build_integer(20)),
        has_no_blank(text),
    )


def build_utc_instant(text: exp.Expr, is_safe: bool = True) -> exp.Expr:
    """Return the instant in ns of a UTC time with at least seconds; null if the text is not one.

    Unless `is_safe`, a year beyond 64 bits is an error of the engine, even in TRY_CAST.
    """
    nanoseconds = sql_trees.call("epoch_ns", sql_trees.try_cast(text.copy(), "TIMESTAMP_NS"))
    return sql_trees.build_if(is_utc(text), sql_trees.build_try(nanoseconds) if is_safe else nanoseconds)


def build_text_instant(source: Source, text: exp.Expr, is_safe: bool = True) -> exp.Expr:
    """Return the instant in ns of a text in the notation of the source; null if the text is not one.

    A text that may be a UTC time is parsed as one first, since this is fast. `is_safe` is that of `build_utc_instant`.
    """
    value = build_instant(source, build_parts(source, text))
    if source.time_form:
        return value
    # A text that begins with a blank is less than `!`.
    is_likely_utc = exp.and_(
        sql_trees.call("ends_with", text.copy(), sql_trees.build_text("Z")),
        exp.GTE(this=text.copy(), expression=sql_trees.build_text("!")),
    )
    return sql_trees.build_if(is_likely_utc, build_utc_instant(text, is_safe), value)


def build_instant(source: Source, parts: exp.Expr) -> exp.Expr:
    """Return the instant in ns from a column with the result of `build_parts`; null if the text is not an instant."""
    if "%" in source.time_form:
        return _subtract_offset(
            sql_trees.call("epoch_ns", parts), dialect.build_integer(parse_offset(source.zone) or 0)
        )
    if source.time_form:
        return _build_epoch_instant(parts, 10 ** (DIGITS - SINCE_1970[source.time_form]), source.start_ns)
    return _build_iso_instant(parts, source.zone)


def build_zoned_instant(text: exp.Expr) -> exp.Expr:
    """Return the instant in ns of a text in ISO 8601 with its zone; null if the text is not one."""
    return _build_iso_instant(_build_groups(text, ZONED_ISO, 4), "")


def _build_groups(text: exp.Expr, expression: str, count: int) -> exp.Expr:
    """Return the groups of a match as a struct with the fields p1, p2, ..."""
    names = exp.Array(expressions=[sql_trees.build_text(f"p{index}") for index in range(1, count + 1)])
    return sql_trees.call("regexp_extract", text, sql_trees.build_text(expression), names)


def _extract_part(parts: exp.Expr, index: int) -> exp.Expr:
    return sql_trees.call("struct_extract", parts.copy(), sql_trees.build_text(f"p{index}"))


def _subtract_offset(value: exp.Expr, offset: exp.Expr) -> exp.Expr:
    """Return the UTC instant of a time in a zone that is `offset` ns ahead of UTC."""
    return sql_trees.build_try(exp.Sub(this=value, expression=exp.paren(offset)))


def _build_fraction(text: exp.Expr, digits: int) -> exp.Expr:
    """Return the first digits of a fraction as an integer."""
    length = dialect.build_integer(digits)
    return sql_trees.try_cast(
        sql_trees.call("rpad", sql_trees.call("left", text, length), length.copy(), sql_trees.build_text("0")), "BIGINT"
    )


def _build_epoch_instant(parts: exp.Expr, scale: int, start_ns: int) -> exp.Expr:
    """Return the instant that is a number of units of `scale` ns after `start_ns`."""
    digits = len(str(scale)) - 1
    whole_units = exp.Mul(
        this=sql_trees.try_cast(_extract_part(parts, 2), "HUGEINT"), expression=dialect.build_integer(scale)
    )
    value: exp.Expr = (
        exp.Add(this=whole_units, expression=_build_fraction(_extract_part(parts, 3), digits))
        if digits
        else whole_units
    )
    is_negative = exp.EQ(this=_extract_part(parts, 1), expression=sql_trees.build_text("-"))
    value = sql_trees.build_if(is_negative, exp.Neg(this=exp.paren(value)), value.copy())
    if start_ns:
        value = exp.Add(this=exp.paren(value), expression=dialect.build_integer(start_ns))
    return sql_trees.build_if(_has_part(parts, 2), sql_trees.try_cast(value, "BIGINT"))


def _has_part(parts: exp.Expr, index: int) -> exp.Expr:
    """Return the condition that a part is not empty."""
    return exp.NEQ(this=_extract_part(parts, index), expression=sql_trees.build_text(""))


def _build_iso_instant(parts: exp.Expr, zone: str) -> exp.Expr:
    date_and_time = exp.DPipe(
        this=exp.DPipe(this=_extract_part(parts, 1), expression=sql_trees.build_text(" ")),
        expression=_extract_part(parts, 2),
    )
    seconds = sql_trees.call("epoch_ns", sql_trees.try_cast(date_and_time, "TIMESTAMP_NS"))
    value = exp.Add(this=seconds, expression=_build_fraction(_extract_part(parts, 3), DIGITS))
    return sql_trees.build_if(
        _has_part(parts, 1), _subtract_offset(value, _build_zone_offset(_extract_part(parts, 4), zone))
    )


def _build_zone_offset(text: exp.Expr, zone: str) -> exp.Expr:
    """Return the ns by which the zone of a time is ahead of UTC. Without a zone, use that of the source, or null."""
    hours = sql_trees.try_cast(sql_trees.call("left", text, dialect.build_integer(3)), "BIGINT")
    minutes = sql_trees.try_cast(sql_trees.call("right", text.copy(), dialect.build_integer(2)), "BIGINT")
    is_negative = sql_trees.build_starts_with(text.copy(), "-")
    signed = sql_trees.build_if(is_negative, exp.Neg(this=minutes), minutes.copy())
    explicit = exp.Mul(
        this=exp.paren(exp.Add(this=exp.Mul(this=hours, expression=dialect.build_integer(60)), expression=signed)),
        expression=dialect.build_integer(MINUTE),
    )
    default = parse_offset(zone)
    implicit: exp.Expr = sql_trees.cast(exp.Null(), "BIGINT") if default is None else dialect.build_integer(default)
    ifs = [
        exp.If(this=exp.EQ(this=text.copy(), expression=sql_trees.build_text("")), true=implicit),
        exp.If(this=exp.EQ(this=text.copy(), expression=sql_trees.build_text("Z")), true=dialect.build_integer(0)),
    ]
    return exp.Case(ifs=ifs, default=explicit)
