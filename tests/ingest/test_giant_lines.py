"""Test that lines of any length are counted and reported, and are not held in memory."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.ingest import plain_copies
from assay.ingest.plain_copies import LONGEST, TOO_LONG, has_too_long_end, iter_bounded_lines
from assay.ingest.readers import csv_text
from assay.ingest.readers.blocks import Blocks
from assay.util.diagnostics import AssayError

GIANT = 150 * 2**20
MAX_BYTES = 120 * 2**20  # bytes that a reader may hold: some copies of the stored start of a line, but no giant line


def write_giant_line(place: Path, before: bytes, after: bytes) -> Path:
    """Write a file with a giant line between others."""
    with place.open("wb") as stream:
        stream.write(before)
        for _ in range(GIANT // 2**20):
            stream.write(b"x" * 2**20)
        stream.write(after)
    return place


def measure_peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("cell", [(b"", b""), (b'"', b'"'), (b'1,"', b'\n"')])
def test_giant_row_of_a_table_is_broken_alone(tmp_path: Path, cell: tuple[bytes, bytes]) -> None:
    place = write_giant_line(tmp_path / "a.csv", b"a,b\n1,2\n" + cell[0], cell[1] + b"\r\n3,4\n")
    rows: list[csv_text.Record] = []
    assert measure_peak(lambda: rows.extend(csv_text.iter_records(place, place))) < MAX_BYTES
    lines = cell[1].count(b"\n") + 1
    assert [(row.number, row.line, row.lines, row.cells, row.fault) for row in rows] == [
        (0, 1, 1, ("a", "b"), ""),
        (1, 2, 1, ("1", "2"), ""),
        (2, 3, lines, (), TOO_LONG if lines == 1 else f"{TOO_LONG} (a row of {lines} lines)"),
        (3, 3 + lines, 1, ("3", "4"), ""),
    ]


def test_giant_line_of_blocks_is_broken_alone(tmp_path: Path) -> None:
    place = write_giant_line(tmp_path / "a.txt", b"Id: 1\nN: ", b"\nM: 2\n")
    blocks, result = Blocks("Id"), []
    assert measure_peak(lambda: result.extend(blocks.write_repaired_copy(place, place, tmp_path / "copy"))) < MAX_BYTES
    assert [(row.line, row.lines, row.fault) for row in result] == [(2, 1, TOO_LONG)]
    assert (tmp_path / "copy").read_text(encoding="utf-8") == ",Id,M\n1,1,2\n"


def test_text_without_blocks_shows_a_short_beginning(tmp_path: Path) -> None:
    place = write_giant_line(tmp_path / "a.txt", b"\n\n", b"\n")

    def read_header() -> None:
        with pytest.raises(AssayError, match=f"found:    {'x' * 80}$"):
            Blocks("Id").read_header(place, place)

    assert measure_peak(read_header) < MAX_BYTES


ENDS = st.sampled_from(["\n", "\r", "\r\n"])


@given(st.lists(st.tuples(st.text(alphabet='a"', max_size=25), ENDS)), st.text(alphabet='a"', max_size=25))
@example(
    [("a" * 9, "\r\n"), ('"' * 10, "\r\n"), ("a" * 11, "\r\n"), ("a" * 12, "\r\n"), ("", "\r"), ("a" * 11, "\r")], ""
)
def test_only_long_lines_are_cut(lines: list[tuple[str, str]], last: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_copies, "LONGEST", 10)
        text = "".join(line + end for line, end in lines) + last
        expected_lines = list(io.StringIO(text, newline=""))
        result = list(iter_bounded_lines(io.StringIO(text, newline="")))
    assert len(result) == len(expected_lines)
    for (visible_text, quotes), expected_line in zip(result, expected_lines, strict=True):
        assert visible_text == expected_line[:12]
        assert quotes == expected_line[12:].count('"')
        assert visible_text == expected_line or len(expected_line.rstrip("\r\n")) > 10


@pytest.mark.parametrize(
    ("before", "size", "after", "is_too_long"),
    [
        (b"", LONGEST - 1, b"", False),
        (b"", LONGEST, b"", True),
        (b"", LONGEST, b"\n", True),
        (b"a\n", LONGEST - 2, b"\n", False),
        (b"a\n", LONGEST, b"", True),
        (b"a" * LONGEST + b"\n", 9, b"\n", False),
    ],
    ids=["short", "long", "long-ended", "short-last", "long-last", "long-first"],
)
def test_only_a_long_last_line_is_too_long(
    tmp_path: Path, before: bytes, size: int, after: bytes, is_too_long: bool
) -> None:
    place = tmp_path / "log"
    place.write_bytes(before + b"x" * size + after)
    assert has_too_long_end(place) == is_too_long
