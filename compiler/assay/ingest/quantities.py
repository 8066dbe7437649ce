"""SQL expressions that read quantities with their units: durations, sizes and instants, exactly, as a text of digits.

The result is null where there is no text. For a text that is no such quantity it is `NO_QUANTITY` instead, since null
would select the default of the field.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlglot import exp

from assay.ingest import sql_trees, timestamps
from assay.sql import dialect
from assay.util.time_units import NANOSECONDS, SPELLED_NANOSECONDS

NO_QUANTITY = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A transform that reads a quantity: its pattern, words for messages, and the expression of its value."""

    pattern: str
    expected: str
    build_number: Callable[[exp.Expr], exp.Expr]
    is_exact: Callable[[str], bool] = lambda _: True

    def is_valid(self, text: str) -> bool:
        """Return whether a text is such a quantity."""
        return bool(re.match(self.pattern, text) and re.search(_DIGIT, text)) and self.is_exact(text)

    def build_value(self, text: exp.Expr) -> exp.Expr:
        """Return the quantity as a text of digits; null or `NO_QUANTITY` without one."""
        is_valid = exp.and_(
            *(
                sql_trees.call("regexp_matches", text.copy(), sql_trees.build_text(item))
                for item in (self.pattern, _DIGIT)
            )
        )
        no_quantity = sql_trees.build_text(NO_QUANTITY)
        number = sql_trees.build_coalesce([sql_trees.cast(self.build_number(text), "TEXT"), no_quantity])
        return sql_trees.build_if(
            is_valid, number, sql_trees.build_if(sql_trees.is_not_null(text.copy()), no_quantity.copy())
        )


_DIGIT = "[0-9]"
#: hours, minutes and seconds, or one part below a second; no digits below a nanosecond
_DURATION = (
    r"^([-+]?)(?:(?:([0-9]{1,7})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10}(?:\.[0-9]{1,9})?)s)?"
    r"|([0-9]{1,13}(?:\.[0-9]{1,6})?)ms|([0-9]{1,16}(?:\.[0-9]{1,3})?)(?:µs|μs|us)|([0-9]{1,19})ns|0)$"
)
#: group of `_DURATION` -> exact type of its number, and type of the nanoseconds of its unit; the product has at most
#: 38 digits
_DURATION_TYPES = {
    "h": ("INT128", "INT128"),
    "m": ("INT128", "INT128"),
    "s": ("DECIMAL(28, 9)", "DECIMAL(10, 0)"),
    "ms": ("DECIMAL(28, 6)", "DECIMAL(7, 0)"),
    "us": ("DECIMAL(28, 3)", "DECIMAL(4, 0)"),
    "ns": ("INT128", "INT128"),
}


def _build_duration(text: exp.Expr) -> exp.Expr:
    """Return the nanoseconds of a duration."""
    names = exp.Array(expressions=[sql_trees.build_text(name) for name in ("sign", *_DURATION_TYPES)])
    parts = sql_trees.call("regexp_extract", text.copy(), sql_trees.build_text(_DURATION), names)
    total: exp.Expr | None = None
    for name in _DURATION_TYPES:
        total = (
            _build_part_nanoseconds(parts, name)
            if total is None
            else exp.Add(this=total, expression=_build_part_nanoseconds(parts, name))
        )
    assert total is not None
    return _build_signed(parts, total)


def _build_signed(parts: exp.Expr, value: exp.Expr) -> exp.Expr:
    is_negative = exp.EQ(this=_extract_part(parts, "sign"), expression=sql_trees.build_text("-"))
    return sql_trees.build_if(is_negative, exp.Neg(this=exp.paren(value)), value.copy())


def _extract_part(parts: exp.Expr, name: str) -> exp.Expr:
    return sql_trees.call("struct_extract", parts.copy(), sql_trees.build_text(name))


def _build_part_nanoseconds(parts: exp.Expr, name: str) -> exp.Expr:
    """Return the nanoseconds of a part of a duration; 0 if it is absent."""
    number_type, unit_type = _DURATION_TYPES[name]
    nanoseconds = NANOSECONDS["minute"] if name == "m" else SPELLED_NANOSECONDS[name]
    value = exp.Mul(
        this=sql_trees.try_cast(_extract_part(parts, name), number_type),
        expression=sql_trees.cast(dialect.build_integer(nanoseconds), unit_type),
    )
    return sql_trees.cast(sql_trees.build_coalesce([value, dialect.build_integer(0)]), "INT128")


#: minutes and seconds, perhaps behind hours, or days and hours; no digits below a nanosecond
_CLOCK_FORM = (
    r"^[-+]?(?:[0-9]{1,5}[.-](?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]|[0-9]{1,7}:[0-5]?[0-9]|[0-9]{1,2})"
    r":[0-5][0-9](?:\.[0-9]{1,9})?$"
)
_CLOCK = r"^([-+]?)(?:(?:([0-9]{1,5})[.-])?([0-9]{1,7}):)?([0-9]{1,2}):([0-5][0-9](?:\.[0-9]{1,9})?)$"
#: group of `_CLOCK` -> nanoseconds of its unit
_CLOCK_UNITS = {name[0]: NANOSECONDS[name] for name in ("day", "hour", "minute", "second")}


def _build_clock_duration(text: exp.Expr) -> exp.Expr:
    """Return the nanoseconds of a duration as a clock shows it."""
    names = exp.Array(expressions=[sql_trees.build_text(name) for name in ("sign", *_CLOCK_UNITS)])
    parts = sql_trees.call("regexp_extract", text.copy(), sql_trees.build_text(_CLOCK), names)
    values = [
        exp.Mul(
            this=sql_trees.try_cast(_extract_part(parts, name), "DECIMAL(20, 9)"),
            expression=sql_trees.cast(dialect.build_integer(nanoseconds), "DECIMAL(18, 0)"),
        )
        for name, nanoseconds in _CLOCK_UNITS.items()
    ]
    numbers = [sql_trees.build_coalesce([value, dialect.build_integer(0)]) for value in values]
    return _build_signed(parts, functools.reduce(_add, [sql_trees.cast(number, "INT128") for number in numbers]))


def _add(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Add(this=left, expression=right)


_IEC_UNITS = {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTP", start=1)}
_SIZE_UNITS = {"": 1, "B": 1, "kB": 1000, **{f"{p}B": 1000**n for n, p in enumerate("KMGTP", start=1)}, **_IEC_UNITS}
_BINARY_SIZE_UNITS = {
    unit: 1024 ** ("KMGTP".index(unit[0].upper()) + 1) if unit.strip("B") else 1
    for unit in ("", "B", "k", "kB", *(f"{prefix}{end}" for prefix in "KMGTP" for end in ("", "B", "iB")))
}


def _build_size_pattern(units: Mapping[str, int]) -> str:
    """Return the pattern of a size: sign, number, unit."""
    return rf"^([-+]?)([0-9]{{1,16}}(?:\.[0-9]{{1,6}})?) ?({'|'.join(sorted(units, reverse=True))})$"


def _create_size(units: Mapping[str, int], examples: str) -> Quantity:
    """Return the quantity of sizes in some units, each with its bytes; a size is a whole number of bytes."""
    pattern = _build_size_pattern(units)

    def build_number(text: exp.Expr) -> exp.Expr:
        names = exp.Array(expressions=[sql_trees.build_text(name) for name in ("sign", "number", "unit")])
        parts = sql_trees.call("regexp_extract", text.copy(), sql_trees.build_text(pattern), names)
        factors = [exp.If(this=sql_trees.build_text(unit), true=dialect.build_integer(n)) for unit, n in units.items()]
        factor = exp.Case(this=_extract_part(parts, "unit"), ifs=factors)
        # Number and bytes of a unit together have the 38 digits of an exact product.
        size = exp.Mul(
            this=sql_trees.try_cast(_extract_part(parts, "number"), "DECIMAL(22, 6)"),
            expression=sql_trees.cast(factor, "DECIMAL(16, 0)"),
        )
        whole = sql_trees.cast(size, "INT128")
        is_whole = exp.EQ(this=size.copy(), expression=whole)
        return sql_trees.build_if(is_whole, _build_signed(parts, whole.copy()))

    def is_exact(text: str) -> bool:
        match = re.match(pattern, text)
        size = Decimal(match[2]) * units[match[3]] if match else Decimal("NaN")
        return size == size.to_integral_value() and size < 2**63

    return Quantity(pattern, f"a size in whole bytes, such as {examples}", build_number, is_exact)


def _is_date_and_time(text: str) -> bool:
    """Return whether the date and the time of a text in ISO 8601 exist."""
    try:
        datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True


def _create_separated(thousands: str, point: str, examples: str) -> Quantity:
    """Return the quantity of numbers with a separator of thousands and one of decimals."""
    group, decimal = re.escape(thousands), re.escape(point)

    def build_number(text: exp.Expr) -> exp.Expr:
        digits = sql_trees.call("replace", text.copy(), sql_trees.build_text(thousands), sql_trees.build_text(""))
        return sql_trees.call("replace", digits, sql_trees.build_text(point), sql_trees.build_text("."))

    pattern = rf"^[-+]?(?:[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|[0-9]+)(?:{decimal}[0-9]+)?$"
    return Quantity(pattern, f"a number such as {examples}", build_number)


#: kind of a transform -> what it reads
QUANTITIES = {
    "duration": Quantity(_DURATION, "a duration, such as 1m2.5s or 448.05ms", _build_duration),
    "clockDuration": Quantity(_CLOCK_FORM, "a duration, such as 1:02:03.5 or 2:03", _build_clock_duration),
    "size": _create_size(_SIZE_UNITS, "467kB or 1.5MiB"),
    "binarySize": _create_size(_BINARY_SIZE_UNITS, "8192K or 1.5MB"),
    "grouped": _create_separated(",", ".", "1,234,567 or 1,234.5"),
    "decimalComma": _create_separated(".", ",", "0,123 or 1.234,5"),
    "instant": Quantity(
        timestamps.ZONED_ISO,
        "an instant with its zone, such as 2026-03-01T10:00:00Z",
        timestamps.build_zoned_instant,
        _is_date_and_time,
    ),
}
