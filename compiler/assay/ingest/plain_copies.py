"""Log files as plain text for the scan of the engine: decompressed, and mended where the scan rejects them.

The decompression of the engine detects neither wrong checksums nor truncation, so it is not used.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TextIO

from assay.ingest.decompress import CHUNK, decompressed, packed, refused
from assay.ingest.invalid_text import NO_CHARACTER, SUBSTITUTE, fault_of_line, readable

LONGEST = 8 * 2**20  # bytes of a line; JSON of this size, however nested, is parsed within the memory limit
TOO_LONG = f"longer than {LONGEST // 2**20} MiB"
NUL = b"\0"
MARK = codecs.BOM_UTF8
RETURN, FEED = b"\r", b"\n"
LONE = re.compile(rb"\r[^\n]")
#: first byte of the column separator of the scan, and of no usual character, since its code point is the highest
SEPARATOR = chr(NO_CHARACTER).encode()[:1]
STUB = 2000  # bytes that remain of a line or row that is too long

_NULS = re.compile(rb"\n\0+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file.

    `number` counts from 1; `offset` is the place of its first byte in the uncompressed content, from 0; `size` its
    bytes without the line end; `text` its text, of a line that is too long the beginning; `fault` why its text is
    invalid (`invalid_text.fault_of_line`). NUL bytes before the line are not part of it.
    """

    number: int
    offset: int
    size: int
    text: str
    fault: str = ""


@dataclass(slots=True)
class _Place:
    """Position of a reader: the current line, its begin, its `offset` after NUL bytes, and its pieces so far."""

    number: int = 1
    begin: int = 0
    offset: int = 0
    size: int = 0
    kept: list[bytes] = field(default_factory=list)

    def add(self, piece: bytes) -> None:
        """Add a piece of the line up to the maximal length, without NUL bytes before the line."""
        if not self.size:
            bare = piece.lstrip(NUL)
            self.offset += len(piece) - len(bare)
            piece = bare
        if self.size < LONGEST:
            self.kept.append(piece[: LONGEST - self.size])
        self.size += len(piece)

    def line(self) -> Line:
        """Return the complete line."""
        content, offset = b"".join(self.kept), self.offset
        self.kept.clear()
        if not offset and content.startswith(MARK):  # may be followed by NUL bytes
            bare = content.removeprefix(MARK).lstrip(NUL)
            offset = len(content) - len(bare) if content != MARK + bare else 0
            content = bare
        text = content.rstrip(RETURN).decode("utf-8", errors="assay-substitute")
        return Line(self.number, offset, self.size, readable(text), fault_of_line(text))

    def next(self, offset: int, lines: int = 1) -> None:
        """Advance to a later line."""
        self.number, self.begin, self.offset, self.size = self.number + lines, offset, offset, 0
        self.kept.clear()


def lines_at(path: Path, numbers: Collection[int]) -> Iterator[Line]:
    """Yield lines of a file by their numbers, in order. Numbers beyond the end are ignored."""
    remaining = sorted(set(numbers), reverse=True)
    place, read = _Place(), 0
    for chunk in decompressed(path):
        if not remaining:
            return
        ends = chunk.count(b"\n")
        if place.number + ends < remaining[-1]:
            if ends:
                place.next(read + chunk.rindex(b"\n") + 1, ends)
        else:
            yield from _within(chunk, read, place, remaining)
        read += len(chunk)
    if remaining and remaining[-1] == place.number and read > place.begin:
        yield place.line()


def _within(chunk: bytes, begin: int, place: _Place, remaining: list[int]) -> Iterator[Line]:
    """Yield the next required lines that end in a chunk, and remove them from `remaining`."""
    pieces = chunk.split(b"\n")
    at = begin
    for piece in pieces[:-1]:
        at += len(piece) + 1
        if remaining and place.number == remaining[-1]:
            place.add(piece)
            yield place.line()
            remaining.pop()
        place.next(at)
    if remaining and place.number == remaining[-1]:
        place.add(pieces[-1])


def text_lines(path: Path, numbers: Collection[int]) -> dict[int, str]:
    """Return the texts of lines of a log file by their numbers, from 1; empty beyond the end."""
    texts = dict.fromkeys(numbers, "")
    return texts | {line.number: line.text for line in lines_at(path, numbers)}


def first_lines(path: Path, count: int) -> Iterator[bytes]:
    """Yield the first lines of a log file, at most `count`, without lines that are too long and without NUL bytes."""
    pieces: list[bytes] = []
    size = 0
    for chunk in decompressed(path):
        *ended, last = chunk.split(b"\n")
        for piece in ended:
            piece = piece if size else piece.lstrip(NUL)
            if size + len(piece) < LONGEST:
                yield _unmarked(b"".join([*pieces, piece]))
            pieces.clear()
            size = 0
            count -= 1
            if count <= 0:
                return
        last = last if size else last.lstrip(NUL)
        size += len(last)
        if size < LONGEST:
            pieces.append(last)
        else:
            pieces.clear()
    yield _unmarked(b"".join(pieces))


def _unmarked(line: bytes) -> bytes:
    """Return a line without a byte order mark and NUL bytes after it."""
    return line.removeprefix(MARK).lstrip(NUL)


def bounded(stream: TextIO) -> Iterator[tuple[str, int]]:
    """Yield the lines of a text with their ends, and for each the number of quotes in omitted text.

    Of a line that is too long, the part beyond the limit is omitted, including its end.
    """
    limit = LONGEST + len("\r\n")
    pending = ""
    while line := pending or stream.readline(limit):
        pending, quotes, rest = "", 0, line
        while len(rest) == limit and not rest.endswith(("\n", "\r")):
            rest = stream.readline(limit)
            quotes += rest.count('"')
        if len(rest) == limit and rest.endswith("\r"):
            pending = stream.readline(limit).removeprefix("\n")  # the rest of a line end, not a line
        yield line, quotes


def plain(path: Path, folder: Path, name: str) -> Path:
    """Return the file itself, or decompress it into a new file of the folder."""
    if not packed(path):
        return path
    place = folder / name
    with place.open("wb") as stream:
        for chunk in decompressed(path):
            stream.write(chunk)
    return place


def may_scan(path: Path) -> bool:
    """Return whether the scan reads the lines of a plain file correctly or rejects it, and not wrongly in silence.

    Raises AssayError if the file cannot be read.
    """
    try:
        return not ends_too_long(path) and _is_even(path)
    except OSError as error:
        raise refused(path, error) from None


def ends_too_long(path: Path) -> bool:
    """Return whether the last line is too long. The scan rejects such lines elsewhere, but may drop the last."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - LONGEST))
        return size >= LONGEST and b"\n" not in stream.read()[:-1]


def last_byte(plain: Path) -> bytes:
    """Return the last byte of a file, nothing for an empty one."""
    with plain.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        return stream.read()


def _is_even(path: Path) -> bool:
    """Return whether all lines of a plain file end alike, in LF or in CR LF, and none contains a column separator.

    The scan rejects most other files, but not all: a blank beside a CR makes two lines of one, and a column separator
    at the end of a line is dropped.
    """
    pending, ends = b"", set[bytes]()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            text = pending + chunk
            pending = RETURN if text.endswith(RETURN) else b""
            ends |= _line_ends(text[: len(text) - len(pending)])
            if SEPARATOR in text or RETURN in ends or len(ends) > 1:
                return False
    return not pending


def _line_ends(text: bytes) -> set[bytes]:
    """Return the line ends in a text that does not end in CR. A CR elsewhere counts as one."""
    if RETURN not in text:  # fast, and the usual case
        return {FEED} if FEED in text else set()
    if LONE.search(text):  # several times faster than counting
        return {RETURN}
    return {RETURN + FEED, FEED} if text.count(FEED) > text.count(RETURN) else {RETURN + FEED}


@dataclass(slots=True)
class _Copy:
    """State of a copy: begin and number of the current line, and the numbers of lines that are too long.

    `padded` is true while the line has only a NUL byte.
    """

    begin: int = 0
    number: int = 1
    padded: bool = False
    long: list[int] = field(default_factory=list)

    @property
    def cut(self) -> bool:
        """Return whether the current line is too long, so that the rest of it is omitted."""
        return bool(self.long) and self.long[-1] == self.number

    def next(self, begin: int, lines: int = 1) -> None:
        """Advance to a later line."""
        self.begin, self.number = begin, self.number + lines


def mended(path: Path, folder: Path, name: str) -> tuple[Path, tuple[int, ...]]:
    """Write a copy that the scan accepts; return its path and the numbers of truncated lines.

    Bytes that are not UTF-8 are replaced, and every line ends in LF. A CR within a line becomes a tab, which JSON
    allows and forbids in the same places. A truncated line is not JSON. Several NUL bytes before a line become one.
    """
    place = folder / name
    decoder = codecs.getincrementaldecoder("utf-8")("assay-substitute")
    pending, copy = "", _Copy()
    with place.open("w+b") as stream:
        for chunk in decompressed(path):
            text = pending + decoder.decode(chunk)
            pending = "\r" if text.endswith("\r") else ""
            _put(stream, copy, _mended(text[: len(text) - len(pending)]))
        _put(stream, copy, _mended(pending + decoder.decode(b"", final=True)))
    return place, tuple(copy.long)


def _mended(text: str) -> bytes:
    text = text.replace("\r\n", "\n").replace(chr(NO_CHARACTER), SUBSTITUTE)
    return text.replace("\r", "\t").encode("utf-8")


def _bare(text: bytes, begins: bool, copy: _Copy) -> bytes:
    """Reduce NUL bytes before each line of a piece to one; `begins` if the piece begins a line."""
    if copy.padded:
        text = text.lstrip(NUL)
    elif begins and text.startswith(NUL):
        text = NUL + text.lstrip(NUL)
    text = _NULS.sub(b"\n" + NUL, text)
    copy.padded = text.endswith(b"\n" + NUL) or (begins and text == NUL) or (copy.padded and not text)
    return text


def _put(stream: IO[bytes], copy: _Copy, text: bytes) -> None:
    """Write a piece of a copy, truncating lines that are too long."""
    before = stream.tell()
    text = _bare(text, before == copy.begin, copy)
    if not copy.cut and before + len(text) - copy.begin < LONGEST:
        stream.write(text)
        if b"\n" in text:
            copy.next(before + text.rindex(b"\n") + 1, text.count(b"\n"))
        return
    *ended, last = text.split(b"\n")
    for piece in ended:
        _add(stream, copy, piece)
        stream.write(b"\n")
        copy.next(stream.tell())
    _add(stream, copy, last)


def _add(stream: IO[bytes], copy: _Copy, piece: bytes) -> None:
    """Write a piece of a line; truncate the line to a stub once it is too long."""
    if copy.cut:
        return
    stream.write(piece)
    if stream.tell() - copy.begin >= LONGEST:
        copy.long.append(copy.number)
        stream.seek(copy.begin)
        stub = stream.read(STUB).decode("utf-8", errors="ignore") + SUBSTITUTE
        stream.seek(copy.begin)
        stream.truncate()
        stream.write(stub.encode("utf-8"))
