"""Text for a terminal: headed paragraphs, hanging lines, bars; nothing of what it shows can act on the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from assay.audit.visible import cut, encodable, visible

BARS = " ▁▂▃▄▅▆▇█"
PLAIN_BARS = " .:-=+*#@"


def headed(head: str, lines: Iterable[str], width: int, indent: int = 11) -> Iterator[str]:
    """Lines beside their heading, each wrapped; nothing where there are none."""
    before = f"{head:<{indent - 1}} "
    for line in lines:
        yield from wrapped(line, width, before, " " * indent)
        before = " " * indent


def wrapped(text: str, width: int, first: str, rest: str) -> Iterator[str]:
    """A text on as many lines as it takes."""
    found = textwrap.wrap(
        visible(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )  # fmt: skip
    yield from found or [first.rstrip()]


def one_line(text: str, width: int) -> str:
    """A text cut to the width."""
    return cut(visible(text), width)


def bars(counts: Sequence[int], encoding: str) -> str:
    """A sign for each count, of a height that tells how large it is beside the largest; 0 alone is blank."""
    signs = BARS if encodable(BARS, encoding) else PLAIN_BARS
    most = max(counts, default=0)
    return "".join(signs[_height(count, most, len(signs) - 1)] for count in counts)


def _height(count: int, most: int, levels: int) -> int:
    return 0 if not count else max(1, round(count / most * levels))


def number(value: object) -> str:
    """A number as people read it: six digits, whole ones whole."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def with_unit(value: float, symbol: str) -> str:
    """A number with the symbol of its unit."""
    return f"{number(value)} {symbol}".rstrip()
