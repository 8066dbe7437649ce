"""Log files as plain text for the scan of the engine: decompressed, and repaired if the scan rejects them.

The decompression of the engine is not used, since it detects neither wrong checksums nor truncation.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TextIO

from assay.ingest.decompress import CHUNK, build_access_error, is_compressed, iter_decompressed
from assay.ingest.invalid_text import NO_CHARACTER, SUBSTITUTE, find_line_fault, make_readable

LONGEST = 8 * 2**20  # bytes of a line; JSON of this size, however nested, is parsed within the memory limit
TOO_LONG = f"longer than {LONGEST // 2**20} MiB"
NUL = b"\0"
MARK = codecs.BOM_UTF8
RETURN, FEED = b"\r", b"\n"
LONE = re.compile(rb"\r[^\n]")
#: first byte of the column separator of the scan; rare otherwise, since the separator is the last code point
SEPARATOR = chr(NO_CHARACTER).encode()[:1]
STUB = 2000  # bytes that remain of a line or row that is too long
#: maximal bytes of a file that is joined with others, and of all of them on average: the scan of a file alone takes as
#: long as that of so many bytes
JOINED, JOINED_AVERAGE = 4 * 2**20, 16 * 2**10

_NULS = re.compile(rb"\n\0+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file.

    `number` counts from 1. `offset` is the offset of its first byte in the uncompressed content, from 0. `size` is its
    size in bytes without the line end. `text` is its text, only the beginning if it is too long. `fault` is the reason
    why its text is invalid, from `find_line_fault`. NUL bytes before the line are not part of it.
    """

    number: int
    offset: int
    size: int
    text: str
    fault: str = ""


@dataclass(slots=True)
class _ReaderPosition:
    """Position of a reader: the current line, its begin, its `offset` after NUL bytes, its size and pieces so far."""

    number: int = 1
    begin: int = 0
    offset: int = 0
    size: int = 0
    pieces: list[bytes] = field(default_factory=list)

    def add(self, piece: bytes) -> None:
        """Add a piece of the line up to the maximal length, without NUL bytes before the line."""
        if not self.size:
            stripped = piece.lstrip(NUL)
            self.offset += len(piece) - len(stripped)
            piece = stripped
        if self.size < LONGEST:
            self.pieces.append(piece[: LONGEST - self.size])
        self.size += len(piece)

    def build_line(self) -> Line:
        """Return the complete line."""
        content, offset = b"".join(self.pieces), self.offset
        self.pieces.clear()
        if not offset and content.startswith(MARK):  # may be followed by NUL bytes
            stripped = content.removeprefix(MARK).lstrip(NUL)
            offset = len(content) - len(stripped) if content != MARK + stripped else 0
            content = stripped
        text = content.rstrip(RETURN).decode("utf-8", errors="assay-substitute")
        return Line(self.number, offset, self.size, make_readable(text), find_line_fault(text))

    def advance(self, offset: int, lines: int = 1) -> None:
        """Advance to a later line."""
        self.number, self.begin, self.offset, self.size = self.number + lines, offset, offset, 0
        self.pieces.clear()


def read_lines(path: Path, numbers: Collection[int]) -> Iterator[Line]:
    """Yield lines of a file by their numbers, in order. Numbers beyond the end are ignored."""
    remaining = sorted(set(numbers), reverse=True)
    position, read_size = _ReaderPosition(), 0
    for chunk in iter_decompressed(path):
        if not remaining:
            return
        ends = chunk.count(b"\n")
        if position.number + ends < remaining[-1]:
            if ends:
                position.advance(read_size + chunk.rindex(b"\n") + 1, ends)
        else:
            yield from _iter_chunk_lines(chunk, read_size, position, remaining)
        read_size += len(chunk)
    if remaining and remaining[-1] == position.number and read_size > position.begin:
        yield position.build_line()


def _iter_chunk_lines(chunk: bytes, begin: int, position: _ReaderPosition, remaining: list[int]) -> Iterator[Line]:
    """Yield the next required lines that end in a chunk, and remove them from `remaining`."""
    pieces = chunk.split(b"\n")
    end = begin
    for piece in pieces[:-1]:
        end += len(piece) + 1
        if remaining and position.number == remaining[-1]:
            position.add(piece)
            yield position.build_line()
            remaining.pop()
        position.advance(end)
    if remaining and position.number == remaining[-1]:
        position.add(pieces[-1])


def read_texts(path: Path, numbers: Collection[int]) -> dict[int, str]:
    """Return the texts of lines of a log file by their numbers, from 1; empty for numbers beyond the end."""
    texts = dict.fromkeys(numbers, "")
    return texts | {line.number: line.text for line in read_lines(path, numbers)}


def read_raw_lines(path: Path, numbers: Collection[int]) -> dict[int, bytes]:
    """Return lines of a file as they are, with their ends, by their numbers from 1. Others are left out."""
    lines: dict[int, bytes] = {}
    remaining = sorted(set(numbers), reverse=True)
    number, begun = 1, b""
    for chunk in iter_decompressed(path):
        if not remaining:
            return lines
        ends = chunk.count(FEED)
        if number + ends < remaining[-1]:
            number, begun = number + ends, b""
            continue
        *complete, last = (begun + chunk).split(FEED)
        for line in complete:
            if remaining and remaining[-1] == number:
                lines[remaining.pop()] = line + FEED
            number += 1
        begun = last
    return lines | ({number: begun} if begun and remaining and remaining[-1] == number else {})


def read_first_lines(path: Path, count: int) -> Iterator[bytes]:
    """Yield the first lines of a log file, at most `count`, without lines that are too long and without NUL bytes."""
    return (line for _, line in number_first_lines(path, count))


def number_first_lines(path: Path, count: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of `read_first_lines` with their numbers, from 1."""
    pieces: list[bytes] = []
    size, number = 0, 1
    for chunk in iter_decompressed(path):
        *complete, last = chunk.split(b"\n")
        for piece in complete:
            piece = piece if size else piece.lstrip(NUL)
            if size + len(piece) < LONGEST:
                yield number, _strip_mark(b"".join([*pieces, piece]))
            pieces.clear()
            size = 0
            number += 1
            if number > count:
                return
        last = last if size else last.lstrip(NUL)
        size += len(last)
        if size < LONGEST:
            pieces.append(last)
        else:
            pieces.clear()
    yield number, _strip_mark(b"".join(pieces))


def _strip_mark(line: bytes) -> bytes:
    """Return a line without a byte order mark and NUL bytes after it."""
    return line.removeprefix(MARK).lstrip(NUL)


def iter_bounded_lines(stream: TextIO) -> Iterator[tuple[str, int]]:
    """Yield the lines of a text with their ends, each with the number of quotes in omitted text.

    The part of a line beyond the limit is omitted, including its end.
    """
    limit = LONGEST + len("\r\n")
    pending = ""
    while line := pending or stream.readline(limit):
        pending, quotes, remainder = "", 0, line
        while len(remainder) == limit and not remainder.endswith(("\n", "\r")):
            remainder = stream.readline(limit)
            quotes += remainder.count('"')
        if len(remainder) == limit and remainder.endswith("\r"):
            pending = stream.readline(limit).removeprefix("\n")  # the rest of a line end, not a line
        yield line, quotes


def decompress_file(path: Path, folder: Path, name: str) -> Path:
    """Return the file itself, or decompress it into a new file of the folder."""
    if not is_compressed(path):
        return path
    target = folder / name
    with target.open("wb") as stream:
        for chunk in iter_decompressed(path):
            stream.write(chunk)
    return target


def can_scan(path: Path) -> bool:
    """Return whether the scan reads the lines of a plain file correctly or rejects it, but never reads wrong lines.

    Raises AssayError if the file cannot be read.
    """
    try:
        return not has_too_long_end(path) and _has_uniform_line_ends(path)
    except OSError as error:
        raise build_access_error(path, error) from None


def join_small_files(paths: Sequence[Path], target: Path) -> Path | None:
    """Write the lines of plain files into one file, each after the index of its file and a column separator.

    Return None if the files are few or large, or if the scan may read wrong lines. Raises AssayError if one cannot be
    read.
    """
    rest = JOINED_AVERAGE * len(paths)
    if len(paths) < 2:
        return None
    with target.open("wb") as stream:
        for index, path in enumerate(paths):
            text = _read_small_file(path)
            rest -= len(text)
            if rest < 0 or len(text) > JOINED or not _are_uniform_line_ends([text]):
                return None
            if lines := text.removeprefix(MARK).replace(RETURN + FEED, FEED):
                start = b"%d" % index + chr(NO_CHARACTER).encode()
                stream.write(start + lines.removesuffix(FEED).replace(FEED, FEED + start) + FEED)
    return target


def _read_small_file(path: Path) -> bytes:
    """Return the content of a file, a byte too much if it is not small."""
    try:
        with path.open("rb") as stream:
            return stream.read(JOINED + 1)
    except OSError as error:
        raise build_access_error(path, error) from None


def has_too_long_end(path: Path) -> bool:
    """Return whether the last line is too long. The scan may drop it, but rejects such lines elsewhere."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - LONGEST))
        return size >= LONGEST and b"\n" not in stream.read()[:-1]


def read_last_byte(path: Path) -> bytes:
    """Return the last byte of a file, no byte of an empty file."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        return stream.read()


def _has_uniform_line_ends(path: Path) -> bool:
    with path.open("rb") as stream:
        return _are_uniform_line_ends(iter(lambda: stream.read(CHUNK), b""))


def _are_uniform_line_ends(chunks: Iterable[bytes]) -> bool:
    """Return whether all lines of a plain text end alike, in LF or in CR LF, and none contains a column separator.

    The scan rejects most other files, but not all: it splits a line at a CR next to a blank, and drops a column
    separator at the end of a line.
    """
    pending, ends = b"", set[bytes]()
    for chunk in chunks:
        text = pending + chunk
        pending = RETURN if text.endswith(RETURN) else b""
        ends |= _find_line_ends(text[: len(text) - len(pending)])
        if SEPARATOR in text or RETURN in ends or len(ends) > 1:
            return False
    return not pending


def _find_line_ends(text: bytes) -> set[bytes]:
    """Return the kinds of line ends in a text that does not end in CR. A CR without LF is one kind."""
    if RETURN not in text:  # fast, and the usual case
        return {FEED} if FEED in text else set()
    if LONE.search(text):  # several times faster than counting
        return {RETURN}
    return {RETURN + FEED, FEED} if text.count(FEED) > text.count(RETURN) else {RETURN + FEED}


@dataclass(slots=True)
class _Copy:
    """State of a copy: begin and number of the current line, and the numbers of lines that are too long.

    `is_padded` is true while the line has only a NUL byte.
    """

    begin: int = 0
    number: int = 1
    is_padded: bool = False
    long_lines: list[int] = field(default_factory=list)

    @property
    def is_truncated(self) -> bool:
        """Return whether the current line is too long, so that its rest is omitted."""
        return bool(self.long_lines) and self.long_lines[-1] == self.number

    def advance(self, begin: int, lines: int = 1) -> None:
        """Advance to a later line."""
        self.begin, self.number = begin, self.number + lines


def create_repaired_copy(path: Path, folder: Path, name: str) -> tuple[Path, tuple[int, ...]]:
    """Write a copy that the scan accepts; return its path and the numbers of truncated lines.

    Bytes that are not UTF-8 are replaced, and every line ends in LF. A CR within a line becomes a tab, since JSON
    allows both in the same places. A line that is too long is truncated so that it is not JSON. Several NUL bytes
    before a line become one.
    """
    target = folder / name
    decoder = codecs.getincrementaldecoder("utf-8")("assay-substitute")
    pending, copy = "", _Copy()
    with target.open("w+b") as stream:
        for chunk in iter_decompressed(path):
            text = pending + decoder.decode(chunk)
            pending = "\r" if text.endswith("\r") else ""
            _write_text(stream, copy, _repair_text(text[: len(text) - len(pending)]))
        _write_text(stream, copy, _repair_text(pending + decoder.decode(b"", final=True)))
    return target, tuple(copy.long_lines)


def _repair_text(text: str) -> bytes:
    text = text.replace("\r\n", "\n").replace(chr(NO_CHARACTER), SUBSTITUTE)
    return text.replace("\r", "\t").encode("utf-8")


def _reduce_nul_bytes(text: bytes, is_line_start: bool, copy: _Copy) -> bytes:
    """Reduce NUL bytes before each line of a piece to one; `is_line_start` if the piece begins a line."""
    if copy.is_padded:
        text = text.lstrip(NUL)
    elif is_line_start and text.startswith(NUL):
        text = NUL + text.lstrip(NUL)
    text = _NULS.sub(b"\n" + NUL, text)
    copy.is_padded = text.endswith(b"\n" + NUL) or (is_line_start and text == NUL) or (copy.is_padded and not text)
    return text


def _write_text(stream: IO[bytes], copy: _Copy, text: bytes) -> None:
    """Write a piece of a copy, truncating lines that are too long."""
    position = stream.tell()
    text = _reduce_nul_bytes(text, position == copy.begin, copy)
    if not copy.is_truncated and position + len(text) - copy.begin < LONGEST:
        stream.write(text)
        if b"\n" in text:
            copy.advance(position + text.rindex(b"\n") + 1, text.count(b"\n"))
        return
    *complete, last = text.split(b"\n")
    for piece in complete:
        _write_piece(stream, copy, piece)
        stream.write(b"\n")
        copy.advance(stream.tell())
    _write_piece(stream, copy, last)


def _write_piece(stream: IO[bytes], copy: _Copy, piece: bytes) -> None:
    """Write a piece of a line; truncate the line to a stub once it is too long."""
    if copy.is_truncated:
        return
    stream.write(piece)
    if stream.tell() - copy.begin >= LONGEST:
        copy.long_lines.append(copy.number)
        stream.seek(copy.begin)
        stub = stream.read(STUB).decode("utf-8", errors="ignore") + SUBSTITUTE
        stream.seek(copy.begin)
        stream.truncate()
        stream.write(stub.encode("utf-8"))
