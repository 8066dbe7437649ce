"""Choose a prefix for a unit, so that numbers have one to three digits before the point: 0.0000294 s is 29.4 µs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

_DECIMAL, _BINARY = 1000, 1024
#: symbols of one quantity, each so many times the one before it
_FAMILIES = (
    (("ns", "µs", "ms", "s"), _DECIMAL),
    (("B", "kB", "MB", "GB", "TB"), _DECIMAL),
    (("B", "KiB", "MiB", "GiB", "TiB"), _BINARY),
)
_PER = "/"


def choose_prefix(values: Sequence[float | None], symbol: str) -> tuple[Fraction, str]:
    """Return the factor and symbol of the unit in which the greatest of the values is at least 1 and below the next.

    A rate (`MiB/s`) keeps its denominator; units without prefixes keep their symbol.
    """
    unit, per, denominator = symbol.partition(_PER)
    greatest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    family = next((item for item in _FAMILIES if unit in item[0]), None)
    if family is None or not greatest:
        return Fraction(1), symbol
    symbols, step = family
    index = symbols.index(unit)
    factors = [Fraction(step) ** (index - other) for other in range(len(symbols))]
    # Rounding 999.7 to three digits yields 1000: the next unit is chosen from 999.5 on.
    least = Fraction(9995, 10000)
    best = max((other for other, factor in enumerate(factors) if greatest * factor >= least), default=0)
    return factors[best], f"{symbols[best]}{per}{denominator}"
