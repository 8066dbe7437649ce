"""Archives as streams: the plain tar of a packed one, whether it is whole, and how much of it is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO, cast

from assay.util.progress import Bytes

CHUNK = 2**20
HEAD = 16 * 2**20  # bytes that the head of a member may have: the reader of tar takes it whole into memory
BLOCK = tarfile.BLOCKSIZE
PACKERS = {"gz": ".gz", "tgz": ".gz", "zst": ".zst", "tzst": ".zst", "xz": ".xz", "txz": ".xz", "bz2": ".bz2",
           "tbz2": ".bz2"}  # fmt: skip
#: what is raised when a stream is broken, beside an OSError without a number
BROKEN = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def packer_of(suffix: str) -> str:
    """How an archive is packed, by the end of its name; empty for one that is not."""
    return PACKERS.get(suffix.rpartition(".")[2], "")


class Reading(io.RawIOBase):
    """A file that is being read, and tells so."""

    def __init__(self, raw: IO[bytes], size: int, tell: Bytes) -> None:
        self.raw, self.size, self.told = raw, size, tell

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def read(self, size: int = -1) -> bytes:
        found = self.raw.read(size)
        self.told(min(self.raw.tell(), self.size), self.size)
        return found


class Tar:
    """A stream that knows where its last byte is that is not zero: after its members a tar has zeros, and nothing else.

    The reader of tar takes whatever is no header for the end, which would lose what stands behind it.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.count, self.filled = stream, 0, 0
        self.limit = HEAD

    def allow(self, end: int) -> None:
        """Let a member be read that ends at a byte, and the head of the next one."""
        self.limit = end + HEAD

    def read(self, size: int = -1) -> bytes:
        found = self.stream.read(size)
        if self.count > self.limit:
            raise EOFError(f"the head of a member is larger than {HEAD // 2**20} MiB")
        if content := found.rstrip(b"\0"):
            self.filled = self.count + len(content)
        self.count += len(found)
        return found

    def check(self, end: int) -> None:
        """Read on to the end; the members end at a byte.  EOFError when something is missing, or stands behind."""
        self.limit = sys.maxsize
        while self.read(CHUNK):
            pass
        if self.filled > end:
            raise EOFError(f"what stands at byte {end} is no member")
        if self.count < end + BLOCK:
            raise EOFError("it ends before its content does")


def plain_tar(read: Reading, suffix: str) -> IO[bytes]:
    """The plain tar of one."""
    stream = cast("IO[bytes]", read)
    packer = PACKERS.get(suffix.rpartition(".")[2], "")
    if packer == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if packer == ".xz":
        return cast("IO[bytes]", lzma.LZMAFile(stream))
    if packer == ".bz2":
        return cast("IO[bytes]", bz2.BZ2File(stream))
    if packer == ".zst":
        return cast("IO[bytes]", _Frames(stream))
    return stream


class _Frames:
    """The content of the frames of a zstd file, one after the other; EOFError where the last one has no end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.chunks = self._chunks(stream)
        self.held = b""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes of the content; all that is left for a negative size."""
        parts, have = [self.held], len(self.held)
        while have < size or size < 0:
            chunk = next(self.chunks, b"")
            if not chunk:
                break
            parts.append(chunk)
            have += len(chunk)
        found = b"".join(parts)
        self.held = found[size:] if size >= 0 else b""
        return found[:size] if size >= 0 else found

    @staticmethod
    def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
        import zstandard

        part, rest = None, b""
        while rest := rest or stream.read(2**16):
            part = part or zstandard.ZstdDecompressor().decompressobj()
            try:
                content = part.decompress(rest)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
            if content:
                yield content
            rest = part.unused_data if part.eof else b""
            part = None if part.eof else part
        if part is not None:
            raise EOFError("it ends before its content does")
