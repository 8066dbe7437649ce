"""Numbers as people write them: of things, and of a size that can be meant."""

from __future__ import annotations

import re
from decimal import Decimal

MAGNITUDE = 36  # powers of ten; what is beyond takes more time and memory to work with the larger it is
DIGITS = 100
EXPONENT = 4  # characters
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?")


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things: `1 file`, `2 files`; `more` where the plural has another end than `s`."""
    return f"{number} {one if number == 1 else more or f'{one}s'}"


def decimal(text: str) -> Decimal | None:
    """The finite number that a text is, exactly; None for no number, and for one with a digit beyond ten to the power
    of 36, up or down."""
    match = NUMBER.fullmatch(text)
    if not match or len(text) > DIGITS or len(match["exponent"] or "") > EXPONENT:
        return None
    found = Decimal(text)
    last = found.as_tuple().exponent
    within = found.adjusted() <= MAGNITUDE and isinstance(last, int) and last >= -MAGNITUDE
    return found if within or not found else None
