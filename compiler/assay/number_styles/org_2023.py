"""Number style `org-2023`: cut cells, and deltas that are computed from printed cells, as a spreadsheet does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from assay.number_styles.cell_text import CellText
from assay.number_styles.deltas_of_printed_cells import PrintedDeltas
from assay.number_styles.exact_decimal import cut_text, drop_leading_zero, format_decimal, round_decimal
from assay.number_styles.row import NO_VALUE, Row

CELL_WIDTH = 6
DELTA_DECIMALS = 3
UNDEFINED = "nan"


@dataclass(frozen=True, slots=True)
class Org2023(PrintedDeltas):
    """A style whose deltas and percents are functions of printed cells, so old reports can be recomputed."""

    name: str = "org-2023"
    has_sample_counts: bool = True
    has_unit_prefixes: bool = False

    def format_table_row(self, values: Sequence[float | None], width: int) -> Row:  # noqa: ARG002
        """Return the texts of values; `width` is not used, because all metrics have the same width."""
        return self.format_printed_row([format_report_cell(value) for value in values])

    @staticmethod
    def compute_delta(base: str, value: str) -> str:
        """Return value - base of printed numbers with 3 decimals, half away from zero: `0.000`, tiny `-0.000`.

        Compatibility choice of the style: an integer without decimals when both cells are integers.
        """
        if NO_VALUE in (base, value):
            return NO_VALUE
        if not _are_finite(base, value):
            return UNDEFINED
        decimals = 0 if _is_integer(base) and _is_integer(value) else DELTA_DECIMALS
        return format(_subtract(base, value, decimals), "f")

    @staticmethod
    def compute_percent(base: str, value: str) -> str:
        """Return 100 x the printed delta / the printed base as an integer, half away from zero, never `-0`.

        It is `nan` for a base of 0.  Compatibility choice of the style: the delta loses its digits below 0.001 before
        it is divided.
        """
        if NO_VALUE in (base, value):
            return NO_VALUE
        delta = Org2023.compute_delta(base, value)
        if delta == UNDEFINED or Decimal(base) == 0:
            return UNDEFINED
        return str(int(round_decimal(100 * Decimal(delta) / Decimal(base), 0, ROUND_HALF_UP)))

    def format_sample_count(self, count: int) -> str:
        """Return the count in parentheses: `(52)`, `(291>)`."""
        text = format_short_count(count)
        return CellText(f"({text})", int(text.removesuffix(">")))


def format_run_cell(number: float) -> str:
    """Return a cell of a run's own table: decimal text without leading zero, cut to 6 characters (`.00050`).

    Compatibility choice of the style: digits are cut, not rounded, and a number above 999999 loses its end.
    """
    return cut_text(drop_leading_zero(format_decimal(number)), CELL_WIDTH)


def format_report_cell(number: float | None) -> str:
    """Return a cell of the comparison: the cell of the run's own table, read as a number and printed again."""
    return NO_VALUE if number is None else reformat_cell(format_run_cell(number))


def reformat_cell(cell: str) -> str:
    """Return a cell as a spreadsheet shows the number that it reads: `.00005` as `5e-05`, `93674.` as `93674`.

    Compatibility choice of the style: a cell whose cut left no digit after the point becomes an integer.
    """
    if "." not in cell or cell.endswith("."):
        return cell.removesuffix(".")
    return repr(float(cell))


def format_short_count(count: int) -> str:
    """Return a count of up to 4 digits, else its first 3 digits and `>`: a compatibility choice of the style."""
    text = str(count)
    return text if len(text) <= 4 else text[:3] + ">"


def _subtract(base: str, value: str, decimals: int) -> Decimal:
    # Adding 0 removes the sign of a zero difference: `0.0` less `-0.0`. A difference that rounds to zero keeps it.
    exact = Decimal(value) - Decimal(base) + 0
    return round_decimal(exact, decimals, ROUND_HALF_UP)


def _is_integer(cell: str) -> bool:
    return not set(cell) & {".", "e"}


def _are_finite(*cells: str) -> bool:
    return all(Decimal(cell).is_finite() for cell in cells)
