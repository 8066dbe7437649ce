"""Read the tables of sample files: their header, which may be below other lines, and their rows."""

from __future__ import annotations

import csv
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.ingest.readers import csv_text
from assay.util.numbers import format_count
from assay_propose.instants import has_stamp
from assay_propose.model import Record
from assay_propose.sample_records import is_number

_MIN_SHARE = 0.5  # of the cells of a first row that are like those of the rows below
_MANY_ALIKE = 0.2  # share of rows with a cell like that of the first, which is no header then
_QUOTED_ROWS = 20  # that show that lines are rows of a table
_FULL = 0.9  # share of the rows of a table that have all its cells
_MIN_ROWS = 10  # of a table of one column, or of one below other lines
_MOST_ABOVE, _MIN_COLUMNS = 20, 2  # lines above a header, columns of a table below other lines
_FIRST_ROWS = 50  # of a table, read before all of it
_FEW_NUMBERS = 0.2  # share of the names of columns
_GROUPED, _BELOW_1000 = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+"), re.compile(r"\d{1,3}")
QUANTITY = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?\s*[a-zA-Zµμ%]{0,3}", re.IGNORECASE)
_NUMBERS = re.compile(r"[+-]?\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its names of columns, its rows, the reason for its form, and what of it is not read.

    `begins` is the first name if lines stand above the header, else empty.
    """

    header: tuple[str, ...]
    records: tuple[Record, ...]
    reason: str
    notes: tuple[str, ...]
    begins: str = ""


def _split_rows(lines: Sequence[str]) -> list[str]:
    """Return lines as a table has them: there, a carriage return ends a line, too."""
    return [row for line in lines for row in line.split("\r") if row.strip()]


def read_table(lines: Sequence[str]) -> Table | str:
    """Return the table that lines make up, or why they make up none; no line is empty."""
    lines = _split_rows(lines)
    named = csv_text.NAMED_DELIMITER.fullmatch(lines[0])
    rest = lines[1:] if named else lines
    if not rest:
        return "no header"
    result = _read_rows(rest, named[1] if named else "")
    if isinstance(result, Table) or named:
        return result
    return next(_iter_tables_below(lines), result)


def _iter_tables_below(lines: Sequence[str]) -> Iterator[Table]:
    """Yield tables whose header is below other lines, which have other numbers of cells or lack some cells."""
    for above in range(1, min(_MOST_ABOVE, len(lines) - _MIN_ROWS) + 1):
        delimiter = csv_text.choose_delimiter(lines[above])
        header = next(csv.reader([lines[above]], delimiter=delimiter))
        if len(header) < _MIN_COLUMNS or not all(name.strip() for name in header):
            continue
        rows_above = list(csv.reader(lines[:above], delimiter=delimiter))
        is_apart = all(len(row) != len(header) or not all(row) for row in rows_above)
        is_likely = is_apart and isinstance(_read_rows(lines[above : above + _FIRST_ROWS], ""), Table)
        table = _read_rows(lines[above:], "") if is_likely else ""
        first_cells = [csv_text.read_first_cell(line, csv_text.choose_delimiter(line)) for line in lines[:above]]
        if not isinstance(table, Table) or len(table.records) < _MIN_ROWS or header[0] in first_cells:
            continue
        columns = zip(*(record.values.values() for record in table.records), strict=False)
        if any(all(is_number(cell) for cell in column) for column in columns):
            reason = f"{table.reason}, below {format_count(above, 'line')} that {'are' if above > 1 else 'is'} not read"
            yield replace(table, reason=reason, begins=header[0])


def _read_rows(lines: Sequence[str], named: str) -> Table | str:
    """Return the table whose header is the first line, with the delimiter that a line before it names, if any."""
    delimiter = named or csv_text.choose_delimiter(lines[0])
    rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    header, rows = rows[0], rows[1:]
    if len(header) == 1 and not named and not _is_list_of_numbers(rows):
        return f"the first line has no delimiter ({' '.join(csv_text.DELIMITERS)})".replace("\t", "tab")
    names = [name for name in header if name.strip()]  # columns without a name are left out
    is_few = sum(map(is_number, names)) <= _FEW_NUMBERS * len(names)  # percentiles may be some: `mean,.95,.99`
    is_header = len(set(names)) == len(names) > 0 and not is_number(names[0]) and is_few
    if not is_header or has_stamp(lines[0]):
        return "the first line is no header of distinct names"
    least = max(place for place, name in enumerate(header, start=1) if name)  # rows may lack the unnamed cells behind
    full = [[*row, *[""] * (len(header) - len(row))] for row in rows if least <= len(row) <= len(header)]
    if len(names) == 1 < len(header) and not any(cell for row in full for cell in row[: header.index(names[0])]):
        return "the lines are indented, and have one column"
    if not full or len(full) < _FULL * len(rows):
        return f"{len(full)} of {len(rows)} rows have {len(header)} cells, like the header"
    if _is_alike(header, full):
        return "the first line is no header: its cells are like those of the next lines"
    records = tuple(
        Record(
            "",
            index,
            "",
            {(name,): cell for name, cell in zip(header, row, strict=True) if name.strip() and cell},
        )
        for index, row in enumerate(full)
    )
    separation = f", separated by `{delimiter.replace(chr(9), 'tab')}`" if len(header) > 1 else ""
    reason = f"{format_count(len(names), 'column')}{separation}"
    notes = (*_list_unread(header, full), *_list_thousands(header, full, delimiter))
    return Table(tuple(header), records, reason, notes)


def _is_list_of_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether nearly all rows have one cell, a number with or without a unit: a table of one column."""
    return len(rows) >= _MIN_ROWS and sum(
        len(row) == 1 and bool(QUANTITY.fullmatch(row[0].strip())) for row in rows
    ) >= _FULL * len(rows)


def _list_thousands(header: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str) -> Iterator[str]:
    """Yield a sentence on each column whose points may separate thousands, as where semicolons separate columns."""
    for name, column in zip(header, zip(*rows, strict=True), strict=True) if delimiter == ";" else ():
        cells = [cell.strip() for cell in column if cell.strip()]
        grouped = next((cell for cell in cells if _GROUPED.fullmatch(cell)), "")
        if grouped and all(_GROUPED.fullmatch(cell) or _BELOW_1000.fullmatch(cell) for cell in cells):
            other = grouped.replace(".", "")
            yield f"{name}: do points separate thousands? {grouped} is read as a decimal, not as {other}"


def _list_unread(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield what of a table is not read: columns without a name, and those without a value."""
    sizes = [sum(map(bool, map(str.strip, column))) for column in zip(*rows, strict=True)]
    unnamed = [size for name, size in zip(header, sizes, strict=True) if size and not name.strip()]
    if unnamed:
        columns, values = format_count(len(unnamed), "unnamed column"), format_count(sum(unnamed), "value")
        yield f"{columns} with {values} {'are' if len(unnamed) > 1 else 'is'} not read"
    if empty := sizes.count(0):
        yield f"{format_count(empty, 'column')} {'are' if empty > 1 else 'is'} empty"


def _is_alike(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether most cells of a first row are, but for their numbers, those of most rows, so that it is one."""
    alike = []
    for name, *cells in zip(header, *rows, strict=True):
        if name.strip():
            text = _mask_numbers(name)
            alike.append(sum(_mask_numbers(cell) == text for cell in cells) > _MIN_SHARE * len(cells))
    return sum(alike) > _MIN_SHARE * len(alike) or _has_value(header, rows)


def _has_value(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a cell of a first row has digits and other characters, and is like those of many rows."""
    return any(
        "0" in text != "0" and sum(_mask_numbers(cell) == text for cell in cells) >= _MANY_ALIKE * len(cells)
        for text, cells in ((_mask_numbers(name), cells) for name, *cells in zip(header, *rows, strict=True))
    )


def _mask_numbers(cell: str) -> str:
    return _NUMBERS.sub("0", cell.strip())


def suggest_header(lines: Sequence[str]) -> str:
    """Return the hint for rows without a header, or with cells behind those of the header; empty for other lines."""
    for delimiter in csv_text.DELIMITERS:
        rows = list(csv.reader(_split_rows(lines), delimiter=delimiter))
        widths = {len(row) for row in rows[1:-1]}
        if len(widths) == 1 and 1 < len(rows[0]) < max(widths):
            return (
                f"the rows have {max(widths)} cells, the header has {len(rows[0])}: add the names that it lacks to it"
            )
        rows, size = rows[:_QUOTED_ROWS], len(rows[0])
        numbers = sum(is_number(cell) for row in rows for cell in row)
        is_table = size > 1 or len(lines) > _MIN_ROWS
        if is_table and all(len(row) == size for row in rows) and numbers > len(rows) * size / 2:
            letters = string.ascii_lowercase[: min(size, len(string.ascii_lowercase))]
            names = delimiter.join(letters) if size > 1 else "latency_ms"
            return f"a table needs names of columns: add a header line, such as {names.replace(chr(9), '<tab>')}"
    return ""
