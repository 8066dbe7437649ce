"""Format the cells of the table of run parameters: texts, numbers, spreads of instants, dates, times."""

from __future__ import annotations

from datetime import UTC, datetime

from assay.lang.model.report import Cell
from assay.number_styles.cell_text import print_number
from assay.number_styles.exact_decimal import (
    cut_text,
    drop_leading_zero,
    format_decimal,
    format_exact,
    format_six_digits,
)
from assay.number_styles.prefixed import Prefixed
from assay.number_styles.row import NO_VALUE
from assay.util.diagnostics import INTERNAL, fail, suggest_names
from assay.util.escape import shorten

NANOSECOND_DIGITS = 9
NANOSECONDS = 10**NANOSECOND_DIGITS
KINDS = ("date", "integer", "real", "spread", "text", "time", "unsuffixed")


def format_manifest_cell(value: str | float | None, cell: Cell) -> str:
    """Return the text of a cell; a cut of 0 means no cut.

    Instants are in nanoseconds since 1970, spreads in nanoseconds.  An absent or empty text becomes the cell's `empty`,
    any other absent value a dash.
    """
    if cell.kind in ("text", "unsuffixed"):
        text = "" if value is None else str(value)
        return format_text_cell(text if cell.kind == "text" else drop_ending_s(text), cell.cut, cell.empty)
    if value is None:
        return NO_VALUE
    return _format_number(float(value) if cell.kind == "real" else int(value), cell)


def format_styled_cell(value: str | float | None, cell: Cell, style: str) -> str:
    """Return the text of a cell in a number style: of published reports as they cut numbers, else rounded.

    The style with prefixes prints `18764`, `18874.7` and `0.0008742`, where published reports print `18764.0`,
    `18874.666666` and `.00087420`: six digits, so that runs which differ also differ in print.
    """
    if style != Prefixed().name or cell.kind not in ("real", "spread") or value is None or isinstance(value, str):
        return format_manifest_cell(value, cell)
    number = value / NANOSECONDS if cell.kind == "spread" else value
    return print_number(str(int(number)) if float(number).is_integer() else format_six_digits(number))


def format_text_cell(text: str, width: int, empty: str = "") -> str:
    """Return a name or version cut to the width, or shortened if that is 0; `empty`, uncut, for no text."""
    return _cut_to_width(text if width else shorten(text), width) if text else empty


def drop_ending_s(text: str) -> str:
    """Remove the letters `s` at the end of a text: `nodes` becomes `node`, `address` becomes `addre`.

    A compatibility choice (cells of kind `unsuffixed`): texts used to be printed as durations, which lost their unit.
    """
    return text.rstrip("s")


def format_real_cell(number: float, width: int) -> str:
    """Return the decimal text of a real number, cut: `18764.0`, `15.650`.

    Compatibility choice: digits are cut, not rounded, and a number longer than the width loses its end.
    """
    return _cut_to_width(format_decimal(number), width)


def format_spread_cell(nanoseconds: int, width: int) -> str:
    """Return a difference of instants in seconds, without trailing and leading zeros, cut: `.00087420`."""
    return _cut_to_width(drop_leading_zero(format_exact(nanoseconds, NANOSECOND_DIGITS)), width)


def format_integer_cell(number: int) -> str:
    """Return an integer, never cut."""
    return str(number)


def format_date_cell(nanoseconds: int) -> str:
    """Return the day of an instant, UTC: `2026-02-05`."""
    return _to_datetime(nanoseconds).strftime("%Y-%m-%d")


def format_time_cell(nanoseconds: int) -> str:
    """Return the time of day of an instant, UTC, without the fraction of a second: `18:52:16`."""
    return _to_datetime(nanoseconds).strftime("%H:%M:%S")


def _format_number(value: float, cell: Cell) -> str:
    match cell.kind:
        case "real":
            return print_number(format_real_cell(value, cell.cut))
        case "spread":
            return print_number(format_spread_cell(int(value), cell.cut))
        case "integer":
            return print_number(format_integer_cell(int(value)))
        case "date":
            return format_date_cell(int(value))
        case "time":
            return format_time_cell(int(value))
    # The type of the spec allows any text, but the checks of specs refuse unknown kinds.
    raise fail(
        "unknown-cell-kind",
        f"no cell of the manifest has the kind `{cell.kind}`",
        hint=suggest_names(cell.kind, KINDS),
        status=INTERNAL,
    )


def _cut_to_width(text: str, width: int) -> str:
    return cut_text(text, width) if width else text


def _to_datetime(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // NANOSECONDS, tz=UTC)
