"""The units of what series read, and their factors to the units of the series."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from fractions import Fraction

from assay.lang.model.package import Package
from assay.lang.model.series import Series
from assay.lang.typing_rules import COUNT, NONE, UnitError

#: the field that a record contributes if a series has no `value`
VALUE = "value"
#: readings that grow with the length of an interval, so that they may be printed per second
TOTALS = ("count", "sum")
#: units of a count, besides the base units of a package
COUNTED = (COUNT, "event", NONE)


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
