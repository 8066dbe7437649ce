"""Compute exact conversion factors, products and quotients of units, also of what series read.

Information, events and the domain's units are base dimensions of our own, so that a slot is never converted to a byte.
A year is 365 days.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterable
from fractions import Fraction

from assay.lang.expression_types import COUNT, NONE, UnitError, Units
from assay.lang.model.package import Package
from assay.lang.model.series import Series
from assay.lang.unit_expressions import InvalidUnitError, Powers, Unit, multiply, parse_powers, write_powers
from assay.util.numbers import parse_decimal
from assay.util.time_units import SECOND, TIME_UNITS

#: general units that are no multiple of another one; a count has no dimension
BASE_UNITS = ("byte", "second", "event", COUNT)
#: name, factor, the unit that it is a multiple of
MULTIPLES = (
    ("kibibyte", "1024", "byte"),
    ("mebibyte", "1024", "kibibyte"),
    ("gibibyte", "1024", "mebibyte"),
    ("tebibyte", "1024", "gibibyte"),
    ("kilobyte", "1000", "byte"),
    ("megabyte", "1000", "kilobyte"),
    ("gigabyte", "1000", "megabyte"),
    ("terabyte", "1000", "gigabyte"),
    *((unit.name, f"{unit.nanoseconds}e-9", "second") for unit in TIME_UNITS if unit.nanoseconds != SECOND),
    ("centisecond", "1e-2", "second"),
    ("year", "365", "day"),
    ("hertz", "1", "1 / second"),
    ("percent", "0.01", NONE),
)
ALIASES = {
    "B": "byte",
    "KiB": "kibibyte",
    "MiB": "mebibyte",
    "GiB": "gibibyte",
    "TiB": "tebibyte",
    "kB": "kilobyte",
    "MB": "megabyte",
    "GB": "gigabyte",
    "TB": "terabyte",
    "s": "second",
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "cs": "centisecond",
    "d": "day",
    "Hz": "hertz",
}


WORD = r"[A-Za-z_][A-Za-z0-9_]*"
LONGEST = 100  # characters of a unit

_SECOND = "second"
#: the field that a record contributes if a series has no `value`
VALUE = "value"
#: readings that grow with the length of an interval, so that they may be printed per second
TOTALS = ("count", "sum", "increase")
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
    """Return the library of the units of a package;cached."""
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


class UnitLibrary:
    """The units of a package: the general ones and those of its domain, base units and multiples of others.

    A derived unit is its name, its factor (a decimal text) and the unit that it is a multiple of.
    """

    def __init__(self, base_units: Iterable[str], derived_units: Iterable[tuple[str, str, str]] = ()) -> None:
        # Invalid names are reported by the checks of names.
        base_names = (*BASE_UNITS, *(name for name in base_units if re.fullmatch(WORD, name)))
        self._units = {name: Unit(Fraction(1), {name: 1}) for name in base_names}
        self._units[NONE] = Unit(Fraction(1), {})
        self._aliases = ALIASES | {name: name for name in self._units}
        self._names: tuple[str, ...] = ()
        for name, factor, unit in MULTIPLES:
            self._define(name, factor, unit)
        for name, factor, unit in derived_units:
            if re.fullmatch(WORD, name) and name not in self._aliases and is_factor(factor):
                with contextlib.suppress(UnknownUnitError):
                    self._define(name, factor, unit)
        self._names = tuple(sorted(self._units.keys() - {NONE}))

    def _define(self, name: str, factor: str, unit: str) -> None:
        multiple = self._resolve(self._parse(unit))
        self._units[name] = Unit(multiple.factor * Fraction(factor), multiple.base)
        self._aliases[name] = name

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all units, sorted."""
        return self._names

    def get_units(self) -> Units:
        """Return the functions that the typing rules need."""
        return Units(self.compute_factor, self.combine)

    def check_unit(self, text: str) -> None:
        """Parse the unit of an expression such as `mebibyte / second`.  Raises UnknownUnitError."""
        self._parse(text)

    @functools.cache  # noqa: B019 - one library lives as long as its checks
    def _parse(self, text: str) -> Powers:
        try:
            if len(text) > LONGEST:
                raise InvalidUnitError(text[:LONGEST])
            return parse_powers(text, self._aliases)
        except InvalidUnitError as error:
            raise UnknownUnitError(error.part, self._names) from None

    def _resolve(self, powers: Powers) -> Unit:
        factor = Fraction(1)
        base: Powers = {}
        for name, power in powers.items():
            factor *= self._units[name].factor ** power
            base = multiply(base, self._units[name].base, power)
        return Unit(factor, base)

    @functools.cache  # noqa: B019
    def compute_factor(self, actual: str, expected: str) -> Fraction:
        """Return the exact factor that converts a value in `actual` to `expected`.  Raises UnitError."""
        source, target = self._resolve(self._parse(actual)), self._resolve(self._parse(expected))
        if multiply(source.base, target.base, -1).keys() - {COUNT}:
            raise UnitError(expected, actual)
        return source.factor / target.factor

    def convert_to_base(self, text: str) -> tuple[Fraction, str]:
        """Return the exact factor to base units, and the base unit: `megabyte` is (1000000, `byte`)."""
        unit = self._resolve(self._parse(text))
        return unit.factor, write_powers(unit.base)

    def find_missing_factor(self, actual: str, expected: str) -> str:
        """Return the base unit by which a value in `actual` must be multiplied to convert to `expected`."""
        return self.convert_to_base(self.combine("over", expected, actual))[1]

    def combine(self, op: str, left: str, right: str) -> str:
        """Return the unit of a product (`times`) or quotient (`over`, `div`)."""
        return write_powers(multiply(self._parse(left), self._parse(right), 1 if op == "times" else -1))


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
    return f"{unit}, or {_divide(unit)}" if reading in TOTALS else unit


def _divide(unit: str) -> str:
    return f"({unit}) / second"
