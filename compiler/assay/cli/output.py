"""All that commands print goes through here: no text of a log, of specs or of a path acts on a terminal.

What would act on one, or would not be seen, is printed as an escape; in JSON as the escape that JSON has for it, so
that the value is the same.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from assay.cli.streams import write
from assay.cli.table import below, widths
from assay.util.escape import encodable, encode_lossless, visible, visible_json, visible_lines

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a cell begins with that a spreadsheet runs
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?inf")


def line(said: object, err: bool = False) -> None:
    """Print one line of text, of a path: line feeds in it are escapes, too; `err`: on stderr."""
    _print(visible(str(said)), err)


def text(said: str, err: bool = False) -> None:
    """Print a text of several lines; line feeds and tabs stay."""
    _print(visible_lines(said), err)


def warnings(said: Sequence[str]) -> None:
    """Print warnings on stderr, a line each."""
    for item in said:
        line(f"warning: {item}", err=True)


def data(value: Any, err: bool = False, indent: int | None = 1) -> None:
    """Print data as JSON; without an `indent` on one line."""
    found = visible_json(value, indent)
    fits = encodable(found, encoding(err))
    write(found if fits else json.dumps(value, indent=indent, default=str), err)


def rows(header: Sequence[str], found: Sequence[Sequence[str]], form: str) -> None:
    """Print rows of texts as a `table`, as `json`, or as `csv`; what is escaped in a cell of a table or of CSV is so as
    in a line.  In CSV a text that a spreadsheet would run as a formula has an apostrophe ahead of it.  Tables fit the
    terminal; where it is narrow, the last column stands below each row."""
    if form == "json":
        data([dict(zip(header, row, strict=True)) for row in found])
        return
    shown = [[encode_lossless(visible(cell), encoding()) for cell in row] for row in found]
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
