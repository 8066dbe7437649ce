"""Number style `typst-2026`: everything from unrounded numbers, with decimals that follow the magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.styles.printed_bounds import DELTA_DECIMALS, possible
from assay.styles.row import NO_VALUE, Row
from assay.styles.typst_number import SMALL, UNDEFINED, number_text
from assay.util.diagnostics import fail


@dataclass(frozen=True, slots=True)
class Typst2026:
    """Deltas and percents come from digits that are not printed; printed cells only bound them."""

    name: str = "typst-2026"
    has_sample_counts: bool = False
    follows_from_print: bool = False

    def table_row(self, values: Sequence[float | None], width: int) -> Row:
        """One decimal more than the field is wide, as far as the magnitude lets them print."""
        pairs = [(values[0], value) for value in values[1:]]
        return Row(
            tuple(value_text(value, width) for value in values),
            tuple(delta_text(base, value) for base, value in pairs),
            tuple(percent_text(base, value) for base, value in pairs),
        )

    def printed_row(self, printed: Sequence[str]) -> Row:
        """Always an error: a delta of this style is not determined by the printed cells."""
        raise fail(
            "hidden-digits",
            f"deltas of the number style `{self.name}` cannot be computed from printed cells",
            found=", ".join(printed),
            hint="give the unrounded values, or check printed deltas with `allows`",
        )

    def allows(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:
        """Whether some pair of unrounded values prints these four texts."""
        if NO_VALUE in (base, value):
            return (delta, percent) == (NO_VALUE, NO_VALUE)
        if UNDEFINED in (base, value):
            return (delta, percent) == (UNDEFINED, UNDEFINED)
        return possible(base, value, delta, percent, width)

    def sample_count(self, count: int) -> str:
        """Always an error: tables of this style have no sample counts."""
        raise fail("no-sample-counts", f"the number style `{self.name}` has no sample counts", found=str(count))


def value_text(value: float | None, width: int) -> str:
    """A metric's value; decimals up to `width` + 1."""
    return NO_VALUE if value is None else number_text(value, width + 1)


def delta_text(base: float | None, value: float | None) -> str:
    """value - base with 3 decimals; under 0.0001 only the sign is left: `0.000`, `-0.000`."""
    if base is None or value is None:
        return NO_VALUE
    delta = value - base
    if abs(delta) < SMALL:
        return "-0.000" if delta < 0 else "0.000"
    return number_text(delta, DELTA_DECIMALS)


def percent_text(base: float | None, value: float | None) -> str:
    """100 (value - base) / base: one decimal under 1, else none; `0` if the delta is small; base 0: `NaN`."""
    if base is None or value is None:
        return NO_VALUE
    if base == 0:
        return UNDEFINED
    delta = value - base
    if abs(delta) < SMALL:
        return "0"
    percent = 100 * delta / base
    return number_text(percent, 1 if abs(percent) < 1 else 0)
