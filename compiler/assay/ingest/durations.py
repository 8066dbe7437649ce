"""Durations as Go writes them (`448.050467ms`, `1m2.5s`), as whole nanoseconds: no double comes between."""

from __future__ import annotations

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.number_spellings import DIGIT, DURATIONS
from assay.sql import dialect

#: group of DURATIONS -> type that holds its number exactly, ns of one, type of these; their product has 38 digits at
#: most
PARTS = {
    "h": ("INT128", 3_600_000_000_000, "INT128"),
    "m": ("INT128", 60_000_000_000, "INT128"),
    "s": ("DECIMAL(28, 9)", 1_000_000_000, "DECIMAL(10, 0)"),
    "ms": ("DECIMAL(28, 6)", 1_000_000, "DECIMAL(7, 0)"),
    "us": ("DECIMAL(28, 3)", 1_000, "DECIMAL(4, 0)"),
    "ns": ("INT128", 1, "INT128"),
}
NONE = ""  # what stands for a text that is no duration


def nanoseconds(text: exp.Expr) -> exp.Expr:
    """The digits of the nanoseconds of a duration, as a text; null where there is no text.

    Of a text that is no duration the empty one, which is no value, and not null: a default stands for no text alone.
    """
    known = exp.and_(*(builder.call("regexp_matches", text.copy(), builder.text(item)) for item in (DURATIONS, DIGIT)))
    names = exp.Array(expressions=[builder.text(name) for name in ("sign", *PARTS)])
    parts = builder.call("regexp_extract", text.copy(), builder.text(DURATIONS), names)
    total: exp.Expr | None = None
    for name in PARTS:
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
        builder.when(builder.is_not_null(text.copy()), builder.text(NONE)),
    )


def _part(parts: exp.Expr, name: str) -> exp.Expr:
    return builder.call("struct_extract", parts.copy(), builder.text(name))


def part_nanoseconds(parts: exp.Expr, name: str) -> exp.Expr:
    """The nanoseconds of a part; 0 where it is not there."""
    number, each, kind = PARTS[name]
    value = exp.Mul(
        this=builder.try_cast(_part(parts, name), number), expression=builder.cast(dialect.integer(each), kind)
    )  # fmt: skip
    return builder.cast(builder.first_of([value, dialect.integer(0)]), "INT128")
