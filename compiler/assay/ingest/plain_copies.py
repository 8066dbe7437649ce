"""Log files as plain text that the engine can scan: decompressed, and mended where the scan refuses them.

The engine's own decompression notices neither a wrong checksum nor an end that is missing, so it is not used.
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

LONGEST = 8 * 2**20  # bytes of a line: so much of JSON, however it nests, is parsed in the memory that there is
TOO_LONG = f"longer than {LONGEST // 2**20} MiB"
NUL = b"\0"
MARK = codecs.BOM_UTF8
RETURN, FEED = b"\r", b"\n"
LONE = re.compile(rb"\r[^\n]")
#: how what separates columns in the scan begins, and no character that is likely: none has a code that is higher
SEPARATOR = chr(NO_CHARACTER).encode()[:1]
STUB = 2000  # bytes that are kept of a line, or row, that is too long

_NULS = re.compile(rb"\n\0+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number from 1, the place of its first byte in the uncompressed content from 0, how many
    bytes it has without its end, its text (of a line that is too long its beginning), what stands in it that no text
    holds (`strange.fault_of_line`).  NUL bytes ahead of it are no part of it."""

    number: int
    offset: int
    size: int
    text: str
    fault: str = ""


@dataclass(slots=True)
class _Place:
    """Where a reader of a file is: the line that it is in, where that begins (`offset`: behind NUL bytes), what is kept
    of it."""

    number: int = 1
    begin: int = 0
    offset: int = 0
    size: int = 0
    kept: list[bytes] = field(default_factory=list)

    def add(self, piece: bytes) -> None:
        """Keep a piece of the line, as far as a line may be long; it begins behind NUL bytes ahead of it."""
        if not self.size:
            bare = piece.lstrip(NUL)
            self.offset += len(piece) - len(bare)
            piece = bare
        if self.size < LONGEST:
            self.kept.append(piece[: LONGEST - self.size])
        self.size += len(piece)

    def line(self) -> Line:
        """The line, whole."""
        content, offset = b"".join(self.kept), self.offset
        self.kept.clear()
        if not offset and content.startswith(MARK):  # behind which there may be NUL bytes, too
            bare = content.removeprefix(MARK).lstrip(NUL)
            offset = len(content) - len(bare) if content != MARK + bare else 0
            content = bare
        text = content.rstrip(RETURN).decode("utf-8", errors="assay-substitute")
        return Line(self.number, offset, self.size, readable(text), fault_of_line(text))

    def next(self, offset: int, lines: int = 1) -> None:
        """Go on to a later line."""
        self.number, self.begin, self.offset, self.size = self.number + lines, offset, offset, 0
        self.kept.clear()


def lines_at(path: Path, numbers: Collection[int]) -> Iterator[Line]:
    """Some lines of a file by their numbers, in order; those that it does not have are left out."""
    asked = sorted(set(numbers), reverse=True)
    place, read = _Place(), 0
    for chunk in decompressed(path):
        if not asked:
            return
        ends = chunk.count(b"\n")
        if place.number + ends < asked[-1]:
            if ends:
                place.next(read + chunk.rindex(b"\n") + 1, ends)
        else:
            yield from _within(chunk, read, place, asked)
        read += len(chunk)
    if asked and asked[-1] == place.number and read > place.begin:
        yield place.line()


def _within(chunk: bytes, begin: int, place: _Place, asked: list[int]) -> Iterator[Line]:
    """The lines that are asked for next and end in a piece of a file; those are asked for no more."""
    pieces = chunk.split(b"\n")
    at = begin
    for piece in pieces[:-1]:
        at += len(piece) + 1
        if asked and place.number == asked[-1]:
            place.add(piece)
            yield place.line()
            asked.pop()
        place.next(at)
    if asked and place.number == asked[-1]:
        place.add(pieces[-1])


def text_lines(path: Path, numbers: Collection[int]) -> dict[int, str]:
    """The texts of some lines of a log file by their numbers, which count from 1."""
    found = dict.fromkeys(numbers, "")
    return found | {line.number: line.text for line in lines_at(path, numbers)}


def first_lines(path: Path, count: int) -> Iterator[bytes]:
    """The first lines of a log file, at most so many, without those that are too long, and without NUL bytes ahead."""
    held: list[bytes] = []
    size = 0
    for chunk in decompressed(path):
        *ended, last = chunk.split(b"\n")
        for piece in ended:
            piece = piece if size else piece.lstrip(NUL)
            if size + len(piece) < LONGEST:
                yield _unmarked(b"".join([*held, piece]))
            held.clear()
            size = 0
            count -= 1
            if count <= 0:
                return
        last = last if size else last.lstrip(NUL)
        size += len(last)
        if size < LONGEST:
            held.append(last)
        else:
            held.clear()
    yield _unmarked(b"".join(held))


def _unmarked(line: bytes) -> bytes:
    """A line without a mark of the byte order ahead of it, and without NUL bytes behind that."""
    return line.removeprefix(MARK).lstrip(NUL)


def bounded(stream: TextIO) -> Iterator[tuple[str, int]]:
    """The lines of a text with their ends, and of each how many quotes are left out: of a line that is too long only
    so much is held that it is seen to be, and neither the rest of it nor its end."""
    limit = LONGEST + len("\r\n")
    held = ""
    while line := held or stream.readline(limit):
        held, quotes, rest = "", 0, line
        while len(rest) == limit and not rest.endswith(("\n", "\r")):
            rest = stream.readline(limit)
            quotes += rest.count('"')
        if len(rest) == limit and rest.endswith("\r"):
            held = stream.readline(limit).removeprefix("\n")  # which alone would be a line by itself
        yield line, quotes


def plain(path: Path, folder: Path, name: str) -> Path:
    """The file itself, or, of a compressed one, its content as a new file of the folder."""
    if not packed(path):
        return path
    place = folder / name
    with place.open("wb") as stream:
        for chunk in decompressed(path):
            stream.write(chunk)
    return place


def may_scan(path: Path) -> bool:
    """Whether the scan reads the lines of a plain file, or refuses it; of some it would make other lines in silence.

    AssayError when the file cannot be read.
    """
    try:
        return not ends_too_long(path) and _is_even(path)
    except OSError as error:
        raise refused(path, error) from None


def ends_too_long(path: Path) -> bool:
    """Whether the last line of a plain file is too long: within a file the scan refuses it, there it may drop it."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - LONGEST))
        return size >= LONGEST and b"\n" not in stream.read()[:-1]


def last_byte(plain: Path) -> bytes:
    """The last byte of a file; none of an empty one."""
    with plain.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        return stream.read()


def _is_even(path: Path) -> bool:
    """Whether all lines of a plain file end in a line feed, or all in a carriage return and one, and nothing in them
    may be taken for what separates columns.

    Of other files the scan refuses most, but not all: a blank beside a carriage return makes two lines of one, and what
    separates columns is dropped where it ends a line.
    """
    held, found = b"", set[bytes]()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            text = held + chunk
            held = RETURN if text.endswith(RETURN) else b""
            found |= _line_ends(text[: len(text) - len(held)])
            if SEPARATOR in text or RETURN in found or len(found) > 1:
                return False
    return not held


def _line_ends(text: bytes) -> set[bytes]:
    """What ends lines in a text, which does not end in a carriage return; one elsewhere is told as if it did."""
    if RETURN not in text:  # which is found out swiftly, and mostly so
        return {FEED} if FEED in text else set()
    if LONE.search(text):  # several times as swift as to count them
        return {RETURN}
    return {RETURN + FEED, FEED} if text.count(FEED) > text.count(RETURN) else {RETURN + FEED}


@dataclass(slots=True)
class _Copy:
    """A copy being written: where its line begins, its number, whether nothing but a NUL byte stands in it yet, and the
    lines that are too long."""

    begin: int = 0
    number: int = 1
    padded: bool = False
    long: list[int] = field(default_factory=list)

    @property
    def cut(self) -> bool:
        """Whether the line is one that is too long, of which nothing more is written."""
        return bool(self.long) and self.long[-1] == self.number

    def next(self, begin: int, lines: int = 1) -> None:
        """Go on to a later line."""
        self.begin, self.number = begin, self.number + lines


def mended(path: Path, folder: Path, name: str) -> tuple[Path, tuple[int, ...]]:
    """A copy that scans, and the numbers of the lines that are too long, of which it has the beginning alone.

    Bytes that are no UTF-8 are replaced, every line is ended by a line feed alone.  A carriage return within a line
    becomes a tab, which JSON allows and forbids at the same places.  What is left of a line that is too long is no
    JSON.  Of NUL bytes ahead of a line one is left.
    """
    place = folder / name
    decoder = codecs.getincrementaldecoder("utf-8")("assay-substitute")
    held, copy = "", _Copy()
    with place.open("w+b") as stream:
        for chunk in decompressed(path):
            text = held + decoder.decode(chunk)
            held = "\r" if text.endswith("\r") else ""
            _put(stream, copy, _mended(text[: len(text) - len(held)]))
        _put(stream, copy, _mended(held + decoder.decode(b"", final=True)))
    return place, tuple(copy.long)


def _mended(text: str) -> bytes:
    text = text.replace("\r\n", "\n").replace(chr(NO_CHARACTER), SUBSTITUTE)
    return text.replace("\r", "\t").encode("utf-8")


def _bare(text: bytes, begins: bool, copy: _Copy) -> bytes:
    """A piece of a copy with one NUL byte for those ahead of each line; `begins`: it is the beginning of a line."""
    if copy.padded:
        text = text.lstrip(NUL)
    elif begins and text.startswith(NUL):
        text = NUL + text.lstrip(NUL)
    text = _NULS.sub(b"\n" + NUL, text)
    copy.padded = text.endswith(b"\n" + NUL) or (begins and text == NUL) or (copy.padded and not text)
    return text


def _put(stream: IO[bytes], copy: _Copy, text: bytes) -> None:
    """Write a piece of a copy, no line of which becomes too long."""
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
    """Write a piece of a line; of one that is too long its beginning is left."""
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
