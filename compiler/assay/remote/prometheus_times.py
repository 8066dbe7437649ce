"""Instants and durations as people write them: in ns, or in milliseconds, which a Prometheus server counts in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from assay.util.diagnostics import USAGE, fail

UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_DURATION = re.compile(r"(?:[0-9]{1,12}(?:ms|[smhdw]))+")
_SECONDS = re.compile(r"[0-9]{1,11}(?:\.[0-9]+)?")
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)")


MILLISECOND = 1_000_000  # ns


def instant(text: str, option: str) -> int:
    """An RFC 3339 time or Unix seconds, in ms since 1970; what is finer is cut.  AssayError when it is neither."""
    return nanoseconds(text, option) // MILLISECOND


def nanoseconds(text: str, option: str) -> int:
    """The same in ns since 1970."""
    if _SECONDS.fullmatch(text):
        return int(Decimal(text) * 1_000_000_000)
    found = _RFC3339.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{found[4].upper().replace('Z', '+00:00')}")
    except ValueError:
        raise fail(
            "bad-time",
            f"{option} is no time: {text}",
            expected="RFC 3339, such as 2026-02-05T18:52:16Z, or seconds since 1970",
            status=USAGE,
        ) from None
    whole = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    return whole * 1_000_000_000 + int((found[3] or "0")[:9].ljust(9, "0"))


def duration(text: str, option: str) -> int:
    """A duration such as 30s, 5m or 1h30m, in ms.  AssayError when it is none, or nothing at all."""
    parts = re.findall(r"([0-9]+)(ms|[smhdw])", text) if _DURATION.fullmatch(text) else []
    found = sum(int(number) * UNITS[unit] for number, unit in parts)
    if not found:
        raise fail("bad-duration", f"{option} is no duration: {text}", expected="such as 30s, 5m, 1h30m",
                   status=USAGE)  # fmt: skip
    return found


def seconds(milliseconds: int) -> str:
    """Milliseconds as a decimal text of seconds."""
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"


def format_instant(milliseconds: int) -> str:
    """An instant as RFC 3339."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
