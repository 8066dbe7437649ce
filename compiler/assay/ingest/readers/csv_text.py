"""CSV files: their columns, their rows in the scan of the engine, and their malformed rows.

Two readers agree on rows. The reader of the engine is fast, and rejects a file with a row of another width, a misplaced
quote, mixed line ends, bytes that are not UTF-8 in cells that are read, or a row that is too long. Then the reader of
Python reads the file, finds malformed rows, and writes a copy for the engine, with `invalid_text.SUBSTITUTE` for bytes
that are not UTF-8. Rows are numbered from 1 without the header. Empty lines are not rows. Excess empty cells at the end
of a row are ignored, and a row may lack the cells of columns without a name at the end of the header.

A first line `sep=;`, which spreadsheets read and write, names the delimiter. Otherwise it is the most frequent of
`DELIMITERS` in the header. The header is the first line that is not empty; if `begins` of the source names its first
column, it is the first line with that cell, and the lines before it are no rows.
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

from assay.ingest import sql_trees
from assay.ingest.decompress import CHUNK
from assay.ingest.invalid_text import make_readable
from assay.ingest.plain_copies import LONGEST, STUB, TOO_LONG, has_too_long_end, iter_bounded_lines, read_last_byte
from assay.sql import dialect
from assay.util.diagnostics import AssayError, fail

ENCODING = "utf-8-sig"
LINE_END = re.compile(rb"\r\n|\n|\r")
DELIMITERS = ",;\t|"  # of equally frequent ones, the first counts
NAMED_DELIMITER = re.compile(r'"?sep=([^"\x00\r\n])"?')
SLACK = 2**20  # bytes of a row of a copy beyond twice its cells: its number and separators
csv.field_size_limit(8 * LONGEST)  # by default, a cell of 128 KiB raises the same error as an unclosed quote


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a file: its number, its first line and line count, its cells and text.

    If it is malformed, `fault` is the reason. `bytes_before` are the bytes before it in its first line.
    """

    number: int
    line: int
    lines: int
    cells: tuple[str, ...]
    fault: str
    text: str
    bytes_before: int = 0


class _Lines:
    """The lines of a stream, which stores the lines of the current row.

    A line that is too long is truncated in such a way that the end of the row does not change.
    """

    def __init__(self, stream: TextIO, delimiter: str) -> None:
        self.stream = iter_bounded_lines(stream)
        self.delimiter = delimiter
        self.row_lines: list[str] = []
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, omitted = next(self.stream)
        self.row_lines.append(line)
        self.number += 1
        return line + self._get_quote_toggle() if omitted % 2 else line

    def _get_quote_toggle(self) -> str:
        """Return a text that toggles whether the row is within quotes."""
        return '"' if sum(line.count('"') for line in self.row_lines) % 2 else f'{self.delimiter}"'


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the header of a file may be: the number of lines before it, and the delimiter of its cells."""

    lines_before: int
    delimiter: str


def _find_start(plain: Path, begins: str) -> _Start | None:
    """Return the start of a table; None if no line begins with the cell `begins`."""
    named_delimiter = ""
    with plain.open(encoding=ENCODING, errors="assay-substitute", newline="") as stream:
        for number, (line, _) in enumerate(iter_bounded_lines(stream)):
            header = line.strip("\r\n")
            if named := NAMED_DELIMITER.fullmatch(header):
                named_delimiter = named[1]
                if begins:
                    continue
            delimiter = named_delimiter or choose_delimiter(header)
            if header and not begins:
                return _Start(0, delimiter)
            if begins and read_first_cell(header, delimiter) == begins:
                return _Start(number, delimiter)
    return None if begins else _Start(0, ",")


def choose_delimiter(header: str) -> str:
    """Return the delimiter that is the most frequent one outside of the quotes of a header."""
    unquoted_text = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=unquoted_text.count)


def read_first_cell(line: str, delimiter: str) -> str:
    """Return the first cell of a line."""
    return next(iter(next(csv.reader([line], delimiter=delimiter), [])), "").strip()


def find_delimiter(plain: Path, begins: str = "") -> str:
    """Return the delimiter of the cells of a file, a comma unless another is named or more frequent in the header."""
    start = _find_start(plain, begins)
    return start.delimiter if start else ","


def _read_first_line(plain: Path) -> str:
    with plain.open(encoding=ENCODING, errors="assay-substitute", newline="") as stream:
        return next((text for line, _ in iter_bounded_lines(stream) if (text := line.strip())), "")[:STUB]


def iter_records(path: Path, plain: Path, begins: str = "") -> Iterator[Record]:
    """Yield the header (number 0) and all rows of a file, whose uncompressed content is `plain`.

    Raises AssayError for a quote that is never closed, since rows after it cannot be determined.
    """
    if (start := _find_start(plain, begins)) is None:
        raise fail(
            "no-header",
            f"the table has no header: {path}",
            expected=f"a line whose first cell is `{begins}`, which `begins` of the source names",
            found=f"the first line: {make_readable(_read_first_line(plain))}",
            hint="name the first column in `begins`, or leave `begins` out if the header is the first line",
        )
    with plain.open(encoding=ENCODING, errors="assay-substitute", newline="") as stream:
        lines = _Lines(stream, start.delimiter)
        for _ in range(start.lines_before):
            next(lines)
        rows = csv.reader(lines, delimiter=start.delimiter, strict=True)
        number, width, least = 0, 0, 0
        while True:
            lines.row_lines.clear()
            first = lines.number + 1
            cells, fault = _read_next(path, rows, lines)
            if cells is None:
                return
            text = "".join(lines.row_lines).rstrip("\r\n")
            while width and len(cells) > width and not cells[-1]:
                cells.pop()
            if least <= len(cells) < width:
                cells += [""] * (width - len(cells))
            if not fault and (not text or (width == 1 and cells == [""])):
                continue
            if not width and NAMED_DELIMITER.fullmatch(text):
                continue
            if not width:
                width = len(cells)
                least = max((place for place, cell in enumerate(cells, start=1) if cell), default=width)
            if is_too_long(text):
                cells, fault, text = [], TOO_LONG, text[:STUB]
            elif not fault and len(cells) != width:
                fault = f"expected {_format_cell_count(width)}, found {len(cells)}"
            if not number:
                cells = [make_readable(cell) for cell in cells]
            lines_of_row = lines.number + 1 - first
            fault = f"{fault} (a row of {lines_of_row} lines)" if fault and lines_of_row > 1 else fault
            yield Record(number, first, lines_of_row, tuple(cells), fault, make_readable(text))
            number += 1


def _read_next(path: Path, rows: Iterator[list[str]], lines: _Lines) -> tuple[list[str] | None, str]:
    """Return the cells of the next row, None at the end, and the reason if the row is malformed."""
    line = lines.number + 1
    try:
        return next(rows), ""
    except StopIteration:
        return None, ""
    except csv.Error as error:
        unclosed = "field larger" in str(error) and lines.number > line
        if unclosed or "unexpected end" in str(error):
            raise _build_open_quote_error(path, line) from None
        return [], "a misplaced quote"


def _build_open_quote_error(path: Path, line: int) -> AssayError:
    return fail(
        "broken-file",
        f"the table cannot be read to its end: {path}",
        found=f"an unclosed quote that opens in line {line}",
        hint="is the file cut off?",
    )


def _format_cell_count(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def is_too_long(text: str) -> bool:
    """Return whether a row or a line exceeds the limit of bytes."""
    return len(text) > LONGEST // 4 and len(text.encode()) > LONGEST


def can_scan(path: Path, plain: Path, begins: str = "") -> bool:
    """Return whether the engine reads a file correctly or rejects it.

    Files of which it would silently lose rows are excluded: it reads an empty first line as the header, and a line end
    within the header as that of all rows; and it reads no header below other lines. It ignores blanks beside quotes or
    after a CR; files with these are excluded, too, so that the cells of a row do not depend on other, malformed rows of
    the file.
    """
    first = next(iter_records(path, plain, begins), None)
    return (
        first is not None and first.line == first.lines == 1 and not has_too_long_end(plain) and not _has_blanks(plain)
    )


def _has_blanks(plain: Path) -> bool:
    """Return whether there may be a blank after a CR or beside the quote of a cell, which the engine would ignore."""
    with plain.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(b"\r ") >= 0:
            return True
        likely = content.find(b' "') >= 0 or content.find(b'" ') >= 0
        edge = re.escape(find_delimiter(plain).encode())
        return likely and re.search(rb'(?:^|%b|[\r\n]) +"|" +(?:%b|[\r\n]|$)' % (edge, edge), content) is not None


def build_cell_column(index: int) -> exp.Column:
    """Return a column of a scan by its index in the file."""
    return dialect.build_column(f"c{index}")


def build_scan_query(width: int, has_numbers: bool, delimiter: str = ",") -> exp.Select:
    """Return the query for all rows of the file `$file`: number, c0, ...; an empty cell is null.

    With `has_numbers`, the file is a copy, whose first column is the row number; its delimiter is a comma.
    """
    names = [*(["number"] if has_numbers else []), *(f"c{index}" for index in range(width))]
    kinds = [exp.PropertyEQ(this=exp.to_identifier(name), expression=sql_trees.build_text("VARCHAR")) for name in names]
    options = {
        "columns": exp.Struct(expressions=kinds),
        "delim": sql_trees.build_text(delimiter),
        "quote": sql_trees.build_text('"'),
        "escape": sql_trees.build_text('"'),
        "header": exp.true(),
        "auto_detect": exp.false(),
        # A copy may have more quotes.
        "max_line_size": dialect.build_integer(2 * LONGEST + SLACK if has_numbers else LONGEST),
        "compression": exp.Literal.string("none"),  # files are already decompressed, though their names may end in .gz
        "strict_mode": exp.true(),
    }
    pairs = [exp.EQ(this=dialect.build_column(name), expression=value) for name, value in options.items()]
    rows = exp.ReadCSV(this=exp.Placeholder(this="file"), expressions=pairs)
    # With one thread, the engine preserves the order of rows.
    row_number = exp.Window(this=exp.RowNumber())
    number = sql_trees.cast(dialect.build_column("number"), "BIGINT") if has_numbers else row_number
    query = sql_trees.set_source(
        dialect.select(sql_trees.build_alias(number, "number"), *(build_cell_column(index) for index in range(width))),
        rows,
    )
    # With one column, the engine reads an empty line as a row. A copy has none.
    return (
        query.where(sql_trees.is_not_null(build_cell_column(0)), copy=False)
        if width == 1 and not has_numbers
        else query
    )


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """CSV files; `begins` is the first column of the header if other lines may stand above it, else empty."""

    begins: str = ""

    def read_header(self, path: Path, plain: Path) -> tuple[str, ...]:
        """Return the names of the columns of a file. Raises AssayError if the file has no header."""
        first = next(iter_records(path, plain, self.begins), None)
        if first is None:
            raise fail("no-header", f"the table is empty: it has no header: {path}")
        if first.fault:
            raise fail("no-header", f"the header of the table cannot be read: {path}", found=first.fault)
        return first.cells

    def write_repaired_copy(self, path: Path, plain: Path, copy: Path) -> list[Record]:
        """Write a copy for the engine with row numbers; return the malformed rows, which are left out."""
        malformed_records: list[Record] = []
        with copy.open("w", encoding="utf-8", newline="") as stream:
            # With another line end, a cell with a CR would not be quoted.
            writer = csv.writer(stream, lineterminator="\r\n")
            for record in iter_records(path, plain, self.begins):
                if record.fault:
                    malformed_records.append(record)
                elif record.number:
                    writer.writerow([record.number, *record.cells])
                else:  # the header, whose names do not matter here
                    writer.writerow(range(len(record.cells) + 1))
        return malformed_records

    def find_records(self, path: Path, plain: Path, numbers: Sequence[int]) -> dict[int, Record]:
        """Return some rows of a file by their numbers."""
        required, last = set(numbers), max(numbers, default=0)
        records_by_number: dict[int, Record] = {}
        for record in iter_records(path, plain, self.begins):
            if record.number in required:
                records_by_number[record.number] = record
            if record.number >= last:
                break
        return records_by_number

    def find_unterminated_column(self, plain: Path, columns: Sequence[str]) -> str:
        """Return the column of the last cell of a file without a final line end or quote, else an empty text."""
        return "" if read_last_byte(plain) in (b"\n", b"\r", b'"') else columns[-1]


def find_line_offsets(plain: Path, numbers: Collection[int]) -> dict[int, int]:
    """Return the offset of the first byte of lines in the uncompressed content by their numbers.

    Lines end in LF, CR or CR LF, as in `iter_records`.
    """
    line_offsets, last = {1: 0}, max(numbers, default=0)
    number, offset, ends_in_cr = 1, 0, False
    with plain.open("rb") as stream:
        while (number < last or ends_in_cr) and (chunk := stream.read(CHUNK)):
            if ends_in_cr and number in numbers and chunk.startswith(b"\n"):
                line_offsets[number] = offset + 1
            for end in LINE_END.finditer(chunk):
                if ends_in_cr and end.start() == 0 and end[0] == b"\n":
                    continue
                number += 1
                if number in numbers:
                    line_offsets[number] = offset + end.end()
            ends_in_cr = chunk.endswith(b"\r")
            offset += len(chunk)
    return line_offsets
