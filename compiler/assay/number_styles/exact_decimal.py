"""Format numbers as exact decimal text, and shorten it in the two ways of printed tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

MOST_DECIMALS = 12
"""Most decimals of a number that gets more decimals than others, to be printed on the correct side of a limit."""

_SEVEN_DIGITS = 999_999.5  # from here on, a rounded number has seven digits before the point


def to_shortest_decimal(number: float) -> Decimal:
    """Return the decimal number with the fewest digits that reads back as `number`.

    Rounding starts from it, not from the binary value: 0.15 to one decimal is a tie.
    """
    return Decimal(repr(float(number)))


def to_fraction(number: float) -> Fraction:
    """Return the exact value of the shortest decimal text of a finite number, or an integer itself."""
    return Fraction(number) if isinstance(number, int) else Fraction(to_shortest_decimal(number))


def format_decimal(number: float) -> str:
    """Return the shortest digits that read back as the double, without exponent, always with a point: `18764.0`.

    Without digits: `nan`, `inf` and `-inf`.
    """
    if not math.isfinite(number):
        return repr(float(number))
    text = format(to_shortest_decimal(number), "f")
    return text if "." in text else text + ".0"


def format_exact(count: int, digits: int) -> str:
    """Return `count` / 10**`digits` exactly, without trailing zeros, and without a point if it is an integer.

    A count of nanoseconds as seconds: `format_exact(874_200, 9)` is `0.0008742`.
    """
    sign = "-" if count < 0 else ""
    whole, part = divmod(abs(count), 10**digits)
    fraction = f"{part:0{digits}d}".rstrip("0") if part else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def format_all_digits(number: Fraction) -> str:
    """Return all digits of an exact number with finitely many decimals, such as a product of decimal texts."""
    digits = 0
    while 10**digits % number.denominator:
        digits += 1
    return format_exact(int(number * 10**digits), digits)


def format_six_digits(number: float) -> str:
    """Return a number with six digits, but with all of its digits before the point, however many."""
    return f"{number:.0f}" if math.isfinite(number) and abs(number) >= _SEVEN_DIGITS else f"{number:.6g}"


def format_rounded(number: float, decimals: int) -> str:
    """Return `number` with `decimals` (0: no point), rounded half to even on its decimal text; no exponent."""
    return format(round_decimal(to_shortest_decimal(number), decimals, ROUND_HALF_EVEN), "f")


def format_rounded_fraction(number: Fraction, decimals: int) -> str:
    """Return an exact number with `decimals` (0: no point), rounded half to even; a rounded 0 keeps its sign."""
    whole, part = divmod(round(abs(number) * 10**decimals), 10**decimals)
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{part:0{decimals}d}" if decimals else f"{sign}{whole}"


def format_on_same_side(number: Fraction, decimals: int, is_same_side: Callable[[Fraction], bool]) -> str:
    """Return `number` with `decimals`, or with more (up to MOST_DECIMALS) until the printed number `is_same_side`.

    So a number just above a limit is not printed as the limit.
    """
    texts = [
        format_rounded_fraction(number, printed_decimals) for printed_decimals in range(decimals, MOST_DECIMALS + 1)
    ]
    return next((text for text in texts if is_same_side(Fraction(text))), texts[-1])


def round_decimal(number: Decimal, decimals: int, rounding: str) -> Decimal:
    """Return `number` rounded to `decimals`, however many digits the result has."""
    # A double has up to 309 digits before the point; the default context refuses more than 28 digits.
    digits = Context(prec=max(number.adjusted(), 0) + decimals + 2)
    return number.quantize(Decimal(1).scaleb(-decimals), rounding=rounding, context=digits)


def cut_text(text: str, width: int) -> str:
    """Return the first `width` characters: digits are dropped without rounding, and a long number loses its end."""
    return text[:width]


def drop_leading_zero(text: str) -> str:
    """Replace `0.` at the start by `.`, so that `cut_text` keeps one more digit; negative numbers keep their zero."""
    return text[1:] if text.startswith("0.") else text
