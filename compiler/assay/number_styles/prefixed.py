"""Number style `prefixed`: three significant digits, a unit prefix for each row, and changes of unrounded numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN

from assay.number_styles.cell_text import CellText, print_number
from assay.number_styles.exact_decimal import MOST_DECIMALS, format_rounded, round_decimal, to_shortest_decimal
from assay.number_styles.row import NO_VALUE, Row
from assay.util.diagnostics import fail
from assay.util.percent_change import to_percent

DIGITS = 3
CHANGE_DIGITS = 2
MOST_PERCENT = 1000
TOO_WIDE = f"over {MOST_PERCENT} %"
EXACT = "exact"
_ROUNDING_ERROR = 1e-12  # share of two averages by which they may differ without a change
_POINT = 1e-6  # share of its ends below which the width of an interval is not printed
_LEAST_PERCENT = 1e-9  # a smaller percentage is a rounding error of doubles


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A style for readers: every number has three digits, changes have their sign, and no change is printed as 0."""

    name: str = "prefixed"
    has_sample_counts: bool = True
    follows_from_print: bool = False
    has_unit_prefixes: bool = True

    def format_table_row(self, values: Sequence[float | None], width: int) -> Row:  # noqa: ARG002
        """Return the texts of values; `width` is not used, because all metrics have as many digits."""
        pairs = [(values[0], value) for value in values[1:]]
        return Row(
            tuple(format_value(value) for value in values),
            tuple(format_delta(base, value) for base, value in pairs),
            tuple(format_percent(base, value) for base, value in pairs),
        )

    def format_printed_row(self, printed_cells: Sequence[str]) -> Row:
        """Raise AssayError: printed cells do not determine a delta of this style."""
        raise fail(
            "hidden-digits",
            f"deltas of the number style `{self.name}` cannot be computed from printed cells",
            found=", ".join(printed_cells),
        )

    def can_print(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:  # noqa: ARG002
        """Return whether a printed delta has the sign of the printed values; no publication has this style."""
        if NO_VALUE in (base, value):
            return (delta, percent) == (NO_VALUE, NO_VALUE)
        return (float(value) - float(base)) * float(delta) >= 0

    def format_sample_count(self, count: int) -> str:
        """Return the number of samples."""
        return print_number(str(count))


def format_whole_row(values: Sequence[float | None]) -> Row:
    """Return the texts of counts, which are whole numbers: `9` and `1`, not `9.00` and `1.00`."""
    base, *others = values
    deltas = [None if base is None or value is None else value - base for value in others]
    return Row(
        tuple(NO_VALUE if value is None else f"{value:.0f}" for value in values),
        tuple(NO_VALUE if delta is None else format_signed(delta, 0) for delta in deltas),
        tuple(format_percent(base, value) for value in others),
    )


def format_value(value: float | None) -> str:
    """Return `126`, `12.0`, `1.19`, `0.378`, `93674`, or a dash for no value or NaN.

    The shortest decimal text is rounded, half to even.
    """
    if value is None or math.isnan(value):
        return NO_VALUE
    return print_number(_format_digits(value, _count_decimals(value, DIGITS)))


def format_delta(base: float | None, value: float | None) -> str:
    """Return value - base with its sign, and with the decimals of the finer cell, but at least two digits."""
    if base is None or value is None or math.isnan(value - base):
        return NO_VALUE
    delta = _subtract(base, value)
    finer = min(abs(number) for number in (base, value))
    return format_signed(delta, max(_count_decimals(delta, CHANGE_DIGITS), _count_decimals(finer, DIGITS)))


def format_percent(base: float | None, value: float | None) -> str:
    """Return 100 (value - base) / |base| with its sign: `+48`, `-0.093`, `-99.7`; a dash for base 0."""
    if not base or value is None or not math.isfinite(base) or math.isnan(value):
        return NO_VALUE
    return format_percent_change(to_percent(_subtract(base, value), base))


def format_signed(number: float, decimals: int) -> str:
    """Return a number with its sign and so many decimals; 0 has no sign and no decimals."""
    text = _format_digits(number, decimals)
    return print_number("0" if not number else text if text.startswith("-") else f"+{text}")


def is_too_wide(low: float, high: float) -> bool:
    """Return whether the interval of a change in percent holds 0 and more than `MOST_PERCENT`: it has no ends."""
    return low <= 0 <= high and max(-low, high) > MOST_PERCENT


def format_percent_interval(low: float, high: float, margin: float | None = None) -> str:
    """Return the interval of a change in percent; in words if it holds 0 and more than `MOST_PERCENT`, or is a point.

    Its ends may be -99 and +43931 where few events or a few long ones make up the average.
    """
    if is_too_wide(low, high):
        return TOO_WIDE
    if low == high:
        return EXACT
    low, high = (0.0 if abs(end) < _LEAST_PERCENT else end for end in (low, high))
    return format_interval(low, high, margin)


def format_interval(low: float, high: float, margin: float | None = None) -> str:
    """Return the interval of a change, as precise as it is narrow: `+11 … +51`, `-0.3 … +0.1`.

    An interval that is a point has the digits of a change, `+200 … +200`, and none that rounding errors decide.
    An end has more digits if it would otherwise be printed on another side of the margin than it is: `+1.96 … +5`, not
    `+2 … +5`, with the margin 2.
    """
    ends = format_ends(low, high, margin)
    return CellText(" … ".join(ends), (float(ends[0]), float(ends[1])))


def format_ends(low: float, high: float, margin: float | None = None) -> tuple[str, str]:
    """Return the ends of an interval, with the digits that `format_interval` prints."""
    low, high = (float(f"{end:.12g}") for end in (low, high))
    is_point = high - low <= _POINT * max(abs(low), abs(high))
    decimals = _count_decimals(high, CHANGE_DIGITS) if is_point else max(0, -_find_magnitude((high - low) / 2))
    return _format_end(low, decimals, margin), _format_end(high, decimals, margin)


def _format_end(number: float, decimals: int, margin: float | None) -> str:
    texts = [_format_digits(number, count) for count in range(decimals, max(decimals, MOST_DECIMALS) + 1)]
    sides = _find_sides(number, margin)
    text = next((item for item in texts if _find_sides(float(item), margin) == sides), texts[0])
    return f"{'+' if number > 0 else ''}{text}"


def _find_sides(number: float, margin: float | None) -> tuple[float, ...]:
    """Return whether a number is below, at or above each end of the range within the margin; empty without a margin."""
    return tuple(math.copysign(number != end, number - end) for end in (-margin, margin)) if margin else ()


def format_percent_change(percent: float) -> str:
    """Return a change in percent with its sign and at least two digits; only a change to nothing is printed as -100."""
    decimals = _count_decimals(percent, CHANGE_DIGITS)
    text = format_signed(percent, decimals)
    return format_signed(percent, _count_decimals(100 + percent, 1)) if text == "-100" else text


def format_change_within(percent: float, low: float, high: float, margin: float | None = None) -> str:
    """Return a change with so many digits that it lies within its interval as printed: `+20.5`, not `+21`.

    A change outside of the unrounded interval has as many digits as without one.
    """
    least, most = (float(end) for end in format_ends(low, high, margin))
    shortest = format_percent_change(percent)
    finer = (format_signed(percent, count) for count in range(_count_decimals(percent, CHANGE_DIGITS), MOST_DECIMALS))
    return next((text for text in (shortest, *finer) if least <= float(text) <= most), shortest)


def _subtract(base: float, value: float) -> float:
    delta = value - base
    return 0.0 if math.isfinite(delta) and abs(delta) <= _ROUNDING_ERROR * max(abs(base), abs(value)) else delta


def _count_decimals(number: float, digits: int) -> int:
    """Return the number of decimals with which a number has so many significant digits."""
    if not number or not math.isfinite(number):
        return 0
    rounded = round_decimal(to_shortest_decimal(number), max(0, digits - 1 - _find_magnitude(number)), ROUND_HALF_EVEN)
    return max(0, digits - 1 - rounded.adjusted())  # 9.996 has two decimals, but 10.0 one


def _find_magnitude(number: float) -> int:
    return to_shortest_decimal(number).adjusted()


def _format_digits(number: float, decimals: int) -> str:
    if not math.isfinite(number):
        return repr(float(number))
    text = format_rounded(number, decimals)
    return text.removeprefix("-") if not text.strip("-0.") else text
