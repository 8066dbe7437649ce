"""One printed row of a comparison: what a table shows of one metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

NO_VALUE = "—"
ROUGH = Decimal("0.01")  # what rounding and cutting after the point may take of a number of 1 and more


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
