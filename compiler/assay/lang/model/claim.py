"""Claims: what documents say of the cells of an article's pivots, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it is published: the values of its row and of its column as texts, the number as it is printed."""

    down: str
    across: str
    value: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a document says that a pivot (by its title) has of the run which is called `run`.

    `statement` tells which of the document's tables says so.
    """

    document: str
    statement: str
    run: str
    pivot: str
    cells: tuple[Cell, ...]
