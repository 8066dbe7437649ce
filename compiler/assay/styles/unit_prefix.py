"""Choose a prefix for a unit that suits the numbers of a row: 0.0000294 s is 29.4 µs, 3.77 and 0.0113 MiB are KiB."""

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
# Rounding 999.7 to three digits yields 1000: the next unit is chosen from 999.5 on.
_ONE = Fraction(9995, 10000)
# Three digits of a smaller number have more than three decimals.
_LEAST_LEGIBLE = Fraction(1, 10)
# Greater numbers have more than five digits before the point.
_GREATEST_LEGIBLE = 100_000


def choose_prefix(values: Sequence[float | None], symbol: str) -> tuple[Fraction, str]:
    """Return the factor and symbol of the unit in which the greatest of the values is at least 1 and below the next.

    If the least value but 0 would be illegible there (0.0113 MiB/s beside 3.77), it is the greatest unit in which both
    are legible, should there be one: 11.6 KiB/s beside 3856.  A rate keeps its denominator; units without prefixes keep
    their symbol.
    """
    unit, per, denominator = symbol.partition(_PER)
    magnitudes = [abs(value) for value in values if value and math.isfinite(value)]
    family = next((item for item in _FAMILIES if unit in item[0]), None)
    if family is None or not magnitudes:
        return Fraction(1), symbol
    least, greatest = min(magnitudes), max(magnitudes)
    symbols, step = family
    index = symbols.index(unit)
    factors = [Fraction(step) ** (index - other) for other in range(len(symbols))]
    best = max((other for other, factor in enumerate(factors) if greatest * factor >= _ONE), default=0)
    if least * factors[best] < _LEAST_LEGIBLE:
        legible = (other for other, factor in enumerate(factors[:best]) if least * factor >= _LEAST_LEGIBLE)
        finer = max(legible, default=best)
        best = finer if greatest * factors[finer] < _GREATEST_LEGIBLE else best
    return factors[best], f"{symbols[best]}{per}{denominator}"
