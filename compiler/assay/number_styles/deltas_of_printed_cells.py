"""Share the code of number styles whose deltas and percents are functions of printed cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from assay.number_styles.row import Row


class PrintedDeltas(ABC):
    """A style whose delta and percent are functions of two printed cells: those of base and value."""

    __slots__ = ()
    follows_from_print = True

    @staticmethod
    @abstractmethod
    def compute_delta(base: str, value: str) -> str:
        """Return the printed delta of two printed cells."""

    @staticmethod
    @abstractmethod
    def compute_percent(base: str, value: str) -> str:
        """Return the printed percent of two printed cells."""

    def format_printed_row(self, printed_cells: Sequence[str]) -> Row:
        """Return the row of printed cells, of which the first is the base."""
        pairs = [(printed_cells[0], value) for value in printed_cells[1:]]
        return Row(
            tuple(printed_cells),
            tuple(self.compute_delta(base, value) for base, value in pairs),
            tuple(self.compute_percent(base, value) for base, value in pairs),
        )

    def can_print(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:  # noqa: ARG002
        """Return whether delta and percent are those of the two printed cells."""
        return (delta, percent) == (self.compute_delta(base, value), self.compute_percent(base, value))
