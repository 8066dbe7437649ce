"""What number styles share whose deltas and percents follow from the printed cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from assay.styles.row import Row


class PrintedDeltas(ABC):
    """A style in which delta and percent are functions of two printed cells, the base's and the value's."""

    __slots__ = ()
    follows_from_print = True

    @staticmethod
    @abstractmethod
    def delta(base: str, value: str) -> str:
        """The delta of two printed cells, as it is printed."""

    @staticmethod
    @abstractmethod
    def percent(base: str, value: str) -> str:
        """The percent of two printed cells, as it is printed."""

    def printed_row(self, printed: Sequence[str]) -> Row:
        """The row of these printed cells, the base first."""
        pairs = [(printed[0], value) for value in printed[1:]]
        return Row(
            tuple(printed),
            tuple(self.delta(base, value) for base, value in pairs),
            tuple(self.percent(base, value) for base, value in pairs),
        )

    def allows(self, base: str, value: str, delta: str, percent: str, width: int) -> bool:  # noqa: ARG002
        """Whether delta and percent are the ones that the two printed cells give (there is one answer)."""
        return (delta, percent) == (self.delta(base, value), self.percent(base, value))
