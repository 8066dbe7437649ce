"""Define the cells of the tables of a document: each has text, value, unit, verdict and source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.number_styles.cell_text import CellValue, get_value
from assay.report.cell_links import (
    AVERAGE,
    CHANGE,
    COLUMN,
    DIFFERENCE,
    FORMULA,
    INTERVAL,
    MEAN,
    PERCENT,
    REPEATS,
    ROW,
    SHARE,
    STATISTIC,
    CellSource,
    CellVerdict,
)
from assay.report.statistic_names import COUNT

Values = tuple[tuple[CellValue, ...], ...]
"""The values of the cells of a table, row by row: the number that a cell prints, the ends of its interval, or None."""

#: texts of cells without a value
NO_VALUES = ("", "-", "—", "–", "---", "nan", "NaN", "unknown")
#: the mark of a value that falls short of the due one
FALLS_SHORT = " *"
_IN_PERCENT = (PERCENT, CHANGE, SHARE, INTERVAL)
_IN_UNIT = (AVERAGE, DIFFERENCE, STATISTIC, ROW, REPEATS, FORMULA, MEAN, COLUMN)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, the number or the ends of the interval that it prints, and the symbol of their unit.

    `verdict` is the one that it prints, if any; `prints` is what it prints of the values in `sources`.
    """

    text: str
    value: CellValue = None
    unit: str = ""
    verdict: CellVerdict | None = None
    prints: str = ""
    sources: tuple[CellSource, ...] = ()

    @property
    def number(self) -> float | None:
        """The number that it prints; None for an interval or a text."""
        return None if isinstance(self.value, tuple) else self.value


def collect_values(rows: Sequence[Sequence[str]]) -> Values:
    """Return the values of cells by their texts; empty if no cell has one."""
    values = tuple(tuple(map(get_value, row)) for row in rows)
    return values if any(value is not None for row in values for value in row) else ()


def choose_unit(prints: str, sources: Sequence[CellSource], symbol: str) -> str:
    """Return the unit of a cell: that of its row or column, or percent of a change or a share.

    A number of samples and a text, such as a verdict, have none.
    """
    if prints in _IN_PERCENT:
        return "%"
    is_count = any(item.statistic == COUNT for item in sources)
    return symbol if prints in _IN_UNIT and not is_count else ""


def are_numbers(values: Sequence[CellValue], texts: Sequence[str], *, with_intervals: bool = False) -> bool:
    """Return whether the cells of a column print numbers, or nothing, and at least one of them a number."""
    have_numbers = [value is not None and (with_intervals or not isinstance(value, tuple)) for value in values]
    return any(have_numbers) and all(
        has_number or text in NO_VALUES for has_number, text in zip(have_numbers, texts, strict=True)
    )


def has_numbers(texts: Sequence[str]) -> bool:
    """Return whether the texts of a column print numbers, intervals or nothing, and at least one of them a number."""
    return are_numbers(list(map(get_value, texts)), texts, with_intervals=True)
