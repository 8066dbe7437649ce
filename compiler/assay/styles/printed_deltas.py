"""Share the code of number styles whose deltas and percents are functions of printed cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from assay.styles.row import Row


class PrintedDeltas(ABC):
    """A style whose delta and percent are functions of two printed cells: those of base and value."""

    __slots__ = ()
    follows_from_print = True

    @staticmethod
    @abstractmethod
    def delta(base: str, value: str) -> str:
        """Return the printed delta of two printed cells."""

    @staticmethod
    @abstractmethod
    def percent(base: str, value: str) -> str:
        """Return the printed percent of two printed cells."""

    def printed_row(self, printed: Sequence[str]) -> Row:
        """Return the row of printed cells, of which the first is the base."""
        pairs = [(printed[0], value) for value in printed[1:]]
        return Row(
            tuple(printed),
            tuple(self.delta(base, value) for base, value in pairs),
            tuple(self.percent(base, value) for base, value in pairs),
        )

    def allows(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:  # noqa: ARG002
        """Return whether delta and percent are those of the two printed cells."""
        return (delta, percent) == (self.delta(base, value), self.percent(base, value))
