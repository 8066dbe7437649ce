"""One printed row of a comparison: what a table shows of one metric."""

from __future__ import annotations

from dataclasses import dataclass

NO_VALUE = "—"


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
