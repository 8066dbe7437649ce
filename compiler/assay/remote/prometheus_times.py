"""Parse and format instants and durations, in ns or in ms, the unit of a Prometheus server."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from assay.util.diagnostics import USAGE, fail
from assay.util.time_units import NANOSECONDS, SECOND, SPELLED_NANOSECONDS

_DURATION = re.compile(r"(?:[0-9]{1,12}(?:ms|[smhdw]))+")
_SECONDS = re.compile(r"[0-9]{1,11}(?:\.[0-9]+)?")
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)")


MILLISECOND = NANOSECONDS["millisecond"]
_DAY = NANOSECONDS["day"]
_SIZES = {
    "m": NANOSECONDS["minute"],
    "w": 7 * _DAY,
    **{name: SPELLED_NANOSECONDS[name] for name in ("ms", "s", "h", "d")},
}
#: unit of a duration -> its milliseconds
UNITS = {name: size // MILLISECOND for name, size in _SIZES.items()}


def parse_instant(text: str, option: str) -> int:
    """Parse an RFC 3339 time or Unix seconds into ms since 1970, rounded down.  Raises AssayError: it is neither."""
    return parse_nanoseconds(text, option) // MILLISECOND


def parse_nanoseconds(text: str, option: str) -> int:
    """Parse an RFC 3339 time or Unix seconds into ns since 1970.  Raises AssayError: it is neither."""
    if _SECONDS.fullmatch(text):
        return int(Decimal(text) * SECOND)
    match = _RFC3339.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        moment = datetime.fromisoformat(f"{match[1]}T{match[2]}{match[4].upper().replace('Z', '+00:00')}")
    except ValueError:
        raise fail(
            "bad-time",
            f"{option} is not a time: {text}",
            expected="RFC 3339, such as 2026-02-05T18:52:16Z, or seconds since 1970",
            status=USAGE,
        ) from None
    whole = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    return whole * SECOND + int((match[3] or "0")[:9].ljust(9, "0"))


def parse_duration(text: str, option: str) -> int:
    """Parse a duration such as 30s, 5m or 1h30m into ms.  Raises AssayError: it is invalid or zero."""
    parts = re.findall(r"([0-9]+)(ms|[smhdw])", text) if _DURATION.fullmatch(text) else []
    total = sum(int(number) * UNITS[unit] for number, unit in parts)
    if not total:
        raise fail("bad-duration", f"{option} is not a duration: {text}", expected="such as 30s, 5m, 1h30m",
                   status=USAGE)  # fmt: skip
    return total


def format_seconds(milliseconds: int) -> str:
    """Format milliseconds as decimal seconds."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"


def format_instant(milliseconds: int) -> str:
    """Format an instant as RFC 3339."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
