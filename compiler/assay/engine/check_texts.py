"""Texts of checks: `{column}` stands for what the row that was found has in a column, and for nothing else.

`{column:g}` is a real number with six digits, `{column:t}` an instant in ns since 1970 as a time.  NULL is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.lang.time_format import format_instant

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)(?::([gt]))?\}")


def places_of(text: str) -> tuple[str, ...]:
    """The columns that a text names, in order."""
    return tuple(found[1] for found in _PLACE.finditer(text))


def filled(text: str, row: Mapping[str, object]) -> str:
    """The text with values in their places; a place that names no column stays."""
    return _PLACE.sub(lambda found: _value(row[found[1]], found[2]) if found[1] in row else found[0], text)


def _value(value: object, form: str | None) -> str:
    if value is None:
        return "unknown"
    if form == "t" and isinstance(value, int):
        return format_instant(value)
    return f"{value:g}" if form == "g" and isinstance(value, (int, float)) else str(value)
