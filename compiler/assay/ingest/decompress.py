"""Decompress files. Their first bytes decide the format, since a name may be wrong."""

from __future__ import annotations

import re
import shlex
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from assay.ingest.absent_files import require_content
from assay.util.diagnostics import AssayError, fail

COMPRESSED = (".gz", ".zst")
CHUNK = 2**20
COMPRESSED_CHUNK = 2**16  # small, since its content may be a thousand times larger
PROBE_SIZE = 4096  # leading bytes that decide whether a file is text

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
#: magic number of a skippable zstd frame, which pzstd writes before every other frame
SKIPPABLE_FRAME = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
#: first bytes of unsupported formats
UNSUPPORTED_FORMATS = {
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"LZIP": "lzip",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\x1f\x9d": "compress",
    b"\xff\x06\x00\x00sNaPpY": "snappy",
}
CUT_OFF = "the compressed data ends before the content"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def build_broken_file_error(path: Path, cause: str) -> AssayError:
    """Return the error for a file that cannot be read to its end."""
    return fail(
        "broken-file",
        f"the log file cannot be read to its end: {path}",
        found=cause,
        hint=get_decompression_hint(cause) + (_describe_rescue(path) if cause == CUT_OFF else ""),
    )


def _describe_rescue(path: Path) -> str:
    """Return which command saves the readable part of a file that is cut off; empty for a name without its ending."""
    tool = {".gz": "zcat", ".zst": "zstd -dc"}.get(path.suffix)
    name, plain_name = shlex.quote(path.name), shlex.quote(path.stem)
    if not tool:
        return ""
    return f" `{tool} {name} > {plain_name}` saves the readable part; then move {name} out of the run"


def get_decompression_hint(cause: str) -> str:
    """Return a hint for the error message of a decompressor."""
    if "too much memory" in cause:  # a message of zstd; its command line tool rejects such files by default, too
        return "it was compressed with a window of more than 128 MiB (`zstd --long`): compress it again without"
    return "is it cut off, or still being written?"


def build_access_error(path: Path, error: OSError) -> AssayError:
    """Return the error for a file that the system does not let the user read, or that no longer exists."""
    hint = "check its permissions" if isinstance(error, PermissionError) else ""
    if isinstance(error, FileNotFoundError):
        hint = "it existed when the files of the run were listed: does something move logs away?"
    return fail("broken-file", f"the file cannot be read: {path}", found=error.strerror or str(error), hint=hint)


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed.

    Raises AssayError if it cannot be read, has an unsupported compression or encoding, or has the suffix of a
    compressed file but is neither compressed nor text.
    """
    head = _read_head(path)
    if _has_compressed_magic(head):
        return True
    if format_name := next((name for magic, name in UNSUPPORTED_FORMATS.items() if head.startswith(magic)), ""):
        raise fail(
            "broken-file",
            f"the file is compressed with {format_name}, which is not supported: {path}",
            hint="decompress it, or compress it with gzip or zstd",
        )
    if head.startswith(UTF_16) and b"\0" in head:  # without NUL, it is UTF-8 after two invalid bytes
        raise fail(
            "broken-file",
            f"the file is in UTF-16, which is not supported: {path}",
            expected="UTF-8",
            hint="convert it with `iconv -f UTF-16 -t UTF-8`",
        )
    if path.suffix in COMPRESSED and not (head and _is_text(head)):
        raise fail(
            "broken-file",
            f"the log file cannot be read to its end: {path}",
            expected="gzip, zstd or plain text",
            found="bytes of another format" if head else "an empty file",
            hint="is its beginning missing?" if head else "was the disk full when it was compressed?",
        )
    return False


def _has_compressed_magic(head: bytes) -> bool:
    """Return whether the first bytes are those of a compressed file."""
    return head.startswith((GZIP, ZSTD)) or bool(SKIPPABLE_FRAME.match(head))


def _read_head(path: Path) -> bytes:
    require_content(path)
    try:
        with path.open("rb") as stream:
            return stream.read(PROBE_SIZE)
    except OSError as error:
        raise build_access_error(path, error) from None


def _is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are text; the last character may be cut off."""
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
    return b"\0" not in head


def iter_decompressed(path: Path) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in chunks.

    Raises AssayError `broken-file` if it cannot be read to its end or is compressed twice.
    """
    is_compressed_file = is_compressed(path)
    try:
        with path.open("rb") as stream:
            if is_compressed_file:
                yield from _iter_single_compressed(path, _iter_content(stream))
            else:
                yield from iter(lambda: stream.read(CHUNK), b"")
    except OSError as error:
        raise build_access_error(path, error) from None
    except (EOFError, zlib.error) as error:
        raise build_broken_file_error(path, str(error)) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise build_broken_file_error(path, str(error)) from None


def _iter_content(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a compressed file."""
    head = stream.read(len(GZIP))
    stream.seek(0)
    if head == GZIP:
        return _iter_members(stream, lambda: zlib.decompressobj(wbits=31), b"\0")
    import zstandard

    return _iter_members(stream, lambda: zstandard.ZstdDecompressor().decompressobj(), b"")


def _iter_single_compressed(path: Path, content: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a compressed file. Raises AssayError if the content is compressed, too."""
    head = b""
    for chunk in content:
        if len(head) < len(ZSTD):
            head += chunk[: len(ZSTD)]
            if _has_compressed_magic(head):
                raise fail(
                    "broken-file",
                    f"the file is compressed twice, which is not supported: {path}",
                    hint="decompress it once",
                )
        yield chunk


def _iter_members(stream: IO[bytes], create_decompressor: Callable[[], Any], padding: bytes) -> Iterator[bytes]:
    """Yield the contents of consecutive compressed members. Raises EOFError if the last one is truncated."""
    decompressor, remaining = None, b""
    while remaining := remaining or stream.read(COMPRESSED_CHUNK):
        if decompressor is None:
            remaining = remaining.lstrip(padding) if padding else remaining
            if not remaining:
                continue
            decompressor = create_decompressor()
        if content := decompressor.decompress(remaining):
            yield content
        remaining = decompressor.unused_data if decompressor.eof else b""
        decompressor = None if decompressor.eof else decompressor
    if decompressor is not None:
        raise EOFError(CUT_OFF)
