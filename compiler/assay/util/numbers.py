"""Format counts; parse decimal numbers of bounded size; order names by the numbers in them."""

from __future__ import annotations

import re
from decimal import Decimal

MAGNITUDE = 36  # powers of ten; larger exponents would take too much time and memory
DIGITS = 100
EXPONENT = 4  # characters
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?")


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return a count of things: `1 file`, `2 files`; `plural` is an irregular plural."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def format_range(low: int, high: int) -> str:
    """Return a range of counts: `2–3`; one number if both are equal."""
    return str(low) if low == high else f"{low}–{high}"


def parse_decimal(text: str) -> Decimal | None:
    """Return the exact number that a text writes.

    None for any other text, and for a number with a digit above 10^36 or below 10^-36.
    """
    match = NUMBER.fullmatch(text)
    if not match or len(text) > DIGITS or len(match["exponent"] or "") > EXPONENT:
        return None
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    is_bounded = number.adjusted() <= MAGNITUDE and isinstance(exponent, int) and exponent >= -MAGNITUDE
    return number if is_bounded or not number else None


def split_numbers(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names by the values of the numbers in them: 10.9 precedes 10.10."""
    parts = re.split(r"(\d+)", name)
    return tuple((int(part.isdecimal()), int(part) if part.isdecimal() else 0, part) for part in parts)
