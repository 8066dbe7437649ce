"""Number style `three-digits`: at least three digits and one decimal; deltas are functions of printed cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from assay.number_styles.deltas_of_printed_cells import PrintedDeltas
from assay.number_styles.exact_decimal import round_decimal, to_shortest_decimal
from assay.number_styles.row import NO_VALUE, Row
from assay.util.diagnostics import fail
from assay.util.percent_change import compute_percent_change

DIGITS = 3
DECIMALS = 1


@dataclass(frozen=True, slots=True)
class ThreeDigits(PrintedDeltas):
    """A style in which readers can compute every delta and percent from the printed cells alone."""

    name: str = "three-digits"
    has_sample_counts: bool = False
    has_unit_prefixes: bool = False

    def format_table_row(self, values: Sequence[float | None], width: int) -> Row:  # noqa: ARG002
        """Return the texts of values; `width` is not used, because all metrics have as many digits."""
        return self.format_printed_row([format_value(value) for value in values])

    @staticmethod
    def compute_delta(base: str, value: str) -> str:
        """Return value - base of the printed numbers, exactly."""
        return _format_unsigned_zero(Decimal(value) - Decimal(base)) if _are_numbers(base, value) else NO_VALUE

    @staticmethod
    def compute_percent(base: str, value: str) -> str:
        """Return 100 x delta / the amount of the base, of printed numbers, with one decimal; a dash for base 0.

        A value greater than its base has a positive percent, even if the base is negative.
        """
        if not _are_numbers(base, value) or Decimal(base) == 0:
            return NO_VALUE
        percent = compute_percent_change(Decimal(base), Decimal(value))
        return _format_unsigned_zero(round_decimal(percent, DECIMALS, ROUND_HALF_EVEN))

    def format_sample_count(self, count: int) -> str:
        """Raise AssayError: tables of this style have no sample counts."""
        raise fail("no-sample-counts", f"the number style `{self.name}` has no sample counts", found=str(count))


def format_value(value: float | None) -> str:
    """Return `126.1`, `12.0`, `1.19`, `0.378`, `0.0`, or a dash for no value or NaN.

    The shortest decimal text is rounded, half to even.
    """
    if value is None or math.isnan(value):
        return NO_VALUE
    if not math.isfinite(value):
        return repr(float(value))
    exact = to_shortest_decimal(value)
    rounded_once = round_decimal(exact, _count_decimals(exact), ROUND_HALF_EVEN)
    # Rounding 9.996 yields 10.00, which has one digit too many.
    return _format_unsigned_zero(round_decimal(exact, _count_decimals(rounded_once), ROUND_HALF_EVEN))


def _format_unsigned_zero(number: Decimal) -> str:
    """Return all digits of a number, without the sign if it is 0."""
    return format(number if number else abs(number), "f")


def _count_decimals(number: Decimal) -> int:
    return DECIMALS if number == 0 else max(DECIMALS, DIGITS - 1 - number.adjusted())


def _are_numbers(*cells: str) -> bool:
    return NO_VALUE not in cells and all(Decimal(cell).is_finite() for cell in cells)
