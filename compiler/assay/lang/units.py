"""Units by pint: exact conversion factors, products and quotients.  The only module that imports pint.

Information, events and the domain's units are base dimensions of our own (pint has bytes without a dimension), so
that a slot never becomes a byte.  A year is 365 days.

The import costs 0.16 s, so it happens when a unit is first asked for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from assay.lang.typing_rules import NONE, UnitError, Units

OWN = (
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
#: the library would read more: directives, and numbers, whose powers of powers take all time
_UNIT = re.compile(rf"(?:{WORD}|\*\* ?-?[0-9]{{1,2}}(?![0-9 ]*\*\*)|[*/() ]|1\b)+")


_SECOND, _NANOSECONDS = "second", 1_000_000_000


class UnknownUnitError(Exception):
    """A unit expression names a unit that is not defined."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(name)
        self.name = name
        self.known = known


@functools.lru_cache(maxsize=8)
def library_of(base_units: tuple[str, ...]) -> UnitLibrary:
    """The library of a package with these base units; remembered, as reading the definitions takes long."""
    return UnitLibrary(base_units)


def nanoseconds_of(unit: str) -> int:
    """How many nanoseconds one is of the unit of a duration: 1000000 of `millisecond`, 10^9 of `second / slot`,
    which is kept per slot, and of no unit at all.

    Raises UnknownUnitError where it is no unit, UnitError where it is no time.
    """
    time = unit.partition("/")[0].strip()
    if time in (_SECOND, NONE):
        return _NANOSECONDS  # of nearly all: the library is not needed for it
    return int(library_of(()).factor(time, "nanosecond"))


class UnitLibrary:
    """Units known to a package: the general ones and the base units of its domain."""

    def __init__(self, base_units: Iterable[str]) -> None:
        import pint

        own = [name for name in base_units if re.fullmatch(WORD, name)]  # others are a problem that is told by itself
        lines = [*OWN, *(f"{name} = [{name}]" for name in own)]
        self._registry: Any = pint.UnitRegistry(lines, non_int_type=Decimal, cache_folder=None)
        self._known = tuple(sorted({line.split("=")[0].strip() for line in lines}))

    def units(self) -> Units:
        """The functions that the typing rules need."""
        return Units(self.factor, self.combine)

    def unit(self, text: str) -> Any:
        """The unit of an expression such as `mebibyte / second`; UnknownUnitError when a word of it is not defined."""
        return self._parsed(text)

    @functools.cache  # noqa: B019 - one library lives as long as its checks
    def _parsed(self, text: str) -> Any:
        if text != NONE and not (_UNIT.fullmatch(text) and len(text) <= LONGEST):
            raise UnknownUnitError(text[:LONGEST], self._known)
        try:
            unit = self._registry.Unit("" if text == NONE else text)
        except Exception as error:  # of what is no unit the library says so in many ways
            told = str(error).split("'")[1:2]
            raise UnknownUnitError(told[0] if told and told[0] in text else text, self._known) from None
        if any(power != int(power) for power in unit._units.values()):
            raise UnknownUnitError(text, self._known)  # a root of a unit has no exact factor
        return unit

    @functools.cache  # noqa: B019
    def factor(self, found: str, expected: str) -> Fraction:
        """Number by which a value in `found` is multiplied to be in `expected`, exact; UnitError if there is none."""
        source, target = self._parsed(found), self._parsed(expected)
        if source.dimensionality != target.dimensionality:
            raise UnitError(expected, found)
        return self._exact(source) / self._exact(target)

    def _exact(self, unit: Any) -> Fraction:
        result = Fraction(1)
        for name, power in unit._units.items():
            base = self._registry.Quantity(Decimal(1), name).to_base_units().magnitude
            result *= Fraction(base) ** int(power)
        return result

    def base(self, text: str) -> tuple[Fraction, str]:
        """A unit in base units: how many of them it is, exact, and which (`megabyte`: 1000000 `byte`)."""
        unit = self._parsed(text)
        named = f"{self._registry.Quantity(Decimal(1), unit).to_base_units().units}"
        return self._exact(unit), named or NONE

    def find_missing_factor(self, found: str, expected: str) -> str:
        """The unit, in base units, that a value in `found` is to be multiplied by to be in one like `expected`."""
        return self.base(self.combine("over", expected, found))[1]

    def combine(self, op: str, left: str, right: str) -> str:
        """The unit of a product (`times`) or quotient (`over`, `div`)."""
        first, second = self._parsed(left), self._parsed(right)
        unit = first * second if op == "times" else first / second
        text = f"{unit}"
        return text or NONE
