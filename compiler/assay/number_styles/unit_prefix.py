"""Choose a prefix for a unit that suits the numbers of a row: 0.0000294 s is 29.4 µs, 6600 MiB are 6.45 GiB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from assay.util.time_units import SECOND, TIME_UNITS

_DECIMAL, _BINARY = 1000, 1024
_WHOLE = "Bytes"  # whole numbers as long as they are legible: a fraction of a kilobyte says less
SHORT_SYMBOLS = {_WHOLE: "B"}
"""Short forms of symbols. Averages of series, mostly of memory, use them; in tables of metrics, single bytes count."""

#: symbols of one quantity, each so many times the one before it
_FAMILIES = (
    (tuple(unit.symbol for unit in TIME_UNITS if unit.nanoseconds <= SECOND), _DECIMAL),
    (("B", "kB", "MB", "GB", "TB"), _DECIMAL),
    ((_WHOLE, "kB", "MB", "GB", "TB"), _DECIMAL),
    (("B", "KiB", "MiB", "GiB", "TiB"), _BINARY),
)
_SIZES = frozenset(symbol for symbols, _ in _FAMILIES[1:] for symbol in symbols)
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
    their symbol, and so do Bytes below 100 000.  A size is in no smaller unit than its own: a mean of whole MB, such as
    0.167 MB, is not known to 1 kB.
    """
    magnitudes = [abs(value) for value in values if value and math.isfinite(value)]
    least, greatest = min(magnitudes, default=0), max(magnitudes, default=0)
    if not magnitudes or (symbol == _WHOLE and greatest < _GREATEST_LEGIBLE):
        return Fraction(1), symbol
    units = list_prefixed_units(symbol)
    if symbol in _SIZES:
        units = [(factor, name) for factor, name in units if factor <= 1]
    factors = [factor for factor, _ in units]
    best = max((other for other, factor in enumerate(factors) if greatest * factor >= _ONE), default=0)
    if least * factors[best] < _LEAST_LEGIBLE:
        legible = (other for other, factor in enumerate(factors[:best]) if least * factor >= _LEAST_LEGIBLE)
        finer = max(legible, default=best)
        best = finer if greatest * factors[finer] < _GREATEST_LEGIBLE else best
    return units[best]


def list_prefixed_units(symbol: str) -> list[tuple[Fraction, str]]:
    """Return factor and symbol of all units that a unit may be printed in, the least first; only itself if it has none.

    A value times the factor is in the other unit.
    """
    unit, per, denominator = symbol.partition(_PER)
    symbols, step = next((item for item in _FAMILIES if unit in item[0]), ((unit,), 1))
    index = symbols.index(unit)
    return [(Fraction(step) ** (index - other), f"{name}{per}{denominator}") for other, name in enumerate(symbols)]
