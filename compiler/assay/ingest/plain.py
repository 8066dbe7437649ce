"""Log files as plain text that the engine can scan: decompressed, and mended where the scan refuses them.

The engine's own decompression notices neither a wrong checksum nor an end that is missing, so it is not used.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, Any

from assay.spec.diagnostics import AssayError, fail

COMPRESSED = (".gz", ".zst")
LONGEST = 64 * 2**20  # bytes of a line
#: what separates columns in the scan: a character that no text has, so that a line is one column
NO_CHARACTER = 0x10FFFF
CHUNK = 2**20
PACKED_CHUNK = 2**16  # small, since it may hold a thousand times as much
#: what stands for bytes that are no UTF-8: a control character, so that no line becomes JSON by it
SUBSTITUTE = "\x1a"

codecs.register_error("assay-substitute", lambda error: (SUBSTITUTE, getattr(error, "end", 0)))


def decompressed(path: Path) -> Iterator[bytes]:
    """The bytes of a log file, chunk by chunk; AssayError `broken-file` when it cannot be read to its end."""
    try:
        with path.open("rb") as stream:
            if path.suffix == ".gz":
                yield from _members(stream, lambda: zlib.decompressobj(wbits=31), b"\0")
            elif path.suffix == ".zst":
                import zstandard

                yield from _members(stream, lambda: zstandard.ZstdDecompressor().decompressobj(), b"")
            else:
                yield from iter(lambda: stream.read(CHUNK), b"")
    except (OSError, EOFError, zlib.error) as error:
        raise broken(path, str(error)) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise broken(path, str(error)) from None


def _members(stream: IO[bytes], make: Callable[[], Any], padding: bytes) -> Iterator[bytes]:
    """The contents of a file's compressed parts, one after the other; EOFError when the last one has no end."""
    part, rest = None, b""
    while rest := rest or stream.read(PACKED_CHUNK):
        if part is None:
            rest = rest.lstrip(padding) if padding else rest
            if not rest:
                continue
            part = make()
        if content := part.decompress(rest):
            yield content
        rest = part.unused_data if part.eof else b""
        part = None if part.eof else part
    if part is not None:
        raise EOFError("it ends before its content does")


def text_lines(path: Path, numbers: Collection[int]) -> dict[int, str]:
    """The texts of some lines of a log file by their numbers, which count from 1."""
    found: dict[int, str] = {}
    last = max(numbers, default=0)
    start, rest = 1, b""
    for chunk in decompressed(path):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for number in numbers:
            if start <= number < start + len(lines):
                found[number] = _text(lines[number - start])
        start += len(lines)
        if start > last:
            break
    if start in numbers:
        found[start] = _text(rest)
    return found


def first_lines(path: Path, count: int) -> Iterator[bytes]:
    """The first lines of a log file, at most so many."""
    rest = b""
    for chunk in decompressed(path):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield from lines[:count]
        count -= len(lines)
        if count <= 0:
            return
    yield rest


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", errors="replace")


def plain(path: Path, folder: Path, name: str) -> Path:
    """The file itself, or, of a compressed one, its content as a new file of the folder."""
    if path.suffix not in COMPRESSED:
        return path
    place = folder / name
    with place.open("wb") as stream:
        for chunk in decompressed(path):
            stream.write(chunk)
    return place


def mended(path: Path, folder: Path, name: str) -> Path:
    """A copy that scans: bytes that are no UTF-8 replaced, every line ended by a line feed alone.

    A carriage return within a line becomes a tab, which JSON allows and forbids at the same places.  Raises AssayError
    when a line is too long.
    """
    place = folder / name
    decoder = codecs.getincrementaldecoder("utf-8")("assay-substitute")
    length, line, held = 0, 1, ""
    with place.open("w", encoding="utf-8", newline="") as stream:
        for chunk in decompressed(path):
            text = held + decoder.decode(chunk)
            held = "\r" if text.endswith("\r") else ""
            text = _mended(text[: len(text) - len(held)])
            stream.write(text)
            length, line = _longest(path, text, length, line)
        stream.write(_mended(held + decoder.decode(b"", final=True)))
    return place


def _mended(text: str) -> str:
    text = text.replace("\r\n", "\n").replace(chr(NO_CHARACTER), SUBSTITUTE)
    return text.replace("\r", "\t")


def _longest(path: Path, text: str, length: int, line: int) -> tuple[int, int]:
    """Length so far of the line that goes on after a piece of text, and its number."""
    parts = text.split("\n")
    sizes = [length + len(parts[0]), *(len(part) for part in parts[1:])]
    if max(sizes) >= LONGEST:
        number = line + sizes.index(max(sizes))
        raise fail("long-line", f"line {number} of {path} is longer than {LONGEST // 2**20} MiB")
    return sizes[-1], line + len(parts) - 1


def broken(path: Path, cause: str) -> AssayError:
    """The error of a file that cannot be read to its end."""
    return fail(
        "broken-file",
        f"the log file cannot be read to its end: {path}",
        found=cause,
        hint="is it cut off, or still being written?",
    )
