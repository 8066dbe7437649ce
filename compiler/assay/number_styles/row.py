"""The input and output of number styles: results of runs, and one printed row of a comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from assay.engine.results import Centile, Distribution, FilterCount, FormulaResult, RunResults
from assay.number_styles.cell_text import print_number
from assay.util.percent_change import compute_percent_change

__all__ = ["Centile", "Distribution", "FilterCount", "FormulaResult", "RunResults"]


NO_VALUE = "—"
ROUGH = Decimal("0.01")  # share that a number of 1 or more may lose by rounding and cutting after the point
#: tolerance of a printed percent: percentage points, or a share of the exact percent
POINTS, SHARE = 1.0, 0.1


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of one metric: a cell for each run, the base first; a delta and a percent for each run after it.

    Each text has the number that it prints.
    """

    cells: tuple[str, ...]
    deltas: tuple[str, ...]
    percents: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("cells", "deltas", "percents"):
            object.__setattr__(self, name, tuple(map(print_number, getattr(self, name))))
        further_runs = max(len(self.cells) - 1, 0)
        if (len(self.deltas), len(self.percents)) != (further_runs, further_runs):
            raise ValueError(f"{further_runs} deltas and percents belong to {len(self.cells)} cells")


def has_right_magnitude(cell: str, value: float | None) -> bool:
    """Return whether a cell has the magnitude of its value; not if digits before the point were cut."""
    if cell == NO_VALUE or value is None or not math.isfinite(value):
        return True
    error = abs(Decimal(cell) - Decimal(value))
    return error < 1 or error < ROUGH * abs(Decimal(value))


def is_imprecise_percent(percent: str, base: float | None, value: float | None) -> bool:
    """Return whether a printed percent is far from the true one, apart from signs."""
    if percent == NO_VALUE or base is None or value is None or base == 0:
        return False
    printed_percent, exact_percent = abs(float(percent)), abs(compute_percent_change(base, value))
    return abs(printed_percent - exact_percent) > max(POINTS, SHARE * exact_percent)
