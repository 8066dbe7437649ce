"""Number style `three-digits`: three digits and one decimal at least, deltas that follow from what is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from assay.styles.exact_decimal import quantized, shortest_decimal
from assay.styles.printed_deltas import PrintedDeltas
from assay.styles.row import NO_VALUE, Row
from assay.util.diagnostics import fail

DIGITS = 3
DECIMALS = 1


@dataclass(frozen=True, slots=True)
class ThreeDigits(PrintedDeltas):
    """A reader with the printed cells alone can work out every delta and percent."""

    name: str = "three-digits"
    has_sample_counts: bool = False

    def table_row(self, values: Sequence[float | None], width: int) -> Row:  # noqa: ARG002
        """Values of any metric have as many digits in this style: `width` is not used."""
        return self.printed_row([value_text(value) for value in values])

    @staticmethod
    def delta(base: str, value: str) -> str:
        """See `printed_delta`."""
        return printed_delta(base, value)

    @staticmethod
    def percent(base: str, value: str) -> str:
        """See `printed_percent`."""
        return printed_percent(base, value)

    def sample_count(self, count: int) -> str:
        """Always an error: tables of this style have no sample counts."""
        raise fail("no-sample-counts", f"the number style `{self.name}` has no sample counts", found=str(count))


def value_text(value: float | None) -> str:
    """`126.1`, `12.0`, `1.19`, `0.378`, `0.0`: rounded half to even on the shortest decimal text of the number."""
    if value is None:
        return NO_VALUE
    if not math.isfinite(value):
        return repr(float(value))
    exact = shortest_decimal(value)
    once = quantized(exact, _decimals(exact), ROUND_HALF_EVEN)
    # 9.996 has become 10.00, which has a digit too many.
    return format(quantized(exact, _decimals(once), ROUND_HALF_EVEN), "f")


def _decimals(number: Decimal) -> int:
    return DECIMALS if number == 0 else max(DECIMALS, DIGITS - 1 - number.adjusted())


def printed_delta(base: str, value: str) -> str:
    """value - base of the printed numbers, exact."""
    return format(Decimal(value) - Decimal(base), "f") if _numbers(base, value) else NO_VALUE


def printed_percent(base: str, value: str) -> str:
    """100 x delta / the base's amount, of the printed numbers, with one decimal; base 0: none.

    So what is greater than its base has a percent above 0, also where that is negative.
    """
    if not _numbers(base, value) or Decimal(base) == 0:
        return NO_VALUE
    percent = 100 * (Decimal(value) - Decimal(base)) / abs(Decimal(base))
    return format(quantized(percent, DECIMALS, ROUND_HALF_EVEN), "f")


def _numbers(*cells: str) -> bool:
    return NO_VALUE not in cells and all(Decimal(cell).is_finite() for cell in cells)
