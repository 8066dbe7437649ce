"""Format counts; parse decimal numbers of bounded size; order names by the numbers in them."""

from __future__ import annotations

import re
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction

MAGNITUDE = 36  # powers of ten; larger exponents would take too much time and memory
DIGITS = 100
EXPONENT = 4  # characters
#: numbers in names; a fraction has a unit, since 1.10 may be a version
_IN_NAMES = re.compile(r"(\d+(?:\.\d+)?(?:[kmgt]i?b?|[nuµm]?s)(?![^\W_])|\d+)", re.IGNORECASE)
_WITH_UNIT = re.compile(r"([\d.]+)(\D+)")
_FACTORS = {
    f"{letter}{ending}": Fraction(1024 if ending.startswith("i") else 1000) ** power
    for power, letter in enumerate("kmgt", start=1)
    for ending in ("", "b", "i", "ib")
} | {f"{letter}s".casefold(): Fraction(1, 1000**power) for power, letter in enumerate(("", "m", "u", "n"))}
_FACTORS["µs".casefold()] = _FACTORS["us"]
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


def split_numbers(name: str) -> tuple[tuple[int, Fraction | int, str], ...]:
    """Return a key that sorts names by the values of the numbers in them: 10.9 precedes 10.10, and 512 precedes 4k."""
    return tuple(
        (index % 2, _read_number(part) if index % 2 else 0, part) for index, part in enumerate(_IN_NAMES.split(name))
    )


def differ_in_numbers(names: Collection[str]) -> bool:
    """Return whether several names differ only in the numbers in them, with their prefixes of units."""
    return len(names) > 1 and len({tuple(_IN_NAMES.split(name)[::2]) for name in names}) == 1


def _read_number(text: str) -> Fraction | int:
    """Return the value of a number in a name, which may have a unit: `4k`, `1.5GiB`, `20ms`."""
    match = _WITH_UNIT.fullmatch(text)
    return Fraction(match[1]) * _FACTORS[match[2].casefold()] if match else int(text)
