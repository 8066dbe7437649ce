"""Text for a terminal: headed paragraphs, hanging lines, bars; nothing of what it shows can act on the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from assay.styles.exact_decimal import six_digits
from assay.util.escape import escape_text, is_encodable, truncate

INDENT = 11
SHORTEST = 2  # lines of a part of a low rank
LOW = 1
SHOWS_ALL = "`--full` or `--format json` shows all"
BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*#@"


def headed(head: str, lines: Iterable[str], width: int) -> Iterator[str]:
    """Lines beside their heading, each wrapped; nothing where there are none."""
    before = f"{head:<{INDENT - 1}} "
    for line in lines:
        yield from wrapped(line, width, before, " " * INDENT)
        before = " " * INDENT


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with texts beside it, each as the lines that it takes, without their indent.

    Those of a higher `rank` are shortened before any of a lower one.
    """

    head: str
    blocks: tuple[tuple[str, ...], ...]
    rank: int = 0

    @classmethod
    def of(cls, head: str, texts: Iterable[str], width: int, rank: int = 0) -> Part:
        """The texts, wrapped."""
        return cls(head, tuple(tuple(wrapped(text, width - INDENT, "", "")) for text in texts), rank)

    @property
    def size(self) -> int:
        """How many lines all takes."""
        return sum(map(len, self.blocks))

    @property
    def least(self) -> int:
        """How many lines it keeps, however little room there is."""
        return min(self.size, SHORTEST if self.rank <= LOW else 1)

    def lines(self, room: int, width: int) -> Iterator[str]:
        """At most `room` lines: whole texts, the first as far as it goes; and how many more there are."""
        shown, whole = _whole(self.blocks, room) if self.size > room else ([*chain(*self.blocks)], len(self.blocks))
        alone = room == 1 and len(self.blocks) == 1  # a text that has one line says as much of itself as it can
        if not shown and (room > 1 or alone):
            shown = [*self.blocks[0][: max(room - 1, 1)]]
            shown[-1] = truncate(f"{shown[-1]} …", width - INDENT)
        if whole < len(self.blocks) and not alone:
            shown.append(truncate(more(len(self.blocks) - whole), width - INDENT))
        for place, line in enumerate(shown):
            yield f"{self.head if not place else '':<{INDENT - 1}} {line}"


def _whole(blocks: Sequence[Sequence[str]], room: int) -> tuple[list[str], int]:
    """The lines of as many texts as fit into one line less than there is room for, and how many these are."""
    shown: list[str] = []
    for count, block in enumerate(blocks):
        if len(shown) + len(block) >= room:
            return shown, count
        shown += block
    return shown, len(blocks)


def more(count: int) -> str:
    """That there are more texts, and how to see them."""
    return f"... and {count} more; {SHOWS_ALL}"


def fitted(parts: Sequence[Part], room: int, width: int) -> Iterator[str]:
    """The lines of parts, as many as fit into so many lines: of those of the highest rank the longest is shortened, and
    so on; none has fewer than its least for that."""
    rooms = [part.size for part in parts]
    for rank in sorted({part.rank for part in parts}, reverse=True):
        own = [place for place, part in enumerate(parts) if part.rank == rank]
        while sum(rooms) > room and any(rooms[place] > parts[place].least for place in own):
            rooms[max(own, key=lambda place: (rooms[place], -place))] -= 1
    for part, most in zip(parts, rooms, strict=True):
        yield from part.lines(most, width)


def wrapped(text: str, width: int, first: str, rest: str) -> Iterator[str]:
    """A text on as many lines as it takes."""
    found = textwrap.wrap(
        escape_text(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )  # fmt: skip
    yield from found or [first.rstrip()]


def one_line(text: str, width: int) -> str:
    """A text cut to the width."""
    return truncate(escape_text(text), width)


def bars(counts: Sequence[int], encoding: str) -> str:
    """A sign for each count, of a height that tells how large it is beside the largest; 0 alone is blank."""
    signs = BARS if is_encodable(BARS, encoding) else PLAIN_BARS
    most = max(counts, default=0)
    return "".join(signs[_height(count, most, len(signs) - 1)] for count in counts)


def _height(count: int, most: int, levels: int) -> int:
    return 0 if not count else max(1, round(count / most * levels))


def number(value: object) -> str:
    """A number as people read it: six digits, whole ones whole."""
    if isinstance(value, float):
        return six_digits(value)
    return str(value)


def with_unit(value: float, symbol: str) -> str:
    """A number with the symbol of its unit."""
    return f"{number(value)} {symbol}".rstrip()
