"""Files that may change while they are read: what is read is what was found, or it is an error.

A file is found with a mark (size, time of change, inode) and is read as the bytes that it has then.  While the mark is
the same it is read where it is; when it has changed, out of a copy of its first bytes, whose hash is to be the one that
was taken.  So of a log that grows the lines are read that it had when it was found.
"""

from __future__ import annotations

import hashlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path

from assay.ingest.decompress import CHUNK, refused
from assay.util.checksums import SETTLED
from assay.util.diagnostics import AssayError, fail
from assay.util.paths import resolve_path

SMALL = 16  # of a file that is so many times smaller than a piece a piece of memory would be too much
PIECE = 2**23  # bytes that are hashed at a time: so many that others who run meanwhile are seldom asked to wait


@dataclass(frozen=True, slots=True)
class FileStamp:
    """By what it is known that a file is as before: bytes, time of change, inode.

    `touched_ns` is when anything about the file changed last, which no program can set back; another name for a file
    that is being read, or other rights, change it too, and are no other content.
    """

    size: int
    changed_ns: int
    inode: int
    touched_ns: int = field(default=0, compare=False)

    def settled(self, now_ns: int) -> bool:
        """Whether the file did not change so shortly before an instant that it may change again at the same time."""
        return now_ns - max(self.changed_ns, self.touched_ns) >= SETTLED


def mark_of(path: Path) -> FileStamp:
    """The mark of a file.  AssayError when it is gone, or cannot be looked at."""
    try:
        found = path.stat()
    except OSError as error:
        raise refused(path, error) from None
    return FileStamp(found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """What is held of a file: its mark when it was found, how many of its bytes, their sha256 (empty: not known)."""

    path: Path
    mark: FileStamp
    size: int
    sha256: str = ""

    @property
    def key(self) -> str:
        """What is another when the file is another, or may have other content."""
        mark = self.mark
        return f"{resolve_path(self.path)}|{mark.size}|{mark.changed_ns}|{mark.touched_ns}|{mark.inode}"

    @property
    def steady(self) -> bool:
        """Whether the file is as it was found, and is held as a whole."""
        return self.size == self.mark.size and mark_of(self.path) == self.mark

    def source(self, folder: Path, name: str) -> Path:
        """The file itself while it is steady; else a copy of what is held of it, a new file of the folder.

        AssayError when these bytes are there no more.
        """
        return self.path if self.steady else self.copied(folder / name)

    def copied(self, place: Path) -> Path:
        """A copy of what is held."""
        digest = hashlib.sha256()
        with place.open("wb") as stream:
            for chunk in beginning(self.path, self.size):
                digest.update(chunk)
                stream.write(chunk)
        if self.sha256 and digest.hexdigest() != self.sha256:
            raise changed(self.path, "other bytes")
        return place

    def piece(self, begin: int, end: int, place: Path) -> Path:
        """A copy of the bytes from one place up to another, of a file that is steady.

        A mark of the byte order that it begins with stands twice in it: a scan passes over one, as if a file began.
        """
        with place.open("wb") as stream:
            for number, chunk in enumerate(self._between(begin, end)):
                if begin and not number and chunk.startswith(BOM_UTF8):
                    stream.write(BOM_UTF8)
                stream.write(chunk)
        return place

    def line_ends(self, places: Iterable[int]) -> Iterator[int]:
        """Where the lines end that stand at some places."""
        for place in places:
            at = place
            for chunk in self._between(place, self.size):
                if (found := chunk.find(b"\n")) >= 0:
                    yield at + found + 1
                    break
                at += len(chunk)

    def _between(self, begin: int, end: int) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as stream:
                stream.seek(begin)
                while begin < end and (chunk := stream.read(min(CHUNK, end - begin))):
                    begin += len(chunk)
                    yield chunk
        except OSError as error:
            raise refused(self.path, error) from None
        if begin < end:
            raise changed(self.path, f"{begin} bytes of {end}")

    def unchanged(self) -> None:
        """AssayError unless the file is steady."""
        if not self.steady:
            raise changed(self.path, "a file of another size or time of change")

    def still(self) -> None:
        """AssayError unless what is held of the file is there: it may have grown since."""
        if self.steady:
            return
        digest = _digest(self.path, self.size)  # an error where there is less
        if self.sha256 and digest != self.sha256:
            raise changed(self.path, "other bytes")


def beginning(path: Path, size: int) -> Iterator[memoryview]:
    """The first bytes of a file, each piece until the next is asked for: they stand at one place, which is in the
    processor's cache.  AssayError when the file cannot be read, or has less."""
    left = size
    room = _room(size)
    try:
        with path.open("rb", buffering=0) as stream:
            while left and (read := stream.readinto(room[:left])):
                left -= read
                yield room[:read]
    except OSError as error:
        raise refused(path, error) from None
    finally:
        if len(room) == PIECE:
            _rooms.append(room)
    if left:
        raise changed(path, f"{size - left} bytes of {size}")


_rooms: list[memoryview] = []  # those of threads that have read, as fresh memory costs


def _room(size: int) -> memoryview:
    """Room for so many bytes, or for a piece; whoever has it alone has it."""
    if size < PIECE // SMALL:
        return memoryview(bytearray(size))
    try:
        return _rooms.pop()
    except IndexError:
        return memoryview(bytearray(PIECE))


def hashed(path: Path, mark: FileStamp, ended: Callable[[], bool] = lambda: False) -> FileSnapshot:
    """A file with the hash of what is held of it: all that it had when it was found; its whole lines, if it grows.

    CancelledError when it is told meanwhile, by `ended`, that nobody waits for it any more.
    """
    found = FileSnapshot(path, mark, mark.size, _digest(path, mark.size, ended))
    if found.steady:
        return found
    whole = _whole_lines(path, mark.size)
    return FileSnapshot(path, mark, whole, _digest(path, whole, ended)) if whole else found


def _digest(path: Path, size: int, ended: Callable[[], bool] = lambda: False) -> str:
    digest = hashlib.sha256()
    for chunk in beginning(path, size):
        if ended():
            raise CancelledError
        digest.update(chunk)
    return digest.hexdigest()


def _whole_lines(path: Path, size: int) -> int:
    """How many of the first bytes of a file are whole lines."""
    found, read = 0, 0
    for chunk in map(bytes, beginning(path, size)):
        if b"\n" in chunk:
            found = read + chunk.rindex(b"\n") + 1
        read += len(chunk)
    return found


def changed(path: Path, found: str) -> AssayError:
    """The error of a file that is not what it was when it was found."""
    return fail(
        "changed-file",
        f"the file changed while it was read: {path}",
        expected="a file that is left alone, or a log to which lines are added",
        found=found,
        hint="was it rotated, or written anew? run this again when nothing writes it",
    )
