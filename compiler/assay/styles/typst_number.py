"""How the style `typst-2026` writes one number."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN

from assay.styles.exact_decimal import quantized, rounded_text, shortest_decimal

TINY = 0.00001
"""Below, a number has no digits left: only its sign is printed."""

SMALL = 0.0001
"""Below, a number is printed with an exponent."""

UNDEFINED = "NaN"

# From the greatest: at least this great, so many decimals.
_LONG_DECIMALS = ((10000.0, 0), (1000.0, 1), (100.0, 2), (10.0, 3))


def number_text(number: float, decimals: int) -> str:
    """`number` with at most so many decimals, rounded half to even on its decimal text.

    Above 3 decimals trailing zeros go and the point stays (`6660.`, `0.001`); under 0.0001 `3.0e-5`; under
    0.00001 `0.0`, with its sign. Not-a-number is `NaN`, infinities are `inf` and `-inf`.
    """
    if not math.isfinite(number):
        return UNDEFINED if math.isnan(number) else str(float(number))
    if abs(number) < TINY:
        return _vanished(number, decimals)
    if abs(number) < SMALL:
        return _with_exponent(number)
    text = rounded_text(number, kept_decimals(number, decimals))
    return text.rstrip("0") if decimals > 3 and "." in text else text


def kept_decimals(number: float, decimals: int) -> int:
    """The decimals that are printed of a number that is not small: a wide field has 5 digits in all."""
    if decimals <= 5:
        return decimals
    return next((kept for least, kept in _LONG_DECIMALS if abs(number) >= least), 4)


def _vanished(number: float, decimals: int) -> str:
    sign = "-" if number < 0 else ""
    return f"{sign}0.0" if decimals > 3 else f"{sign}{0:.{decimals}f}"


def _with_exponent(number: float) -> str:
    # The mantissa may round up to the next power: 9.97e-05 is 1.0e-4.
    exact = shortest_decimal(number)
    rounded = quantized(exact, 1 - exact.adjusted(), ROUND_HALF_EVEN)
    power = rounded.adjusted()
    return f"{rounded.scaleb(-power):.1f}e{power}"
