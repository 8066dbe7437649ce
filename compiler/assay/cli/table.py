"""Tables for terminals: words stay whole; what there is no room for beside a row stands below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.util.escape import columns

GAP = 3  # columns between two columns of a table
ROOM = 24  # columns that a text of several words is to have
INDENT = 4  # columns by which a text below its row is set in

Row = Sequence[str]


def widths(header: Row, rows: Sequence[Row], width: int) -> list[int]:
    """The width of each column of a table that is no wider than `width`, so that no word is cut; empty where that
    cannot be."""
    every = [header, *rows]
    full = [max(map(columns, cells)) for cells in zip(*every, strict=True)]
    least = [max(_longest(cell) for cell in cells) for cells in zip(*every, strict=True)]
    room = width - GAP * (len(full) - 1)
    if sum(least) > room:
        return []
    while sum(full) > room:
        _, index = max((size, index) for index, size in enumerate(full) if size > least[index])
        full[index] -= 1
    return full


def below(header: Row, rows: Sequence[Row], width: int) -> list[str]:
    """The lines of a table whose last column stands below each row, with those before it for which there is no room
    beside; none where that is not called for, or does not fit."""
    texts = [row[-1] for row in rows]
    beside = widths(header, rows, width)
    if not any(" " in text for text in texts) or (beside and beside[-1] >= min(ROOM, max(map(columns, texts)))):
        return []
    for number in range(len(header) - 1, 0, -1):
        found = widths(header[:number], [row[:number] for row in rows], width)
        if found:
            lines = [*join_cells(header[:number], found), "─" * width]
            return [*lines, *(line for row in rows for line in _with_below(header, row, found, width - INDENT))]
    return []


def _with_below(header: Row, row: Row, sizes: Sequence[int], width: int) -> Iterator[str]:
    """The lines of a row of which only the first columns stand beside each other."""
    yield from join_cells(row[: len(sizes)], sizes)
    named = list(zip(header, row, strict=True))[len(sizes) : -1]
    for text in ("; ".join(f"{name}: {cell}" for name, cell in named if cell), row[-1]):
        yield from (" " * INDENT + line for line in wrapped(text, width) if line)


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of whole words; one line that is empty of a text that is."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def join_cells(row: Row, sizes: Sequence[int]) -> Iterator[str]:
    """The lines of a row."""
    cells = [wrapped(cell, size) for cell, size in zip(row, sizes, strict=True)]
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        padded = (part + " " * (size - columns(part)) for part, size in zip(parts, sizes, strict=True))
        yield (" " * GAP).join(padded).rstrip()


def _longest(cell: str) -> int:
    """The width of the longest word."""
    return max(map(columns, cell.split()), default=0)
