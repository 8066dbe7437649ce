"""How records write numbers and durations, as patterns that Python and the engine take alike."""

from __future__ import annotations

import re

DURATION = "duration"  # a transform
BLANKS = " \t\n\v\f\r"
BLANK = r"[ \t\n\v\f\r]*"  # what may stand around a number
INTEGER = rf"{BLANK}[-+]?[0-9]+{BLANK}"
#: sign, digits before and behind the point (one at least), exponent
DECIMAL = rf"{BLANK}([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]+))?{BLANK}"
#: a number with a point or an exponent may be an integer below 10^15: so far a double holds every one, which numbers
#: of JSON have come through
DIGITS = 15
#: hours, minutes and seconds, or one part below a second; no more digits than whole nanoseconds have
DURATIONS = (
    r"^([-+]?)(?:(?:([0-9]{1,7})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,10}(?:\.[0-9]{1,9})?)s)?"
    r"|([0-9]{1,13}(?:\.[0-9]{1,6})?)ms|([0-9]{1,16}(?:\.[0-9]{1,3})?)(?:µs|μs|us)|([0-9]{1,19})ns|0)$"
)
DIGIT = "[0-9]"
A_DURATION = "a duration, such as 1m2.5s or 448.05ms"


def is_duration(text: str) -> bool:
    """Whether a text is a duration."""
    return bool(re.match(DURATIONS, text) and re.search(DIGIT, text))
