"""The text of a cell that prints a number, with that number beside it: nothing has to read it back out of the text."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Self

Number = int | float
CellValue = Number | tuple[Number, Number] | None
"""What a cell prints: a number, the two ends of an interval, or no number."""


class CellText(str):
    """The text of a cell with the value that it prints, as printed: rounded, in the unit of the table.

    A text that is composed of it, with `+` or a format, is a plain text again.
    """

    __slots__ = ("value",)
    value: CellValue

    def __new__(cls, text: str, value: CellValue) -> Self:
        """Return a text with its value."""
        self = super().__new__(cls, text)
        self.value = value
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, CellValue]]:
        """Return what a copy in another process is built from."""
        return type(self), (str(self), self.value)


def print_number(text: str) -> str:
    """Return the decimal text of a number as the text of a cell; a text without digits (`—`, `nan`) as it is."""
    if isinstance(text, CellText):
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return CellText(text, int(text) if text.lstrip("+-").isdigit() else number)


def print_value(value: object, text: str) -> str:
    """Return the text of a value of any type as the text of a cell, which has its number if it is one."""
    return print_number(text) if isinstance(value, (int, float)) and not isinstance(value, bool) else text


def convert_text(text: str, convert: Callable[[str], str]) -> str:
    """Return the text of a cell in another form, such as escaped; its value stays."""
    return CellText(convert(text), text.value) if isinstance(text, CellText) else convert(text)


def get_value(text: str) -> CellValue:
    """Return the value of a cell by its text; None for a text that prints no number."""
    return text.value if isinstance(text, CellText) else None
