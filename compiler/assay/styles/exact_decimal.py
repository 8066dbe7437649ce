"""Decimal text of numbers, and the two ways in which printed tables shorten it."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

MOST_DECIMALS = 12
"""Of a number that is printed with more decimals than others, so that it is on its side of a limit."""

_SEVEN_DIGITS = 999_999.5  # from here on a number has seven digits before its point


def shortest_decimal(number: float) -> Decimal:
    """The decimal number of fewest digits that reads back as `number`.

    Rounding starts from it, not from the binary value: 0.15 to one decimal is a tie.
    """
    return Decimal(repr(float(number)))


def decimal_value(number: float) -> Fraction:
    """What the shortest decimal text of a finite number says, exactly; of an integer itself."""
    return Fraction(number) if isinstance(number, int) else Fraction(shortest_decimal(number))


def decimal_text(number: float) -> str:
    """The shortest digits that give the double back, without exponent and always with a point: `18764.0`.

    Not-a-number and the infinities, which have no digits, are `nan`, `inf`, `-inf`.
    """
    if not math.isfinite(number):
        return repr(float(number))
    text = format(shortest_decimal(number), "f")
    return text if "." in text else text + ".0"


def exact_text(count: int, digits: int) -> str:
    """`count` / 10**`digits`, exactly; no trailing zeros, and no point when the quotient is whole.

    A count of nanoseconds as seconds: `exact_text(874_200, 9)` is `0.0008742`.
    """
    sign = "-" if count < 0 else ""
    whole, part = divmod(abs(count), 10**digits)
    fraction = f"{part:0{digits}d}".rstrip("0") if part else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def whole_text(number: Fraction) -> str:
    """All digits of an exact number that has an end in decimals, such as a product of decimal texts."""
    digits = 0
    while 10**digits % number.denominator:
        digits += 1
    return exact_text(int(number * 10**digits), digits)


def six_digits(number: float) -> str:
    """A number as people read it beside others: six digits, and all of those before the point, however many."""
    return f"{number:.0f}" if math.isfinite(number) and abs(number) >= _SEVEN_DIGITS else f"{number:.6g}"


def rounded_text(number: float, decimals: int) -> str:
    """`number` with so many decimals (0: no point), rounded half to even on its decimal text; no exponent."""
    return format(quantized(shortest_decimal(number), decimals, ROUND_HALF_EVEN), "f")


def percent_change(old: Fraction, new: Fraction) -> Fraction:
    """The change to `new` in percent of the amount of `old`, which is not 0: above 0 where `new` is greater."""
    return 100 * (new - old) / abs(old)


def rounded_fraction(number: Fraction, decimals: int) -> str:
    """An exact number with so many decimals (0: no point), rounded half to even; what vanishes keeps its sign."""
    whole, part = divmod(round(abs(number) * 10**decimals), 10**decimals)
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{part:0{decimals}d}" if decimals else f"{sign}{whole}"


def on_its_side(number: Fraction, decimals: int, agrees: Callable[[Fraction], bool]) -> str:
    """`number` with so many decimals, or as many more as it takes (up to MOST_DECIMALS) until what is printed agrees.

    So a number that is rounded to a limit, and is above it, is seen to be above it.
    """
    texts = [rounded_fraction(number, more) for more in range(decimals, MOST_DECIMALS + 1)]
    return next((text for text in texts if agrees(Fraction(text))), texts[-1])


def quantized(number: Decimal, decimals: int, rounding: str) -> Decimal:
    """`number` rounded to so many decimals, however many digits the result has."""
    # A double has up to 309 digits before the point; the default context would refuse more than 28 in all.
    digits = Context(prec=max(number.adjusted(), 0) + decimals + 2)
    return number.quantize(Decimal(1).scaleb(-decimals), rounding=rounding, context=digits)


def cut(text: str, width: int) -> str:
    """The first `width` characters: digits fall off unrounded, and a number above the width loses its end."""
    return text[:width]


def without_leading_zero(text: str) -> str:
    """`0.` at the start becomes `.`, which gains a digit under `cut`; a negative number keeps its zero."""
    return text[1:] if text.startswith("0.") else text
