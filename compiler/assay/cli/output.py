"""Print texts, tables and data, escaped for terminals.

Characters that would control a terminal, or be invisible, are printed as escapes. JSON uses its own escapes, so values
stay the same.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TextIO

import click

from assay.util.bidi import isolate_words
from assay.util.escape import dump_escaped_json, encode_lossless, escape_lines, escape_text, is_encodable, measure_width

MIN_WIDTH = 80  # columns of a terminal


def open_standard_streams() -> None:
    """Open the null device for each of stdin, stdout and stderr that is closed.

    Otherwise the next opened file would get its number, and would receive what libraries write there.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            lowest = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is `number`
            os.set_inheritable(lowest, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def write(message: str, err: bool, line_end: bool = True) -> None:
    """Write to stdout or stderr.

    A closed pipe is ignored: the exit status stays that of the work. Raises AssayError `output` if stdout cannot be
    written for another reason; for stderr there is no place to report it.
    """
    try:
        click.echo(message, nl=line_end, err=err)
    except OSError as error:
        _redirect_to_null(sys.stderr if err else sys.stdout)
        if not err and not isinstance(error, BrokenPipeError):
            from assay.util.diagnostics import fail

            raise fail("output", f"stdout cannot be written: {os.strerror(error.errno or 0)}") from None


def _redirect_to_null(stream: TextIO) -> None:
    """Redirect a stream to the null device, with what it still buffers."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, stream.fileno())
    os.close(null_device)


def has_colors(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that shows colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


GAP = 3  # characters between columns of a table
MIN_TEXT_WIDTH = 24  # characters of a last column of several words that is not placed below
INDENT = 4  # of a text below its row
MIN_FILE_WIDTH = 160  # characters of a table that is not written to a terminal; more if its names need them

Row = Sequence[str]


def compute_widths(header: Row, rows: Sequence[Row], width: int) -> list[int]:
    """Return column widths with which a table fits into `width` and no word is broken.

    The first column is as wide as its cells if the others leave room. Returns an empty list if there are no widths.
    """
    all_rows = [header, *rows]
    column_widths = [max(map(measure_width, cells)) for cells in zip(*all_rows, strict=True)]
    min_widths = [max(_measure_longest_word(cell) for cell in cells) for cells in zip(*all_rows, strict=True)]
    available_width = width - GAP * (len(column_widths) - 1)
    if sum(min_widths) > available_width:
        return []
    if column_widths[0] + sum(min_widths[1:]) <= available_width:
        min_widths[0] = column_widths[0]
    while sum(column_widths) > available_width:
        _, index = max((size, index) for index, size in enumerate(column_widths) if size > min_widths[index])
        column_widths[index] -= 1
    return column_widths


def format_stacked_rows(header: Row, rows: Sequence[Row], width: int) -> list[str]:
    """Return the lines of a table whose last column is below each row.

    Other columns for which the row has no room are below it, too. Returns an empty list if the table fits in the usual
    layout, or in neither.
    """
    texts = [row[-1] for row in rows]
    has_texts = any(" " in text for text in texts)
    full_widths = compute_widths(header, rows, width)
    has_room = full_widths and full_widths[-1] >= min(MIN_TEXT_WIDTH, max(map(measure_width, texts), default=0))
    can_wrap = has_texts or (not full_widths and any(" " in row[0] for row in rows))
    if has_room or not can_wrap:
        return []
    stacked = rows if has_texts else [(*row[:-1], f"{header[-1]}: {row[-1]}" if row[-1] else "") for row in rows]
    for number in range(len(header) - 1, 0, -1):
        row_widths = compute_widths(header[:number], [row[:number] for row in rows], width)
        if row_widths:
            lines = [*join_cells(header[:number], row_widths), "─" * width]
            return [
                *lines,
                *(line for row in stacked for line in _format_stacked_row(header, row, row_widths, width - INDENT)),
            ]
    return []


def _format_stacked_row(header: Row, row: Row, sizes: Sequence[int], width: int) -> Iterator[str]:
    """Yield the lines of a row: the first columns next to each other, the rest below."""
    yield from join_cells(row[: len(sizes)], sizes)
    cells_below = list(zip(header, row, strict=True))[len(sizes) : -1]
    for text in ("; ".join(f"{name}: {cell}" for name, cell in cells_below if cell), row[-1]):
        yield from (" " * INDENT + line for line in wrap_text(text, width) if line)


def wrap_text(text: str, width: int) -> list[str]:
    """Break a text into lines of whole words; an empty text is one empty line."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if measure_width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def join_cells(row: Row, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a row."""
    cells = [wrap_text(cell, size) for cell, size in zip(row, sizes, strict=True)]
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        padded = (part + " " * (size - measure_width(part)) for part, size in zip(parts, sizes, strict=True))
        yield (" " * GAP).join(padded).rstrip()


def _measure_whole_names(header: Row, rows: Sequence[Row]) -> int:
    """Return the width of a table with whole cells in its first column, and lines of single words in the others."""
    first, *others = zip(header, *rows, strict=True)
    words = (max(map(_measure_longest_word, cells)) for cells in others)
    return max(map(measure_width, first)) + sum(width + GAP for width in words)


def _measure_longest_word(cell: str) -> int:
    """Return the width of the longest word."""
    return max(map(measure_width, cell.split()), default=0)


FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of cells that spreadsheets evaluate
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?inf")


def print_line(content: object, err: bool = False) -> None:
    """Print one line; line feeds in it are escaped, too. With `err`, print on stderr."""
    _print(escape_text(str(content)), err)


def print_text(content: str, err: bool = False) -> None:
    """Print a text of several lines; line feeds and tabs stay."""
    _print(escape_lines(content), err)


MAX_LABEL = 40


def print_warnings(messages: Sequence[str]) -> None:
    """Print warnings on stderr, one line each; runs with the same warning share a line: `base-1, base-2: ...`."""
    for item in group_warnings(messages):
        print_problems(f"warning: {escape_text(item)}")


def group_warnings(messages: Sequence[str]) -> list[str]:
    """Return warnings in their order, those that differ only in the label before the first colon as one.

    What is longer than a label, or has a comma, is a part of a sentence.
    """
    groups: dict[str, list[str]] = {}
    for item in messages:
        label, colon, text = item.partition(": ")
        if "," in label or len(label) > MAX_LABEL:
            label, colon, text = "", "", item
        groups.setdefault(text if colon else item, []).append(label if colon else "")
    return [f"{', '.join(labels)}: {text}" if any(labels := list(dict.fromkeys(items))) else text
            for text, items in groups.items()]  # fmt: skip


HEADINGS = re.compile(r"^(?:(error|Error)|(warning)|  (hint))(\[[\w-]+\])?:", re.MULTILINE)


def print_problems(content: str) -> None:
    """Print errors or warnings on stderr; on a terminal with colours, what they begin with is coloured."""
    text = isolate_words(escape_lines(content))
    if has_colors(sys.stderr):
        text = HEADINGS.sub(_color_heading, text)
    write(encode_lossless(text, get_encoding(err=True)), err=True)


def _color_heading(match: re.Match[str]) -> str:
    color = "red" if match[1] else "yellow" if match[2] else "cyan"
    indent = "  " if match[3] else ""
    return indent + click.style(match[0].removeprefix(indent), fg=color, bold=True)


def print_data(value: Any, err: bool = False, indent: int | None = 1) -> None:
    """Print data as JSON; on one line if `indent` is None."""
    json_text = dump_escaped_json(value, indent)
    can_encode = is_encodable(json_text, get_encoding(err))
    write(json_text if can_encode else json.dumps(value, indent=indent, default=str), err)


def print_rows(header: Sequence[str], cells: Sequence[Sequence[str]], form: str) -> None:
    """Print rows as a `table`, as `json` or as `csv`.

    Cells of tables and CSV are escaped like lines. A CSV cell that a spreadsheet would evaluate as a formula gets a
    leading apostrophe. Tables fit the terminal; if it is narrow, the last column is below each row.
    """
    if form == "json":
        print_data([dict(zip(header, row, strict=True)) for row in cells])
        return
    escaped = [[encode_lossless(escape_text(cell), get_encoding()) for cell in row] for row in cells]
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(
            [header, *([_neutralize_formula(cell) for cell in row] for row in escaped)]
        )
        write(out.getvalue(), err=False, line_end=False)
    else:
        _print_table(header, escaped)


def _neutralize_formula(cell: str) -> str:
    """Return a CSV cell that no spreadsheet evaluates: a formula gets a leading apostrophe."""
    return f"'{cell}" if cell.startswith(FORMULA) and not NUMBER.fullmatch(cell) else cell


def format_columns(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> Iterator[str]:
    """Yield a line for each row, its cells in columns; those of the numbers in `right` are right-aligned."""
    escaped = [[escape_text(cell) for cell in row] for row in rows]
    widths = [max(map(measure_width, column)) for column in zip(*escaped, strict=True)]
    for row in escaped:
        cells = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - measure_width(cell))
            cells.append(blanks + cell if number in right else cell + blanks)
        yield "  ".join(cells).rstrip()


def get_encoding(err: bool = False) -> str:
    """Return the encoding of stdout, or of stderr with `err`."""
    return getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"


def _print(content: str, err: bool) -> None:
    # A single word may be a path, which a script reads.
    text = isolate_words(content) if " " in content else content
    write(encode_lossless(text if is_encodable(text, get_encoding(err)) else content, get_encoding(err)), err)


def _print_table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    buffer = io.TextIOWrapper(io.BytesIO(), encoding=get_encoding(), newline="")
    terminal = sys.stdout.isatty()
    width = None if terminal else max(MIN_FILE_WIDTH, _measure_whole_names(header, cells))
    console = Console(file=buffer, width=width, force_terminal=terminal)
    if lines := format_stacked_rows(header, cells, console.width):
        write(isolate_words("\n".join(lines)), err=False)
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    sizes = compute_widths(header, cells, console.width)
    for index, name in enumerate(header):
        is_whole = not sizes or sizes[0] == max(measure_width(row[0]) for row in (header, *cells))
        table.add_column(name, no_wrap=index == 0 and is_whole, overflow="fold", width=sizes[index] if sizes else None)
    for row in cells:
        table.add_row(*map(escape, row))
    console.print(table)
    buffer.seek(0)
    write(isolate_words(buffer.read()), err=False, line_end=False)


def get_terminal_width() -> int:
    """Return the width of the terminal in columns, at least 80, which is also that of no terminal."""
    return max(MIN_WIDTH, shutil.get_terminal_size((MIN_WIDTH, 24)).columns)
