"""Everything that commands print, escaped for terminals; tables and streams.

What would act on one, or would not be seen, is printed as an escape; in JSON as the escape that JSON has for it, so
that the value is the same.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

import click

from assay.util.escape import dump_escaped_json, encode_lossless, escape_lines, escape_text, is_encodable, measure_width


def opened() -> None:
    """Lead to nowhere what is closed of stdin, stdout and stderr.

    Else the next file that is opened has its number, and what libraries write there goes into that file.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            lowest = os.open(os.devnull, os.O_RDWR)  # of the numbers that are free: this one
            os.set_inheritable(lowest, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def write(said: str, err: bool, line_end: bool = True) -> None:
    """Write to stdout or stderr.  What nobody reads any more is passed over: the status stays that of the work.

    AssayError (output) when stdout cannot be written for another reason; of stderr nobody could be told.
    """
    try:
        click.echo(said, nl=line_end, err=err)
    except OSError as error:
        _let_go(sys.stderr if err else sys.stdout)
        if not err and not isinstance(error, BrokenPipeError):
            from assay.util.diagnostics import fail

            raise fail("output", f"stdout cannot be written: {os.strerror(error.errno or 0)}") from None


def _let_go(stream: TextIO) -> None:
    """Lead a stream to nowhere, with what it still holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


GAP = 3  # columns between two columns of a table
ROOM = 24  # columns that a text of several words is to have
INDENT = 4  # columns by which a text below its row is set in

Row = Sequence[str]


def widths(header: Row, rows: Sequence[Row], width: int) -> list[int]:
    """The width of each column of a table that is no wider than `width`, so that no word is cut; empty where that
    cannot be."""
    every = [header, *rows]
    full = [max(map(measure_width, cells)) for cells in zip(*every, strict=True)]
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
    if not any(" " in text for text in texts) or (beside and beside[-1] >= min(ROOM, max(map(measure_width, texts)))):
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
        if measure_width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def join_cells(row: Row, sizes: Sequence[int]) -> Iterator[str]:
    """The lines of a row."""
    cells = [wrapped(cell, size) for cell, size in zip(row, sizes, strict=True)]
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        padded = (part + " " * (size - measure_width(part)) for part, size in zip(parts, sizes, strict=True))
        yield (" " * GAP).join(padded).rstrip()


def _longest(cell: str) -> int:
    """The width of the longest word."""
    return max(map(measure_width, cell.split()), default=0)


FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a cell begins with that a spreadsheet runs
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?inf")


def line(said: object, err: bool = False) -> None:
    """Print one line of text, of a path: line feeds in it are escapes, too; `err`: on stderr."""
    _print(escape_text(str(said)), err)


def text(said: str, err: bool = False) -> None:
    """Print a text of several lines; line feeds and tabs stay."""
    _print(escape_lines(said), err)


def warnings(said: Sequence[str]) -> None:
    """Print warnings on stderr, a line each."""
    for item in said:
        line(f"warning: {item}", err=True)


def data(value: Any, err: bool = False, indent: int | None = 1) -> None:
    """Print data as JSON; without an `indent` on one line."""
    found = dump_escaped_json(value, indent)
    fits = is_encodable(found, encoding(err))
    write(found if fits else json.dumps(value, indent=indent, default=str), err)


def rows(header: Sequence[str], found: Sequence[Sequence[str]], form: str) -> None:
    """Print rows of texts as a `table`, as `json`, or as `csv`; what is escaped in a cell of a table or of CSV is so as
    in a line.  In CSV a text that a spreadsheet would run as a formula has an apostrophe ahead of it.  Tables fit the
    terminal; where it is narrow, the last column stands below each row."""
    if form == "json":
        data([dict(zip(header, row, strict=True)) for row in found])
        return
    shown = [[encode_lossless(escape_text(cell), encoding()) for cell in row] for row in found]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([header, *([_inert(cell) for cell in row] for row in shown)])
        write(out.getvalue(), err=False, line_end=False)
    else:
        _table(header, shown)


def _inert(cell: str) -> str:
    """A cell of CSV that no spreadsheet runs as a formula: of what would be one, an apostrophe makes a text."""
    return f"'{cell}" if cell.startswith(FORMULA) and not NUMBER.fullmatch(cell) else cell


def encoding(err: bool = False) -> str:
    """The encoding of what is printed."""
    return getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"


def _print(shown: str, err: bool) -> None:
    write(encode_lossless(shown, encoding(err)), err)


def _table(header: Sequence[str], found: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    shown = io.TextIOWrapper(io.BytesIO(), encoding=encoding(), newline="")
    terminal = sys.stdout.isatty()
    wide = Console(file=shown, width=None if terminal else 160, force_terminal=terminal)
    if lines := below(header, found, wide.width):
        write("\n".join(lines), err=False)
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    sizes = widths(header, found, wide.width)
    for index, name in enumerate(header):
        table.add_column(name, no_wrap=index == 0, overflow="fold", width=sizes[index] if sizes else None)
    for row in found:
        table.add_row(*map(escape, row))
    wide.print(table)
    shown.seek(0)
    write(shown.read(), err=False, line_end=False)
