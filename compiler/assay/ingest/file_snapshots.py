"""Snapshots of files that may change while they are read.

Discovery records the stamp of a file (size, time of change, inode). Exactly the bytes that the file has at discovery
are read: in place while the stamp is the same, afterwards from a copy of its first bytes, which must have the recorded
hash. If a log grows, only the lines that it had at discovery are read. Other changes are errors.
"""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path

from assay.ingest.absent_files import require_content
from assay.ingest.decompress import CHUNK, build_access_error
from assay.util.checksums import SETTLED
from assay.util.diagnostics import AssayError, fail
from assay.util.paths import resolve_path

SMALL = 16  # a file that is smaller than a piece by this factor gets a buffer of its own size
PIECE = 2**23  # bytes hashed at a time; large, so that threads rarely contend for the interpreter lock


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Evidence that a file did not change: size, time of change, inode.

    `touched_ns` is the time of the last change of content or metadata (ctime), which programs cannot set. Comparisons
    ignore it, since new links and permissions change it, too, but not the content.
    """

    size: int
    changed_ns: int
    inode: int
    touched_ns: int = field(default=0, compare=False)

    def is_settled(self, now_ns: int) -> bool:
        """Return whether the last change was so long before an instant that another change would have another time."""
        return now_ns - max(self.changed_ns, self.touched_ns) >= SETTLED


def read_stamp(path: Path) -> FileStamp:
    """Return the stamp of a file. Raises AssayError if it does not exist or is inaccessible."""
    try:
        status = path.stat()
    except OSError as error:
        raise build_access_error(path, error) from None
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file at discovery: its stamp, how many of its bytes are read, and their sha256, empty if it is unknown."""

    path: Path
    stamp: FileStamp
    size: int
    sha256: str = ""

    @property
    def key(self) -> str:
        """Return a text that differs for another file, and if the content may have changed."""
        stamp = self.stamp
        return f"{resolve_path(self.path)}|{stamp.size}|{stamp.changed_ns}|{stamp.touched_ns}|{stamp.inode}"

    @property
    def is_steady(self) -> bool:
        """Return whether the file still has its stamp, and all of it is read."""
        return self.size == self.stamp.size and read_stamp(self.path) == self.stamp

    def get_readable_path(self, folder: Path, name: str) -> Path:
        """Return the file itself if it is unchanged, else a copy of its bytes at discovery in `folder`.

        Raises AssayError if these bytes no longer exist.
        """
        require_content(self.path)
        return self.path if self.is_steady else self.copy_to(folder / name)

    def copy_to(self, target: Path) -> Path:
        """Copy the bytes of the snapshot to `target`; return it."""
        digest = hashlib.sha256()
        with target.open("wb") as stream:
            for chunk in iter_beginning(self.path, self.size):
                digest.update(chunk)
                stream.write(chunk)
        if self.sha256 and digest.hexdigest() != self.sha256:
            raise build_changed_error(self.path, "other bytes")
        return target

    def copy_range(self, begin: int, end: int, target: Path) -> Path:
        """Copy the bytes from `begin` to `end` of an unchanged file to `target`; return it.

        If a range in the middle of a file begins with a byte order mark, the mark is written twice: it is part of the
        text there, but the scan skips one at the beginning of a file.
        """
        with target.open("wb") as stream:
            for number, chunk in enumerate(self._read_range(begin, end)):
                if begin and not number and chunk.startswith(BOM_UTF8):
                    stream.write(BOM_UTF8)
                stream.write(chunk)
        return target

    def find_line_ends(self, offsets: Iterable[int]) -> Iterator[int]:
        """Yield for each offset the end of the line that contains it. Raises AssayError if the file is unreadable."""
        for offset in offsets:
            position = offset
            for chunk in self._read_range(offset, self.size):
                if (end := chunk.find(b"\n")) >= 0:
                    yield position + end + 1
                    break
                position += len(chunk)

    def _read_range(self, begin: int, end: int) -> Iterator[bytes]:
        require_content(self.path)
        try:
            with self.path.open("rb") as stream:
                stream.seek(begin)
                while begin < end and (chunk := stream.read(min(CHUNK, end - begin))):
                    begin += len(chunk)
                    yield chunk
        except OSError as error:
            raise build_access_error(self.path, error) from None
        if begin < end:
            raise build_changed_error(self.path, f"{begin} bytes of {end}")

    def check_unchanged(self) -> None:
        """Check that the file is unchanged. Raises AssayError."""
        if not self.is_steady:
            raise build_changed_error(self.path, "a file of another size or time of change")

    def check_bytes_exist(self) -> None:
        """Check that the bytes of the snapshot still exist; the file may have grown. Raises AssayError."""
        if self.is_steady:
            return
        digest = _compute_digest(self.path, self.size)  # raises AssayError if the file is shorter
        if self.sha256 and digest != self.sha256:
            raise build_changed_error(self.path, "other bytes")


def iter_beginning(path: Path, size: int) -> Iterator[memoryview]:
    """Yield the first `size` bytes of a file in pieces. A piece is valid until the next one is requested.

    All pieces use one buffer, which stays in the cache of the processor. Raises AssayError if the file is unreadable or
    shorter.
    """
    require_content(path)
    remaining = size
    buffer = _get_buffer(size)
    try:
        with path.open("rb", buffering=0) as stream:
            while remaining and (read := stream.readinto(buffer[:remaining])):
                remaining -= read
                yield buffer[:read]
    except OSError as error:
        raise build_access_error(path, error) from None
    finally:
        if len(buffer) == PIECE:
            _buffers.append(buffer)
    if remaining:
        raise build_changed_error(path, f"{size - remaining} bytes of {size}")


_buffers: list[memoryview] = []  # free buffers, reused since fresh memory is slow


def _get_buffer(size: int) -> memoryview:
    """Return a buffer for `size` bytes or for a piece, for exclusive use."""
    if size < PIECE // SMALL:
        return memoryview(bytearray(size))
    try:
        return _buffers.pop()
    except IndexError:
        return memoryview(bytearray(PIECE))


def create_hashed_snapshot(
    path: Path, stamp: FileStamp, is_cancelled: Callable[[], bool] = lambda: False
) -> FileSnapshot:
    """Return a snapshot with the hash of all bytes at discovery, or of the whole lines of a file that grows.

    Raises CancelledError if `is_cancelled` returns true, since nobody waits for the hash any more.
    """
    snapshot = FileSnapshot(path, stamp, stamp.size, _compute_digest(path, stamp.size, is_cancelled))
    if snapshot.is_steady:
        return snapshot
    whole_size = _measure_whole_lines(path, stamp.size)
    return (
        FileSnapshot(path, stamp, whole_size, _compute_digest(path, whole_size, is_cancelled))
        if whole_size
        else snapshot
    )


def _compute_digest(path: Path, size: int, is_cancelled: Callable[[], bool] = lambda: False) -> str:
    digest = hashlib.sha256()
    for chunk in iter_beginning(path, size):
        if is_cancelled():
            raise CancelledError
        digest.update(chunk)
    return digest.hexdigest()


def _measure_whole_lines(path: Path, size: int) -> int:
    """Return how many of the first bytes of a file are whole lines."""
    whole_size, read_size = 0, 0
    for chunk in map(bytes, iter_beginning(path, size)):
        if b"\n" in chunk:
            whole_size = read_size + chunk.rindex(b"\n") + 1
        read_size += len(chunk)
    return whole_size


def build_changed_error(path: Path, actual: str) -> AssayError:
    """Return the error for a file that changed since discovery."""
    return fail(
        "changed-file",
        f"the file changed while it was read: {path}",
        expected="an unchanged file, or a log with added lines",
        found=actual,
        hint="if it was rotated or rewritten, run this again when nothing writes to it",
    )
