"""Cells of the table of run parameters: texts, real and whole numbers, spreads of instants, dates, times."""

from __future__ import annotations

from datetime import UTC, datetime

from assay.lang.model.report import Cell
from assay.styles.exact_decimal import cut, decimal_text, exact_text, without_leading_zero
from assay.styles.row import NO_VALUE
from assay.util.diagnostics import INTERNAL, did_you_mean, fail
from assay.util.escape import shorten

NANOSECOND_DIGITS = 9
NANOSECONDS = 10**NANOSECOND_DIGITS
KINDS = ("date", "integer", "real", "spread", "text", "time", "unsuffixed")


def manifest_cell(value: str | float | None, cell: Cell) -> str:
    """Instants are in nanoseconds since 1970, spreads in nanoseconds; a cut of 0 keeps all.

    An absent or empty text is the cell's `empty`; any other absent value is a dash.
    """
    if cell.kind in ("text", "unsuffixed"):
        text = "" if value is None else str(value)
        return text_cell(text if cell.kind == "text" else without_ending_s(text), cell.cut, cell.empty)
    if value is None:
        return NO_VALUE
    return _number_cell(float(value) if cell.kind == "real" else int(value), cell)


def text_cell(text: str, width: int, empty: str = "") -> str:
    """A name or version, cut to the width, without one shortened; `empty`, whole, when there is none."""
    return _fitted(text if width else shorten(text), width) if text else empty


def without_ending_s(text: str) -> str:
    """The text without the letters `s` at its end: `nodes` becomes `node`, `address` `addre`.

    A compatibility choice (cells of kind `unsuffixed`): texts once were printed as durations, which lost their unit.
    """
    return text.rstrip("s")


def real_cell(number: float, width: int) -> str:
    """A real number's decimal text, cut: `18764.0`, `15.650`.

    Compatibility choice: digits are cut, not rounded, and a number longer than the width loses its end.
    """
    return _fitted(decimal_text(number), width)


def spread_cell(nanoseconds: int, width: int) -> str:
    """An exact difference of two instants in seconds, no trailing or leading zero, cut: `.00087420`."""
    return _fitted(without_leading_zero(exact_text(nanoseconds, NANOSECOND_DIGITS)), width)


def integer_cell(number: int) -> str:
    """A whole number, whole."""
    return str(number)


def date_cell(nanoseconds: int) -> str:
    """The day of an instant, UTC: `2026-02-05`."""
    return _moment(nanoseconds).strftime("%Y-%m-%d")


def time_cell(nanoseconds: int) -> str:
    """The time of day of an instant, UTC, its fraction of a second dropped: `18:52:16`."""
    return _moment(nanoseconds).strftime("%H:%M:%S")


def _number_cell(value: float, cell: Cell) -> str:
    match cell.kind:
        case "real":
            return real_cell(value, cell.cut)
        case "spread":
            return spread_cell(int(value), cell.cut)
        case "integer":
            return integer_cell(int(value))
        case "date":
            return date_cell(int(value))
        case "time":
            return time_cell(int(value))
    # The types of the spec admit any text here; the front end refuses kinds that are not listed.
    raise fail(
        "unknown-cell-kind",
        f"no cell of the manifest has the kind `{cell.kind}`",
        hint=did_you_mean(cell.kind, KINDS),
        status=INTERNAL,
    )


def _fitted(text: str, width: int) -> str:
    return cut(text, width) if width else text


def _moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // NANOSECONDS, tz=UTC)
