"""Instants in the notations of records, in ns since 1970."""

from __future__ import annotations

from sqlglot import exp

from assay.ingest import builder
from assay.lang.model.package import Source
from assay.lang.time_format import SINCE_1970, offset_ns
from assay.sql import dialect

ISO = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]+))?"
    r" ?(Z|[+-](?:0[0-9]|1[0-5]):?[0-5][0-9])?$"
)
NUMBER = r"^(-?)([0-9]{1,19})(?:\.([0-9]+))?$"
DIGITS = 9  # significant digits of a fraction of a second
DATE = 10  # characters of a date
MINUTE = 60_000_000_000


def parse_parts(source: Source, text: exp.Expr) -> exp.Expr:
    """Return the parts of the text of an instant, the argument of `instant`."""
    if "%" in source.time_form:
        return builder.call("try_strptime", text, builder.text(source.time_form))
    expression = NUMBER if source.time_form else ISO
    names = exp.Array(expressions=[builder.text(f"p{index}") for index in range(1, 4 if source.time_form else 5)])
    return builder.call("regexp_extract", text, builder.text(expression), names)


def no_blank(text: exp.Expr) -> exp.Expr:
    """Return the condition that the time of day has no blank, after which the engine would ignore the rest."""
    time = builder.call("substr", text.copy(), dialect.integer(DATE + 2))
    return exp.Not(this=builder.call("contains", time, builder.text(" ")))


def is_utc(text: exp.Expr) -> exp.Expr:
    """Return the condition that a text may be a UTC time with at least seconds."""
    return exp.and_(
        builder.call("ends_with", text.copy(), builder.text("Z")),
        exp.GTE(this=builder.call("strlen", text.copy()), expression=dialect.integer(20)),
        no_blank(text),
    )


def utc(text: exp.Expr, careful: bool = True) -> exp.Expr:
    """Return the instant in ns of a UTC time with at least seconds; null if the text is not one.

    Unless `careful`, years beyond 64 bits are an error, as they are even for TRY_CAST.
    """
    nanoseconds = builder.call("epoch_ns", builder.try_cast(text.copy(), "TIMESTAMP_NS"))
    return builder.when(is_utc(text), builder.tried(nanoseconds) if careful else nanoseconds)


def of_text(source: Source, text: exp.Expr, careful: bool = True) -> exp.Expr:
    """Return the instant in ns of a text in the notation of the source; null if the text is not one.

    A text that may be a UTC time is parsed as one, which is fast. `careful` is that of `utc`.
    """
    value = instant(source, parse_parts(source, text))
    if source.time_form:
        return value
    return builder.when(builder.call("ends_with", text.copy(), builder.text("Z")), utc(text, careful), value)


def instant(source: Source, parts: exp.Expr) -> exp.Expr:
    """Return the instant in ns from a column with the result of `parse_parts`; null if the text is not one."""
    if "%" in source.time_form:
        return _moved(builder.call("epoch_ns", parts), dialect.integer(offset_ns(source.zone) or 0))
    if source.time_form:
        return _since(parts, 10 ** (DIGITS - SINCE_1970[source.time_form]))
    return _iso(parts, source.zone)


def _part(parts: exp.Expr, index: int) -> exp.Expr:
    return builder.call("struct_extract", parts.copy(), builder.text(f"p{index}"))


def _moved(value: exp.Expr, ahead: exp.Expr) -> exp.Expr:
    """Return the UTC instant of a time in a zone that is `ahead` ns ahead of UTC."""
    return builder.tried(exp.Sub(this=value, expression=exp.paren(ahead)))


def _fraction(text: exp.Expr, digits: int) -> exp.Expr:
    """Return the first digits of a fraction as an integer."""
    most = dialect.integer(digits)
    return builder.try_cast(
        builder.call("rpad", builder.call("left", text, most), most.copy(), builder.text("0")), "BIGINT"
    )


def _since(parts: exp.Expr, scale: int) -> exp.Expr:
    digits = len(str(scale)) - 1
    whole = exp.Mul(this=builder.try_cast(_part(parts, 2), "HUGEINT"), expression=dialect.integer(scale))
    value: exp.Expr = exp.Add(this=whole, expression=_fraction(_part(parts, 3), digits)) if digits else whole
    negative = exp.EQ(this=_part(parts, 1), expression=builder.text("-"))
    value = builder.when(negative, exp.Neg(this=exp.paren(value)), value.copy())
    return builder.when(has_part(parts, 2), builder.try_cast(value, "BIGINT"))


def has_part(parts: exp.Expr, index: int) -> exp.Expr:
    return exp.NEQ(this=_part(parts, index), expression=builder.text(""))


def _iso(parts: exp.Expr, zone: str) -> exp.Expr:
    moment = exp.DPipe(this=exp.DPipe(this=_part(parts, 1), expression=builder.text(" ")), expression=_part(parts, 2))
    seconds = builder.call("epoch_ns", builder.try_cast(moment, "TIMESTAMP_NS"))
    value = exp.Add(this=seconds, expression=_fraction(_part(parts, 3), DIGITS))
    return builder.when(has_part(parts, 1), _moved(value, _ahead(_part(parts, 4), zone)))


def _ahead(text: exp.Expr, zone: str) -> exp.Expr:
    """Return how many ns the zone of a time is ahead of UTC. Without a zone, use that of the source, or null."""
    hours = builder.try_cast(builder.call("left", text, dialect.integer(3)), "BIGINT")
    minutes = builder.try_cast(builder.call("right", text.copy(), dialect.integer(2)), "BIGINT")
    behind = builder.starts(text.copy(), "-")
    signed = builder.when(behind, exp.Neg(this=minutes), minutes.copy())
    explicit = exp.Mul(
        this=exp.paren(exp.Add(this=exp.Mul(this=hours, expression=dialect.integer(60)), expression=signed)),
        expression=dialect.integer(MINUTE),
    )
    default = offset_ns(zone)
    implicit: exp.Expr = builder.cast(exp.Null(), "BIGINT") if default is None else dialect.integer(default)
    ifs = [
        exp.If(this=exp.EQ(this=text.copy(), expression=builder.text("")), true=implicit),
        exp.If(this=exp.EQ(this=text.copy(), expression=builder.text("Z")), true=dialect.integer(0)),
    ]
    return exp.Case(ifs=ifs, default=explicit)
