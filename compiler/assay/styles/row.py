"""What a style formats: the results of runs, and one printed row of a comparison."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from assay.engine.results import Centile, Distribution, FilterCount, FormulaResult, RunResults

__all__ = ["Centile", "Distribution", "FilterCount", "FormulaResult", "RunResults"]


NO_VALUE = "—"
ROUGH = Decimal("0.01")  # what rounding and cutting after the point may take of a number of 1 and more
#: how far a printed percent may be off: so many percent of the base, or this share of what it should be
POINTS, SHARE = 1.0, 0.1


@dataclass(frozen=True, slots=True)
class Row:
    """Texts of one metric: a cell for each run, the base first; a delta and a percent for each after it."""

    cells: tuple[str, ...]
    deltas: tuple[str, ...]
    percents: tuple[str, ...]

    def __post_init__(self) -> None:
        further = max(len(self.cells) - 1, 0)
        if (len(self.deltas), len(self.percents)) != (further, further):
            raise ValueError(f"{further} deltas and percents belong to {len(self.cells)} cells")


def tells(cell: str, value: float | None) -> bool:
    """Whether a cell is of the magnitude of its value, which it is not when digits before the point were cut."""
    if cell == NO_VALUE or value is None or not math.isfinite(value):
        return True
    off = abs(Decimal(cell) - Decimal(value))
    return off < 1 or off < ROUGH * abs(Decimal(value))


def misses(percent: str, base: float | None, value: float | None) -> bool:
    """Whether a printed percent does not tell how far a value is from its base, whatever the signs."""
    if percent == NO_VALUE or base is None or value is None or base == 0:
        return False
    told, true = abs(float(percent)), abs(100 * (value - base) / base)
    return abs(told - true) > max(POINTS, SHARE * true)
