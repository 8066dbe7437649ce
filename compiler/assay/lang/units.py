"""Compute exact conversion factors, products and quotients of units, also of what series read.

The only module that imports pint.

Information, events and the domain's units are base dimensions of our own (pint has bytes without a dimension), so
that a slot is never converted to a byte.  A year is 365 days.

The import takes 0.16 s, so it is deferred to the first use of a unit.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Container, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from assay.lang.expression_types import COUNT, NONE, UnitError, Units
from assay.lang.model.package import Package
from assay.lang.model.series import Series
from assay.util.numbers import parse_decimal
from assay.util.time_units import SECOND

DEFINITIONS = (
    "byte = [information] = B",
    "kibibyte = 1024 * byte = KiB",
    "mebibyte = 1024 * kibibyte = MiB",
    "gibibyte = 1024 * mebibyte = GiB",
    "tebibyte = 1024 * gibibyte = TiB",
    "kilobyte = 1000 * byte = kB",
    "megabyte = 1000 * kilobyte = MB",
    "gigabyte = 1000 * megabyte = GB",
    "terabyte = 1000 * gigabyte = TB",
    "second = [time] = s",
    "nanosecond = 1e-9 * second = ns",
    "microsecond = 1e-6 * second = us",
    "millisecond = 1e-3 * second = ms",
    "centisecond = 1e-2 * second = cs",
    "minute = 60 * second",
    "hour = 60 * minute",
    "day = 24 * hour = d",
    "year = 365 * day",
    "hertz = 1 / second = Hz",
    "percent = 0.01 = %",
    "event = [event]",
    "count = []",
)


WORD = r"[A-Za-z_][A-Za-z0-9_]*"
LONGEST = 100  # characters of a unit
#: pint itself accepts more: directives, and powers of powers of numbers, which never finish
_UNIT = re.compile(rf"(?:{WORD}|\*\* ?-?[0-9]{{1,2}}(?![0-9 ]*\*\*)|[*/() ]|1\b)+")


_SECOND = "second"
#: the field that a record contributes if a series has no `value`
VALUE = "value"
#: readings that grow with the length of an interval, so that they may be printed per second
TOTALS = ("count", "sum")
#: units of a count, besides the base units of a package
COUNTED = (COUNT, "event", NONE)


class UnknownUnitError(Exception):
    """A unit expression names a unit that is not defined."""

    def __init__(self, name: str, candidates: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.candidates = candidates


@functools.lru_cache(maxsize=8)
def get_library(base_units: tuple[str, ...], derived_units: tuple[tuple[str, str, str], ...] = ()) -> UnitLibrary:
    """Return the library of the units of a package; cached, since parsing definitions is slow."""
    return UnitLibrary(base_units, derived_units)


def get_package_library(package: Package) -> UnitLibrary:
    """Return the library of the units of a package."""
    derived_units = tuple((unit.name, unit.factor, unit.of) for unit in package.derived_units)
    return get_library(tuple(unit.name for unit in package.units), derived_units)


def count_nanoseconds(unit: str) -> int:
    """Return the number of nanoseconds in one unit of a duration.

    1000000 for `millisecond`, 10^9 for `second / slot` (durations are stored per slot) and without a unit.
    Raises UnknownUnitError for an unknown unit, UnitError for a unit that is not a time.
    """
    time = unit.partition("/")[0].strip()
    if time in (_SECOND, NONE):
        return SECOND  # the common case, without loading the library
    return int(get_library(()).compute_factor(time, "nanosecond"))


def is_factor(text: str) -> bool:
    """Return whether a text is a factor of a derived unit: a decimal number above 0."""
    number = parse_decimal(text)
    return number is not None and number > 0


def _is_derivable(name: str, factor: str, unit: str, names: Container[str]) -> bool:
    """Return whether a derived unit has a new name, a factor, and only known units in what it multiplies."""
    is_known = all(word in names for word in re.findall(WORD, unit)) and len(unit) <= LONGEST and _UNIT.fullmatch(unit)
    return bool(re.fullmatch(WORD, name) and name not in names and is_factor(factor) and is_known)


class UnitLibrary:
    """The units of a package: the general ones and those of its domain, base units and multiples of others.

    A derived unit is its name, its factor (a decimal text) and the unit that it is a multiple of.
    """

    def __init__(self, base_units: Iterable[str], derived_units: Iterable[tuple[str, str, str]] = ()) -> None:
        import pint

        base_names = [
            name for name in base_units if re.fullmatch(WORD, name)
        ]  # invalid names are reported by the checks of names
        lines = [*DEFINITIONS, *(f"{name} = [{name}]" for name in base_names)]
        names = {line.split("=")[0].strip() for line in lines}
        for name, factor, unit in derived_units:
            if _is_derivable(name, factor, unit, names):
                lines.append(f"{name} = {factor} * {unit}")
                names.add(name)
        self._registry: Any = pint.UnitRegistry(lines, non_int_type=Decimal, cache_folder=None)
        self._names = tuple(sorted(names))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all units, sorted."""
        return self._names

    def get_units(self) -> Units:
        """Return the functions that the typing rules need."""
        return Units(self.compute_factor, self.combine)

    def parse_unit(self, text: str) -> Any:
        """Return the unit of an expression such as `mebibyte / second`.  Raises UnknownUnitError."""
        return self._parse(text)

    @functools.cache  # noqa: B019 - one library lives as long as its checks
    def _parse(self, text: str) -> Any:
        if text != NONE and not (_UNIT.fullmatch(text) and len(text) <= LONGEST):
            raise UnknownUnitError(text[:LONGEST], self._names)
        try:
            unit = self._registry.Unit("" if text == NONE else text)
        except Exception as error:  # pint raises many kinds of errors for invalid units
            quoted = str(error).split("'")[1:2]
            raise UnknownUnitError(quoted[0] if quoted and quoted[0] in text else text, self._names) from None
        if any(power != int(power) for power in unit._units.values()):
            raise UnknownUnitError(text, self._names)  # a root of a unit has no exact factor
        return unit

    @functools.cache  # noqa: B019
    def compute_factor(self, actual: str, expected: str) -> Fraction:
        """Return the exact factor that converts a value in `actual` to `expected`.  Raises UnitError."""
        source, target = self._parse(actual), self._parse(expected)
        if source.dimensionality != target.dimensionality:
            raise UnitError(expected, actual)
        return self._compute_exact_factor(source) / self._compute_exact_factor(target)

    def _compute_exact_factor(self, unit: Any) -> Fraction:
        result = Fraction(1)
        for name, power in unit._units.items():
            base = self._registry.Quantity(Decimal(1), name).to_base_units().magnitude
            result *= Fraction(base) ** int(power)
        return result

    def convert_to_base(self, text: str) -> tuple[Fraction, str]:
        """Return the exact factor to base units, and the base unit: `megabyte` is (1000000, `byte`)."""
        unit = self._parse(text)
        base_name = f"{self._registry.Quantity(Decimal(1), unit).to_base_units().units}"
        return self._compute_exact_factor(unit), base_name or NONE

    def find_missing_factor(self, actual: str, expected: str) -> str:
        """Return the base unit by which a value in `actual` must be multiplied to convert to `expected`."""
        return self.convert_to_base(self.combine("over", expected, actual))[1]

    def combine(self, op: str, left: str, right: str) -> str:
        """Return the unit of a product (`times`) or quotient (`over`, `div`)."""
        first, second = self._parse(left), self._parse(right)
        unit = first * second if op == "times" else first / second
        text = f"{unit}"
        return text or NONE


def compute_reading_factor(
    compute_factor: Callable[[str, str], Fraction], package: Package, item: Series, unit: str
) -> tuple[Fraction, bool]:
    """Return the factor from readings of values in `unit` to the unit of the series, and whether it is per second.

    A count may have any unit of things.  Raises UnitError if the units do not convert, and UnknownUnitError.
    """
    things = (*COUNTED, *(base.name for base in package.units)) if item.reading == "count" else (unit,)
    if item.reading == "rate":
        return compute_factor(_divide(unit), item.unit.name), False
    totals = [(name, False) for name in things]
    rates = [(_divide(name), True) for name in things] if item.reading in TOTALS else []
    for candidate, per_second in (*totals, *rates):
        with contextlib.suppress(UnitError):
            return compute_factor(candidate, item.unit.name), per_second
    raise UnitError(item.unit.name, unit)


def describe_reading_unit(unit: str, reading: str) -> str:
    """Return the units that readings of values in `unit` may have."""
    if reading == "rate":
        return _divide(unit)
    if reading == "count":
        return "a count: `count`, `event`, a base unit of the package, or one of these per second"
    return f"{unit}, or {_divide(unit)}" if reading == "sum" else unit


def _divide(unit: str) -> str:
    return f"({unit}) / second"
