"""Files of blocks: lines `Key: value`, the blocks one below another or side by side.

A block begins with its first key. The line where blocks begin determines how many are side by side. Each later line has
a cell for each of them, in order: separated by bars (`│`), where a cell may be empty, or else by two or more blanks or
tabs. Columns are not always aligned, so the position in the line has no meaning.

A line with another number of cells, or with a cell that is not `Key: value`, is malformed, since its cells cannot be
assigned to blocks. So is a block with a duplicate key. Lines before the first block are ignored.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.ingest.invalid_text import BOM, NUL, fault, readable, size
from assay.ingest.plain_copies import LONGEST, STUB, TOO_LONG, bounded, last_byte
from assay.ingest.readers.csv import TableReader
from assay.ingest.readers.csv_text import ENCODING, Record, is_too_long
from assay.util.diagnostics import fail

BAR = "│"
BARS = re.compile(BAR)
#: separator of cells; the gap between a key and its value may be as wide
BLANKS = re.compile(r"(?<![:\s])(?:\s{2,}|\t)")
CELL = re.compile(r"(?P<key>[^:]*[^:\s])\s*:(?:\s+(?P<value>.*))?")
SHOWN = 80


@dataclass(slots=True)
class _Block:
    """A block during reading.

    `ahead` are the bytes before it in its first `line`, `last` is its last line, `size` the bytes of its cells, `said`
    its values by key, `fault` why it is malformed, `written` its pairs as text.
    """

    number: int
    line: int
    ahead: int
    last: int = 0
    size: int = 0
    said: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    written: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Files whose blocks begin with the key `begins`, read as rows of a table whose columns are the keys."""

    begins: str

    def header(self, path: Path, plain: Path) -> tuple[str, ...]:
        """Return all keys of the blocks of a file. Raises AssayError if it has no block."""
        keys = dict.fromkeys(key for block, _ in self._read(plain) if block for key in block.said)
        if not keys:
            raise fail(
                "no-block",
                f"the text has no block: {path}",
                expected=f"a line that begins with `{self.begins}:`",
                found=_first_line(plain) or "nothing",
            )
        return tuple(keys)

    def mended(self, path: Path, plain: Path, copy: Path) -> list[Record]:
        """Write the blocks of a file as a table with row numbers; return the malformed records, which are left out."""
        columns, broken = self.header(path, plain), []
        with copy.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["", *columns])
            for block, torn in self._read(plain):
                if torn:
                    broken.append(torn)
                elif block and block.fault:
                    broken.append(_record(block, columns))
                elif block:
                    writer.writerow([block.number, *(block.said.get(key, "") for key in columns)])
        return broken

    def chosen(self, path: Path, plain: Path, numbers: Sequence[int]) -> dict[int, Record]:
        """Return some blocks of a file by their numbers."""
        wanted, columns = set(numbers), self.header(path, plain)
        return {
            block.number: _record(block, columns) for block, _ in self._read(plain) if block and block.number in wanted
        }

    def ends_in(self, plain: Path, _: Sequence[str]) -> str:
        """Return the key of the last value of a file without a final line end, else an empty text."""
        if last_byte(plain) in (b"\n", b"\r"):
            return ""
        with plain.open(encoding=ENCODING, errors="assay-substitute") as stream:
            lines = sum(1 for _ in bounded(stream))
        last = [block for block, _ in self._read(plain) if block][-1]
        return list(last.said)[-1] if last.last == lines else ""

    def _read(self, plain: Path) -> Iterator[tuple[_Block | None, Record | None]]:
        """Yield the blocks of a file, and its malformed lines."""
        mark = _mark(plain)
        with plain.open(encoding=ENCODING, errors="assay-substitute") as stream:
            band: list[_Block] | None = None  # None before the first block, empty after a malformed first line
            number = 0
            for line, (text, _) in enumerate(bounded(stream), start=1):
                if is_too_long(text):
                    yield None, _torn(text, line, TOO_LONG, mark)
                    continue
                places = _cells(text)
                cells = [cell for _, cell in places]
                begun = sum(_key(cell).lstrip(BOM + NUL) == self.begins for cell in cells)
                if begun:
                    yield from ((block, None) for block in band or [])
                    before = [size(text[:place]) + mark * (line == 1) for place, _ in places]
                    band = [_Block(number + index, line, before[index - 1]) for index in range(1, begun + 1)]
                    number += begun
                if band is None or not cells:
                    continue
                if fault_text := _fault(cells, band, begun):
                    yield None, _torn(text, line, fault_text, mark)
                    band = [] if begun else band
                else:
                    _add(cells, band, line)
            yield from ((block, None) for block in band or [])


def _mark(plain: Path) -> int:
    """Return the size of the byte order mark of a file."""
    with plain.open("rb") as stream:
        return len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0


def _torn(text: str, line: int, fault: str, mark: int) -> Record:
    """Return a malformed line as a record, without blanks around it."""
    ahead = size(text[: len(text) - len(text.lstrip())]) + mark * (line == 1)
    return Record(0, line, 1, (), fault, readable(text.strip()[:STUB]), ahead)


def _cells(line: str) -> list[tuple[int, str]]:
    """Return the cells of a line with their offsets; nothing for a blank line."""
    text = line if BAR in line else line.rstrip()
    begin = 0 if BAR in line else len(text) - len(text.lstrip())
    edges = [separator.span() for separator in (BARS if BAR in line else BLANKS).finditer(text, begin)]
    begins, ends = [begin, *(end for _, end in edges)], [*(start for start, _ in edges), len(text)]
    cells = [text[start:end] for start, end in zip(begins, ends, strict=True)]
    if not any(cell.strip() for cell in cells):
        return []
    return [(start + len(cell) - len(cell.lstrip()), cell.strip()) for start, cell in zip(begins, cells, strict=True)]


def _key(cell: str) -> str:
    match = CELL.fullmatch(cell)
    return match["key"] if match else ""


def _fault(cells: list[str], band: Sequence[_Block], begun: int) -> str:
    """Return why a line is malformed, empty if it is not. Excess empty cells at the end are removed."""
    while len(cells) > len(band) and not cells[-1]:
        cells.pop()
    if invalid := next((reason for cell in cells if (reason := fault(_key(cell) or cell))), ""):
        return invalid
    if begun and begun < len(cells):
        return "blocks begin beside something else"
    if not band:
        return "it stands in no block"
    if len(cells) != len(band):
        blocks = "1 block" if len(band) == 1 else f"{len(band)} blocks"
        return f"expected a cell for each of {blocks}, found {len(cells)}"
    wrong = next((cell for cell in cells if cell and not CELL.fullmatch(cell)), "")
    return f"expected `Key: value`, found `{wrong[:SHOWN]}`" if wrong else ""


def _add(cells: Sequence[str], band: Sequence[_Block], line: int) -> None:
    for cell, block in zip(cells, band, strict=True):
        if match := CELL.fullmatch(cell):
            key, value = match["key"], match["value"] or ""
            block.last = line
            block.size += len(cell.encode())
            if block.size >= LONGEST:  # the limit of rows of a table
                block.fault, value = TOO_LONG, ""
                block.said = dict.fromkeys(block.said, "")
                block.written = ["; ".join(block.written)[:STUB]]
            if key in block.said:
                block.fault = block.fault or f"`{key}` stands twice"
            block.said.setdefault(key, value)
            if block.fault != TOO_LONG:
                block.written.append(f"{key}: {value}")


def _record(block: _Block, columns: Sequence[str]) -> Record:
    cells = tuple(block.said.get(key, "") for key in columns)
    return Record(block.number, block.line, 1, cells, block.fault, readable("; ".join(block.written)), block.ahead)


def _first_line(plain: Path) -> str:
    with plain.open(encoding=ENCODING, errors="assay-substitute") as stream:
        return next((readable(line.strip())[:SHOWN] for line, _ in bounded(stream) if line.strip()), "")


READER = TableReader(lambda source: Blocks(source.begins), "text", "key")
