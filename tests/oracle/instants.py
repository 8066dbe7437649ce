"""Convert instants in log lines to integers of nanoseconds."""

from __future__ import annotations

import calendar
import functools
import re
import time

SECOND = 1_000_000_000
_FORM = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?Z", re.ASCII)


@functools.lru_cache(maxsize=4096)
def _parse_seconds(text: str) -> int:
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def parse_instant(text: str) -> int:
    """Nanoseconds since 1970 of `YYYY-MM-DDTHH:MM:SS[.f]Z`, f of 1 to 12 digits, cut to 9.

    Raises ValueError for any other text.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"not an instant: {text!r}")
    fraction = (match[2] or "")[:9].ljust(9, "0")
    return _parse_seconds(match[1]) * SECOND + int(fraction)


def format_instant(instant: int, pattern: str) -> str:
    """Return the UTC calendar text of an instant, cut to its second; `pattern` is for strftime."""
    return time.strftime(pattern, time.gmtime(instant // SECOND))
