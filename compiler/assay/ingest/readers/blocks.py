"""Files of blocks: lines `Key: value`, the blocks one below another or side by side.

A block begins with its first key. The line at which blocks begin determines how many are side by side. Each later line
has a cell for each of these blocks, in order. Cells are separated by bars (`│`), and may then be empty, or else by two
or more blanks or a tab. Columns are not always aligned, so the position in the line has no meaning.

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

from assay.ingest.invalid_text import BOM, NUL, find_fault, make_readable, measure_size
from assay.ingest.plain_copies import LONGEST, STUB, TOO_LONG, iter_bounded_lines, read_last_byte
from assay.ingest.readers.csv import TableReader
from assay.ingest.readers.csv_text import ENCODING, Record, is_too_long
from assay.util.diagnostics import fail
from assay.util.regex import BLANK, WHITE_SPACE, WHITE_SPACE_ESCAPES

BAR = "│"
BARS = re.compile(BAR)
#: separator of cells; not after a colon, since the gap between a key and its value may be as wide
BLANKS = re.compile(rf"(?<![:{WHITE_SPACE_ESCAPES}])(?:{BLANK}{{2,}}|\t)")
CELL = re.compile(rf"(?P<key>[^:]*[^:{WHITE_SPACE_ESCAPES}]){BLANK}*:(?:{BLANK}+(?P<value>.*))?")
EXCERPT_LENGTH = 80


@dataclass(slots=True)
class _Block:
    """A block during reading.

    `bytes_before` are the bytes before it in its first line, `line`. `size` is the size of its cells in bytes, `values`
    are its values by key, `pair_texts` its pairs as text. If it is malformed, `fault` is the reason.
    """

    number: int
    line: int
    bytes_before: int
    last_line: int = 0
    size: int = 0
    values: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    pair_texts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Files whose blocks begin with the key `begins`, read as rows of a table whose columns are the keys."""

    begins: str

    def read_header(self, path: Path, plain: Path) -> tuple[str, ...]:
        """Return all keys of the blocks of a file. Raises AssayError if it has no block."""
        keys = dict.fromkeys(key for block, _ in self._read(plain) if block for key in block.values)
        if not keys:
            raise fail(
                "no-block",
                f"the text has no block: {path}",
                expected=f"a line that begins with `{self.begins}:`",
                found=_read_first_line(plain) or "nothing",
            )
        return tuple(keys)

    def write_repaired_copy(self, path: Path, plain: Path, copy: Path) -> list[Record]:
        """Write the blocks of a file as a table with row numbers; return the malformed records, which are left out."""
        columns, malformed_records = self.read_header(path, plain), []
        with copy.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["", *columns])
            for block, malformed_line in self._read(plain):
                if malformed_line:
                    malformed_records.append(malformed_line)
                elif block and block.fault:
                    malformed_records.append(_create_record(block, columns))
                elif block:
                    writer.writerow([block.number, *(block.values.get(key, "") for key in columns)])
        return malformed_records

    def find_records(self, path: Path, plain: Path, numbers: Sequence[int]) -> dict[int, Record]:
        """Return some blocks of a file by their numbers."""
        required, columns = set(numbers), self.read_header(path, plain)
        return {
            block.number: _create_record(block, columns)
            for block, _ in self._read(plain)
            if block and block.number in required
        }

    def find_unterminated_column(self, plain: Path, _: Sequence[str]) -> str:
        """Return the key of the last value of a file without a final line end, else an empty text."""
        if read_last_byte(plain) in (b"\n", b"\r"):
            return ""
        with plain.open(encoding=ENCODING, errors="assay-substitute") as stream:
            lines = sum(1 for _ in iter_bounded_lines(stream))
        last_block = [block for block, _ in self._read(plain) if block][-1]
        return list(last_block.values)[-1] if last_block.last_line == lines else ""

    def _read(self, plain: Path) -> Iterator[tuple[_Block | None, Record | None]]:
        """Yield the blocks of a file, and its malformed lines."""
        bom_size = _get_bom_size(plain)
        with plain.open(encoding=ENCODING, errors="assay-substitute") as stream:
            # None before the first block, empty after a malformed first line of blocks.
            current_blocks: list[_Block] | None = None
            number = 0
            for line, (text, _) in enumerate(iter_bounded_lines(stream), start=1):
                if is_too_long(text):
                    yield None, _create_malformed_record(text, line, TOO_LONG, bom_size)
                    continue
                cells_with_offsets = _split_cells(text)
                cells = [cell for _, cell in cells_with_offsets]
                new_block_count = sum(_parse_key(cell).lstrip(BOM + NUL) == self.begins for cell in cells)
                if new_block_count:
                    yield from ((block, None) for block in current_blocks or [])
                    before = [measure_size(text[:place]) + bom_size * (line == 1) for place, _ in cells_with_offsets]
                    current_blocks = [
                        _Block(number + index, line, before[index - 1]) for index in range(1, new_block_count + 1)
                    ]
                    number += new_block_count
                if current_blocks is None or not cells:
                    continue
                if fault_text := _find_fault(cells, current_blocks, new_block_count):
                    yield None, _create_malformed_record(text, line, fault_text, bom_size)
                    current_blocks = [] if new_block_count else current_blocks
                else:
                    _add_cells(cells, current_blocks, line)
            yield from ((block, None) for block in current_blocks or [])


def _get_bom_size(plain: Path) -> int:
    """Return the size of the byte order mark of a file."""
    with plain.open("rb") as stream:
        return len(codecs.BOM_UTF8) if stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0


def _create_malformed_record(text: str, line: int, fault: str, bom_size: int) -> Record:
    """Return a malformed line as a record, without blanks around it."""
    bytes_before = measure_size(text[: len(text) - len(text.lstrip(WHITE_SPACE))]) + bom_size * (line == 1)
    return Record(0, line, 1, (), fault, make_readable(text.strip(WHITE_SPACE)[:STUB]), bytes_before)


def _split_cells(line: str) -> list[tuple[int, str]]:
    """Return the cells of a line with their offsets; nothing for a blank line."""
    text = line if BAR in line else line.rstrip(WHITE_SPACE)
    begin = 0 if BAR in line else len(text) - len(text.lstrip(WHITE_SPACE))
    edges = [separator.span() for separator in (BARS if BAR in line else BLANKS).finditer(text, begin)]
    begins, ends = [begin, *(end for _, end in edges)], [*(start for start, _ in edges), len(text)]
    cells = [text[start:end] for start, end in zip(begins, ends, strict=True)]
    if not any(cell.strip(WHITE_SPACE) for cell in cells):
        return []
    return [
        (start + len(cell) - len(cell.lstrip(WHITE_SPACE)), cell.strip(WHITE_SPACE))
        for start, cell in zip(begins, cells, strict=True)
    ]


def _parse_key(cell: str) -> str:
    match = CELL.fullmatch(cell)
    return match["key"] if match else ""


def _find_fault(cells: list[str], current_blocks: Sequence[_Block], new_block_count: int) -> str:
    """Return why a line is malformed, empty if it is not. Remove excess empty cells at the end from `cells`."""
    while len(cells) > len(current_blocks) and not cells[-1]:
        cells.pop()
    if invalid := next((reason for cell in cells if (reason := find_fault(_parse_key(cell) or cell))), ""):
        return invalid
    if new_block_count and new_block_count < len(cells):
        return "a block begins beside another cell"
    if not current_blocks:
        return "outside of all blocks"
    if len(cells) != len(current_blocks):
        blocks = "1 block" if len(current_blocks) == 1 else f"{len(current_blocks)} blocks"
        return f"expected a cell for each of {blocks}, found {len(cells)}"
    wrong = next((cell for cell in cells if cell and not CELL.fullmatch(cell)), "")
    return f"expected `Key: value`, found `{wrong[:EXCERPT_LENGTH]}`" if wrong else ""


def _add_cells(cells: Sequence[str], current_blocks: Sequence[_Block], line: int) -> None:
    for cell, block in zip(cells, current_blocks, strict=True):
        if match := CELL.fullmatch(cell):
            key, value = match["key"], match["value"] or ""
            block.last_line = line
            block.size += len(cell.encode())
            if block.size >= LONGEST:  # the limit of rows of a table
                block.fault, value = TOO_LONG, ""
                block.values = dict.fromkeys(block.values, "")
                block.pair_texts = ["; ".join(block.pair_texts)[:STUB]]
            if key in block.values:
                block.fault = block.fault or f"duplicate key `{key}`"
            block.values.setdefault(key, value)
            if block.fault != TOO_LONG:
                block.pair_texts.append(f"{key}: {value}")


def _create_record(block: _Block, columns: Sequence[str]) -> Record:
    cells = tuple(block.values.get(key, "") for key in columns)
    return Record(
        block.number, block.line, 1, cells, block.fault, make_readable("; ".join(block.pair_texts)), block.bytes_before
    )


def _read_first_line(plain: Path) -> str:
    with plain.open(encoding=ENCODING, errors="assay-substitute") as stream:
        return next(
            (
                make_readable(line.strip(WHITE_SPACE))[:EXCERPT_LENGTH]
                for line, _ in iter_bounded_lines(stream)
                if line.strip(WHITE_SPACE)
            ),
            "",
        )


READER = TableReader(lambda source: Blocks(source.begins), "text", "key")
