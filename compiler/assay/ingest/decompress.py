"""Decompress files. The format is detected by the first bytes, since a name may be wrong."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from assay.util.diagnostics import AssayError, fail

COMPRESSED = (".gz", ".zst")
CHUNK = 2**20
PACKED_CHUNK = 2**16  # small, since its content may be a thousand times larger
PROBED = 4096  # leading bytes that decide whether a file is text

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
#: magic number of a skippable zstd frame, which pzstd writes before every other frame
SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
#: first bytes of unsupported formats
OTHERS = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"PK\x03\x04": "zip", b"\x04\x22\x4d\x18": "lz4", b"LZIP": "lzip",
          b"7z\xbc\xaf\x27\x1c": "7-Zip", b"\x1f\x9d": "compress", b"\xff\x06\x00\x00sNaPpY": "snappy"}  # fmt: skip
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def broken(path: Path, cause: str) -> AssayError:
    """Return the error for a file that cannot be read to its end."""
    return fail(
        "broken-file",
        f"the log file cannot be read to its end: {path}",
        found=cause,
        hint=hint_of(cause),
    )


def hint_of(cause: str) -> str:
    """Return a hint for the error message of a decompressor."""
    if "too much memory" in cause:  # words of zstd, whose command line tool rejects such files by default, too
        return "it was packed with a window of more than 128 MiB (`zstd --long`): pack it again without"
    return "is it cut off, or still being written?"


def refused(path: Path, error: OSError) -> AssayError:
    """Return the error for a file that the system does not let us read, or that no longer exists."""
    hint = "may the user who runs this read it?" if isinstance(error, PermissionError) else ""
    if isinstance(error, FileNotFoundError):
        hint = "it was there when the run was looked through: is something moving logs away?"
    return fail("broken-file", f"the file cannot be read: {path}", found=error.strerror or str(error), hint=hint)


def packed(path: Path) -> bool:
    """Return whether a file is compressed.

    Raises AssayError if it cannot be read, has an unsupported compression or encoding, or has the suffix of a
    compressed file but is neither compressed nor text.
    """
    head = _head(path)
    if _is_packed(head):
        return True
    if other := next((name for mark, name in OTHERS.items() if head.startswith(mark)), ""):
        raise fail(
            "broken-file",
            f"the file is packed with {other}, which is not read: {path}",
            hint="unpack it, or pack it with gzip or zstd",
        )
    if head.startswith(UTF_16) and b"\0" in head:  # NUL: not a text after two invalid bytes
        raise fail(
            "broken-file",
            f"the file is in UTF-16, which is not read: {path}",
            expected="UTF-8",
            hint="`iconv -f UTF-16 -t UTF-8` makes it that",
        )
    if path.suffix in COMPRESSED and not (head and _is_text(head)):
        raise fail(
            "broken-file",
            f"the log file cannot be read to its end: {path}",
            expected="gzip, zstd or plain text",
            found="bytes that are none of these" if head else "not a single byte",
            hint="is its beginning missing?" if head else "was the disk full when it was packed?",
        )
    return False


def _is_packed(head: bytes) -> bool:
    """Return whether the first bytes are those of a compressed file."""
    return head.startswith((GZIP, ZSTD)) or bool(SKIPPED.match(head))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(PROBED)
    except OSError as error:
        raise refused(path, error) from None


def _is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are text; the last character may be cut off."""
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
    return b"\0" not in head


def decompressed(path: Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in chunks.

    Raises AssayError `broken-file` if it cannot be read to its end or is compressed twice.
    """
    content = packed(path)
    try:
        with path.open("rb") as stream:
            if content:
                yield from _once(path, _unpacked(stream))
            else:
                yield from iter(lambda: stream.read(CHUNK), b"")
    except OSError as error:
        raise refused(path, error) from None
    except (EOFError, zlib.error) as error:
        raise broken(path, str(error)) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise broken(path, str(error)) from None


def _unpacked(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a compressed file."""
    head = stream.read(len(GZIP))
    stream.seek(0)
    if head == GZIP:
        return _members(stream, lambda: zlib.decompressobj(wbits=31), b"\0")
    import zstandard

    return _members(stream, lambda: zstandard.ZstdDecompressor().decompressobj(), b"")


def _once(path: Path, content: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a compressed file. Raises AssayError if the content is compressed, too."""
    head = b""
    for chunk in content:
        if len(head) < len(ZSTD):
            head += chunk[: len(ZSTD)]
            if _is_packed(head):
                raise fail(
                    "broken-file",
                    f"the file is packed twice, which is not read: {path}",
                    hint="unpack it once",
                )
        yield chunk


def _members(stream: IO[bytes], make: Callable[[], Any], padding: bytes) -> Iterator[bytes]:
    """Yield the contents of consecutive compressed members. Raises EOFError if the last one is truncated."""
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
