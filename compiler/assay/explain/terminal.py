"""Lay out text for a terminal: paragraphs with headings, wrapped lines, bars. Control characters are escaped."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from assay.number_styles.exact_decimal import format_six_digits
from assay.util.escape import escape_text, is_encodable, truncate

INDENT = 11
SHORTEST = 2  # fewest lines of a part whose rank is at most LOW
LOW = 1
SHOWS_ALL = "`--full` or `--format json` shows all"
BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*#@"


def format_with_heading(head: str, lines: Iterable[str], width: int) -> Iterator[str]:
    """Yield wrapped lines next to their heading; nothing without lines."""
    prefix = f"{head:<{INDENT - 1}} "
    for line in lines:
        yield from wrap_text(line, width, prefix, " " * INDENT)
        prefix = " " * INDENT


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with texts, each wrapped into lines without indent.

    Parts of a higher `rank` are shortened first.
    """

    head: str
    blocks: tuple[tuple[str, ...], ...]
    rank: int = 0

    @classmethod
    def create(cls, head: str, texts: Iterable[str], width: int, rank: int = 0) -> Part:
        """Return a part with wrapped texts."""
        return cls(head, tuple(tuple(wrap_text(text, width - INDENT, "", "")) for text in texts), rank)

    @property
    def size(self) -> int:
        """Return the number of lines of the whole part."""
        return sum(map(len, self.blocks))

    @property
    def least(self) -> int:
        """Return the number of lines that are always shown."""
        return min(self.size, SHORTEST if self.rank <= LOW else 1)

    def iter_lines(self, room: int, width: int) -> Iterator[str]:
        """Yield at most `room` lines: whole texts, the first cut if needed, and how many more there are."""
        lines, complete = (
            _fit_texts(self.blocks, room) if self.size > room else ([*chain(*self.blocks)], len(self.blocks))
        )
        is_single_line = room == 1 and len(self.blocks) == 1  # a single line is better spent on text than on a count
        if not lines and (room > 1 or is_single_line):
            lines = [*self.blocks[0][: max(room - 1, 1)]]
            lines[-1] = truncate(f"{lines[-1]} …", width - INDENT)
        if complete < len(self.blocks) and not is_single_line:
            lines.append(truncate(format_more(len(self.blocks) - complete), width - INDENT))
        for index, line in enumerate(lines):
            yield f"{self.head if not index else '':<{INDENT - 1}} {line}"


def _fit_texts(blocks: Sequence[Sequence[str]], room: int) -> tuple[list[str], int]:
    """Return the lines of the first texts that fit into `room - 1` lines, and the number of these texts."""
    lines: list[str] = []
    for count, block in enumerate(blocks):
        if len(lines) + len(block) >= room:
            return lines, count
        lines += block
    return lines, len(blocks)


def format_more(count: int) -> str:
    """Return the line with the number of texts that are left out, and how to see them."""
    return f"... and {count} more; {SHOWS_ALL}"


def fit_parts(parts: Sequence[Part], room: int, width: int) -> Iterator[str]:
    """Yield the lines of parts so that they fit into `room` lines.

    The longest part of the highest rank is shortened first, then the next; no part gets fewer than its `least` lines.
    """
    rooms = [part.size for part in parts]
    for rank in sorted({part.rank for part in parts}, reverse=True):
        indexes = [index for index, part in enumerate(parts) if part.rank == rank]
        while sum(rooms) > room and any(rooms[index] > parts[index].least for index in indexes):
            rooms[max(indexes, key=lambda index: (rooms[index], -index))] -= 1
    for part, most in zip(parts, rooms, strict=True):
        yield from part.iter_lines(most, width)


def wrap_text(text: str, width: int, first: str, rest: str) -> Iterator[str]:
    """Yield a text on as many lines as it needs."""
    lines = textwrap.wrap(
        escape_text(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )  # fmt: skip
    yield from lines or [first.rstrip()]


def truncate_line(text: str, width: int) -> str:
    """Cut a text to the width."""
    return truncate(escape_text(text), width)


def format_bars(counts: Sequence[int], encoding: str) -> str:
    """Return a block character per count, its height relative to the largest count; only 0 is blank."""
    signs = BARS if is_encodable(BARS, encoding) else PLAIN_BARS
    most = max(counts, default=0)
    return "".join(signs[_scale_height(count, most, len(signs) - 1)] for count in counts)


def _scale_height(count: int, most: int, levels: int) -> int:
    return 0 if not count else max(1, round(count / most * levels))


def format_number(value: object) -> str:
    """Format a number for people: floats with six digits, integers in full."""
    if isinstance(value, float):
        return format_six_digits(value)
    return str(value)


def format_with_unit(value: float, symbol: str) -> str:
    """Format a number with the symbol of its unit."""
    return f"{format_number(value)} {symbol}".rstrip()
