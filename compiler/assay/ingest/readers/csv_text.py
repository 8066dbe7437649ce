"""CSV files: their columns, their rows as the engine scans them, and the rows that are broken.

Two readers agree on what a row is.  The engine's is swift, and refuses a file that has any row of another width, a
quote in a wrong place, mixed line ends, bytes that are no UTF-8 in what is read, or more bytes than a row may have;
then Python's goes through the file, tells what is broken, and leaves a copy that the engine scans, where
`strange.SUBSTITUTE` stands for such bytes.  Rows are numbered from 1, the header not among them; lines that are empty
are no rows; empty cells at the end of a row that are more than there are columns are none.
"""

from __future__ import annotations

import csv
import mmap
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.decompress import CHUNK
from assay.ingest.invalid_text import readable
from assay.ingest.plain_copies import LONGEST, STUB, TOO_LONG, bounded, ends_too_long, last_byte
from assay.sql import dialect
from assay.util.diagnostics import AssayError, fail

ENCODING = "utf-8-sig"
LINE_END = re.compile(rb"\r\n|\n|\r")
#: a blank beside the quote that opens or closes a cell, where the engine would take it for none
BLANK = re.compile(rb'(?:^|[,\r\n]) +"|" +(?:[,\r\n]|$)')
SLACK = 2**20  # bytes that a row of a copy has beside twice its cells: its number, what stands between cells
csv.field_size_limit(8 * LONGEST)  # else a cell of 128 KiB would be taken for an open quote


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file: its number, its first line and how many it takes, cells (none: `fault` tells why), text, the
    bytes of its first line that stand before it."""

    number: int
    line: int
    lines: int
    cells: tuple[str, ...]
    fault: str
    text: str
    ahead: int = 0


class _Lines:
    """The lines of a stream, those of the row remembered; of one that is too long the beginning alone, by which a row
    goes as far as it would."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = bounded(stream)
        self.taken: list[str] = []
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, left_out = next(self.stream)
        self.taken.append(line)
        self.number += 1
        return line + self._turned() if left_out % 2 else line

    def _turned(self) -> str:
        """What closes the quoted cell that the row is in, or opens one where it is in none."""
        return '"' if sum(line.count('"') for line in self.taken) % 2 else ',"'


def records(path: Path, plain: Path) -> Iterator[Record]:
    """The header (number 0) and all rows of a file, whose uncompressed content is `plain`.

    Raises AssayError when a quote is opened and never closed: what follows it cannot be told.
    """
    with plain.open(encoding=ENCODING, errors="assay-substitute", newline="") as stream:
        lines = _Lines(stream)
        rows = csv.reader(lines, strict=True)
        number, width = 0, 0
        while True:
            lines.taken.clear()
            first = lines.number + 1
            cells, fault = _next(path, rows, lines)
            if cells is None:
                return
            text = "".join(lines.taken).rstrip("\r\n")
            while width and len(cells) > width and not cells[-1]:
                cells.pop()
            if not fault and (not text or (width == 1 and cells == [""])):
                continue
            width = width or len(cells)
            if is_too_long(text):
                cells, fault, text = [], TOO_LONG, text[:STUB]
            elif not fault and len(cells) != width:
                fault = f"expected {_cells(width)}, found {len(cells)}"
            if not number:
                cells = [readable(cell) for cell in cells]
            taken = lines.number + 1 - first
            fault = f"{fault} (a row of {taken} lines)" if fault and taken > 1 else fault
            yield Record(number, first, taken, tuple(cells), fault, readable(text))
            number += 1


def _next(path: Path, rows: Iterator[list[str]], lines: _Lines) -> tuple[list[str] | None, str]:
    """The cells of the next row, or why there are none; None at the end."""
    line = lines.number + 1
    try:
        return next(rows), ""
    except StopIteration:
        return None, ""
    except csv.Error as error:
        unclosed = "field larger" in str(error) and lines.number > line
        if unclosed or "unexpected end" in str(error):
            raise _open_quote(path, line) from None
        return [], "a quote in a wrong place"


def _open_quote(path: Path, line: int) -> AssayError:
    return fail(
        "broken-file",
        f"the table cannot be read to its end: {path}",
        found=f"a quote that is opened in line {line} and not closed",
        hint="is the file cut off?",
    )


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def is_too_long(text: str) -> bool:
    """Whether a row, or a line, has more bytes than it may."""
    return len(text) > LONGEST // 4 and len(text.encode()) > LONGEST


def may_scan(path: Path, plain: Path) -> bool:
    """Whether the engine reads a file, or refuses it.

    It is not given one that would lose rows in silence: an empty line at the beginning is the header to it, and a line
    end within the header is that of all rows.  Nor one where a blank stands beside a quote or behind a carriage
    return, which it passes over: what a row is does not depend on whether others of its file are broken.
    """
    first = next(records(path, plain), None)
    return first is not None and first.line == first.lines == 1 and not ends_too_long(plain) and not _has_blanks(plain)


def _has_blanks(plain: Path) -> bool:
    """Whether a blank stands behind a carriage return or beside the quote of a cell, or seems to."""
    with plain.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(b"\r ") >= 0:
            return True
        likely = content.find(b' "') >= 0 or content.find(b'" ') >= 0
        return likely and BLANK.search(content) is not None


def header(path: Path, plain: Path) -> tuple[str, ...]:
    """The names of a file's columns.  AssayError when it is empty."""
    first = next(records(path, plain), None)
    if first is None:
        raise fail("no-header", f"the table is empty, without even a header: {path}")
    if first.fault:
        raise fail("no-header", f"the header of the table cannot be read: {path}", found=first.fault)
    return first.cells


def cell(index: int) -> exp.Column:
    """A column of a scan, by its place in the file."""
    return dialect.column(f"c{index}")


def scan(width: int, numbered: bool) -> exp.Select:
    """All rows of the file `$file`, columns c0, ... and `number`; an empty cell is null.

    `numbered` says that the file is a copy, whose first column is the number of the row.
    """
    names = [*(["number"] if numbered else []), *(f"c{index}" for index in range(width))]
    kinds = [exp.PropertyEQ(this=exp.to_identifier(name), expression=builder.text("VARCHAR")) for name in names]
    options = {
        "columns": exp.Struct(expressions=kinds),
        "delim": builder.text(","),
        "quote": builder.text('"'),
        "escape": builder.text('"'),
        "header": exp.true(),
        "auto_detect": exp.false(),
        "max_line_size": dialect.integer(2 * LONGEST + SLACK if numbered else LONGEST),  # a copy may quote more
        "compression": exp.Literal.string("none"),  # what is packed is unpacked before, whatever its name
        "strict_mode": exp.true(),
    }
    pairs = [exp.EQ(this=dialect.column(name), expression=value) for name, value in options.items()]
    rows = exp.ReadCSV(this=exp.Placeholder(this="file"), expressions=pairs)
    # The engine keeps the order of a file's rows, since it works in one thread.
    counted = exp.Window(this=exp.RowNumber())
    number = builder.cast(dialect.column("number"), "BIGINT") if numbered else counted
    query = builder.from_source(
        dialect.select(builder.alias(number, "number"), *(cell(index) for index in range(width))), rows
    )
    # An empty line is a row to the engine when there is one column, and to us never; a copy has none.
    return query.where(builder.is_not_null(cell(0)), copy=False) if width == 1 and not numbered else query


def mended(path: Path, plain: Path, copy: Path) -> list[Record]:
    """Write a copy of a file that scans, its rows numbered; the rows that are broken, which it lacks."""
    broken: list[Record] = []
    with copy.open("w", encoding="utf-8", newline="") as stream:
        # With another end of lines a cell that holds a carriage return would not be quoted.
        writer = csv.writer(stream, lineterminator="\r\n")
        for record in records(path, plain):
            if record.fault:
                broken.append(record)
            elif record.number:
                writer.writerow([record.number, *record.cells])
            else:  # whose names nobody reads here
                writer.writerow(range(len(record.cells) + 1))
    return broken


def chosen(path: Path, plain: Path, numbers: Sequence[int]) -> dict[int, Record]:
    """Some rows of a file by their numbers."""
    wanted, last = set(numbers), max(numbers, default=0)
    found: dict[int, Record] = {}
    for record in records(path, plain):
        if record.number in wanted:
            found[record.number] = record
        if record.number >= last:
            break
    return found


def ends_in(plain: Path, columns: Sequence[str]) -> str:
    """The column of the cell at the end of a file without a line end there; empty when it has one, or a quote does."""
    return "" if last_byte(plain) in (b"\n", b"\r", b'"') else columns[-1]


def offsets(plain: Path, numbers: Collection[int]) -> dict[int, int]:
    """Where lines begin, by their numbers: the place of their first byte in the uncompressed content, from 0.

    A line ends as it does for `records`: in a line feed, a carriage return, or both.
    """
    found, last = {1: 0}, max(numbers, default=0)
    number, read, returned = 1, 0, False
    with plain.open("rb") as stream:
        while (number < last or returned) and (chunk := stream.read(CHUNK)):
            if returned and number in numbers and chunk.startswith(b"\n"):
                found[number] = read + 1
            for end in LINE_END.finditer(chunk):
                if returned and end.start() == 0 and end[0] == b"\n":
                    continue
                number += 1
                if number in numbers:
                    found[number] = read + end.end()
            returned = chunk.endswith(b"\r")
            read += len(chunk)
    return found
