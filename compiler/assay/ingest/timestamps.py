"""Instants as records write them, in ns since 1970."""

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
DIGITS = 9  # of a fraction of a second that count
DATE = 10  # characters of a date
MINUTE = 60_000_000_000


def parse_parts(source: Source, said: exp.Expr) -> exp.Expr:
    """What the text of an instant is taken apart into: the argument of `instant`."""
    if "%" in source.time_form:
        return builder.call("try_strptime", said, builder.text(source.time_form))
    expression = NUMBER if source.time_form else ISO
    names = exp.Array(expressions=[builder.text(f"p{index}") for index in range(1, 4 if source.time_form else 5)])
    return builder.call("regexp_extract", said, builder.text(expression), names)


def no_blank(said: exp.Expr) -> exp.Expr:
    """Whether no blank stands in the time of day of a text, where the engine would drop what follows it."""
    time = builder.call("substr", said.copy(), dialect.integer(DATE + 2))
    return exp.Not(this=builder.call("contains", time, builder.text(" ")))


def is_utc(said: exp.Expr) -> exp.Expr:
    """Whether a text may be a UTC time with at least seconds."""
    return exp.and_(
        builder.call("ends_with", said.copy(), builder.text("Z")),
        exp.GTE(this=builder.call("strlen", said.copy()), expression=dialect.integer(20)),
        no_blank(said),
    )


def utc(said: exp.Expr, careful: bool = True) -> exp.Expr:
    """The instant in ns of a UTC time with at least seconds; null when a text is none.

    Without care years that 64 bits do not reach are an error, as they are even for TRY_CAST.
    """
    nanoseconds = builder.call("epoch_ns", builder.try_cast(said.copy(), "TIMESTAMP_NS"))
    return builder.when(is_utc(said), builder.tried(nanoseconds) if careful else nanoseconds)


def of_text(source: Source, said: exp.Expr, careful: bool = True) -> exp.Expr:
    """The instant in ns of a text in the form of the source; null when the text is none.

    What may be a time in UTC is read as such, fast; `careful` is as of `utc`.
    """
    told = instant(source, parse_parts(source, said))
    if source.time_form:
        return told
    return builder.when(builder.call("ends_with", said.copy(), builder.text("Z")), utc(said, careful), told)


def instant(source: Source, parts: exp.Expr) -> exp.Expr:
    """The instant in ns out of what `parse_parts` yields, a column; null when the text is none."""
    if "%" in source.time_form:
        return _moved(builder.call("epoch_ns", parts), dialect.integer(offset_ns(source.zone) or 0))
    if source.time_form:
        return _since(parts, 10 ** (DIGITS - SINCE_1970[source.time_form]))
    return _iso(parts, source.zone)


def _part(parts: exp.Expr, index: int) -> exp.Expr:
    return builder.call("struct_extract", parts.copy(), builder.text(f"p{index}"))


def _moved(value: exp.Expr, ahead: exp.Expr) -> exp.Expr:
    """An instant in UTC, of one in a zone that is ahead of it."""
    return builder.tried(exp.Sub(this=value, expression=exp.paren(ahead)))


def _fraction(text: exp.Expr, digits: int) -> exp.Expr:
    """The first digits of a fraction as an integer."""
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


def _ahead(said: exp.Expr, zone: str) -> exp.Expr:
    """How far the zone that a time names is ahead of UTC; where it names none, the source's, null without one."""
    hours = builder.try_cast(builder.call("left", said, dialect.integer(3)), "BIGINT")
    minutes = builder.try_cast(builder.call("right", said.copy(), dialect.integer(2)), "BIGINT")
    behind = builder.starts(said.copy(), "-")
    signed = builder.when(behind, exp.Neg(this=minutes), minutes.copy())
    named = exp.Mul(
        this=exp.paren(exp.Add(this=exp.Mul(this=hours, expression=dialect.integer(60)), expression=signed)),
        expression=dialect.integer(MINUTE),
    )
    own = offset_ns(zone)
    unnamed: exp.Expr = builder.cast(exp.Null(), "BIGINT") if own is None else dialect.integer(own)
    ifs = [
        exp.If(this=exp.EQ(this=said.copy(), expression=builder.text("")), true=unnamed),
        exp.If(this=exp.EQ(this=said.copy(), expression=builder.text("Z")), true=dialect.integer(0)),
    ]
    return exp.Case(ifs=ifs, default=named)
