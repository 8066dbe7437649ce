"""Write numbers as section 8 defines: decimal text, cutting, manifest cells."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tests.oracle.instants import SECOND

PICOSECOND_DIGITS = 12


def format_decimal(x: float) -> str:
    """Return the shortest digits that read back as the double, without exponent, with a point."""
    if not math.isfinite(x):
        return "NaN" if math.isnan(x) else ("Infinity" if x > 0 else "-Infinity")
    text = f"{Decimal(repr(float(x))):f}"
    return text if "." in text else text + ".0"


def format_exactly(units: int, digits: int) -> str:
    """Return an integer of 10^-digits exactly, without trailing zeros or a trailing point."""
    whole, fraction = divmod(abs(units), 10**digits)
    tail = f"{fraction:0{digits}d}".rstrip("0")
    return ("-" if units < 0 else "") + str(whole) + (f".{tail}" if tail else "")


def shorten_text(text: str, width: int) -> str:
    """Replace a leading `0.` by `.` and cut to a width."""
    return (text[1:] if text.startswith("0.") else text)[:width]


def format_integer(x: int, width: int) -> str:
    """Return an integer; a longer one is its first width - 1 characters and `>`."""
    text = str(x)
    return text if len(text) <= width else text[: width - 1] + ">"


_REAL_CELLS = {
    "TPS": 7,
    "Log objects emitted per host": 12,
    "Log objects analysed per host": 12,
    "Host run time, s": 7,
    "Host log line rate, Hz": 6,
    "Run time efficiency": 4,
}
_SPREAD_CELLS = {"Node start spread, s": 9, "Node stop spread, s": 9}


def _format_text_cell(label: str, text: str) -> str:
    width = 12 if label.endswith(" version") and label != "GHC version" else 7 if label.endswith(" git") else 32
    return text.rstrip("s")[:width]


def format_manifest_cells(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of the manifest table by cell label."""

    def format_cell(label: str, value: Any) -> str:
        if label in _REAL_CELLS:
            return format_decimal(value)[: _REAL_CELLS[label]]
        if label in _SPREAD_CELLS:
            return shorten_text(format_exactly(value, len(str(SECOND)) - 1), _SPREAD_CELLS[label])
        return str(value) if isinstance(value, int) else _format_text_cell(label, value)

    return {label: format_cell(label, value) for label, value in manifest.items()}
