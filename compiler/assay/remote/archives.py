"""Unpack archives of runs as streams: tar, compressed or plain, and zip.

Nothing is written outside the folder.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from assay.ingest.decompress import hint_of
from assay.ingest.discovery import BESIDE
from assay.remote import disk_space
from assay.remote.address import ARCHIVES, parts_of, refusal, slashed, suffix_of
from assay.remote.required_files import Wanted
from assay.remote.transfer import nothing_wanted, unsafe
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import escape_text
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


#: how a file begins -> the end of the name that belongs to it
MAGIC = {b"\x1f\x8b": ".tar.gz", b"\x28\xb5\x2f\xfd": ".tar.zst", b"\xfd7zXZ\0": ".tar.xz", b"BZh": ".tar.bz2",
         b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip"}  # fmt: skip
OF_WINDOWS = (0, 6, 10, 14)  # the makers of members of a zip whose file names have no backslash: FAT, HPFS, NTFS, VFAT
ENDED, DIRECTORY_END = b"PK\x05\x06", 22  # how the record at the end of a zip begins, its bytes without the comment
OF_MACOS = ("__MACOSX", BESIDE)  # what a program of macOS writes beside files: how the names of those begin


def unpack(archive: Path, folder: Path, wanted: Wanted, shown_as: str, tell: Bytes) -> Path:
    """Write the wanted files of an archive below a folder; the run's directory there: the folder, or the only one in
    it when the run stands below that.

    AssayError: `broken-archive` when it cannot be read to its end or is none of its name's kind; `unsafe-name` when a
    member is a link or a device, would stand elsewhere, or stands there twice; `disk-full` before the disk is.
    """
    target = _Target(folder, wanted, shown_as)
    with _broken(archive, folder, shown_as), archive.open("rb") as raw:
        read = Reading(raw, archive.stat().st_size, tell)
        if suffix_of(archive.name) == ".zip":
            _unzip(cast("IO[bytes]", read), target)
        else:
            _untar(plain_tar(read, suffix_of(archive.name)), target)
    return target.run()


class _Target:
    """The folder that members are written into."""

    def __init__(self, folder: Path, wanted: Wanted, archive: str) -> None:
        self.folder, self.wanted, self.archive = folder, wanted, archive
        self.seen: list[str] = []
        self.stands = False
        self.tops: set[str] = set()

    def check(self, name: str, folder: bool, kind: str = "") -> None:
        """AssayError when a member cannot be a file or folder of the run."""
        if folder and not parts_of(name) and not name.startswith("/"):
            return
        if why := kind or refusal(name):
            raise unsafe(f"a member of the archive is refused: {escape_text(name)}", why, self.archive)

    def run(self) -> Path:
        """The run's directory.  AssayError when nothing is wanted."""
        if self.stands:
            return self.folder
        if len(self.tops) == 1:
            return self.folder / next(iter(self.tops))
        if self.tops:
            raise fail(
                "no-run",
                f"the archive holds more than one run: {self.archive}",
                expected="one folder on top",
                found=", ".join(map(escape_text, sorted(self.tops))),
                hint="pack each run by itself",
            )
        raise nothing_wanted("the archive of the run", self.archive, self.wanted, self.seen)

    def make(self, name: str) -> None:
        """Make a folder."""
        self._place(name).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, size: int, content: IO[bytes]) -> None:
        """Write a file, if it is wanted; its folder stands in any case."""
        if any(part.startswith(OF_MACOS) for part in parts_of(name)):
            return
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        as_it_is, below = self.wanted.has(name), self.wanted.has_below(name)
        if not as_it_is and not below:
            self._not_by_backslash(name)
            self.seen.append(name)
            return
        self.stands = self.stands or as_it_is
        self.tops |= {parts_of(name)[0]} if below else set()
        if place.is_file():  # which of them is the run's nobody can tell
            raise unsafe(f"a member of the archive is refused: {escape_text(name)}", "a member before has its name",
                         self.archive)  # fmt: skip
        disk_space.check_room(self.folder, size, self.archive)
        with place.open("wb") as stream:
            shutil.copyfileobj(content, stream, CHUNK)
        if place.stat().st_size != size:
            raise EOFError(f"{escape_text(name)} ends before its size")

    def _not_by_backslash(self, name: str) -> None:
        """AssayError when a file would be wanted if backslashes of its name were slashes: a host would be missing."""
        if "\\" in name and (self.wanted.has(slashed(name)) or self.wanted.has_below(slashed(name))):
            why = "its name has backslashes, where a run has folders"
            raise unsafe(f"a member of the archive is refused: {escape_text(name)}", why, self.archive)

    def _place(self, name: str) -> Path:
        return self.folder.joinpath(*parts_of(name))


def _untar(stream: IO[bytes], target: _Target) -> None:
    ended = Tar(stream)
    with tarfile.open(fileobj=cast("IO[bytes]", ended), mode="r|", errorlevel=2) as members:
        for member in members:
            ended.allow(members.offset)
            target.check(member.name, member.isdir(), _kind(member))
            if member.isdir():
                target.make(member.name)
                continue
            content = members.extractfile(member)
            assert content is not None, "a regular file has content"
            target.write(member.name, member.size, content)
        ended.check(members.offset)


def _kind(member: tarfile.TarInfo) -> str:
    """Why a member is refused by what it is; empty for files and folders."""
    if member.issym() or member.islnk():
        return f"it is a link to {escape_text(member.linkname)}"
    if member.isreg() or member.isdir():
        return ""
    return "it is neither a file nor a folder"


def _unzip(stream: IO[bytes], target: _Target) -> None:
    with zipfile.ZipFile(stream) as members:
        _alone(stream, members, target.archive)
        items = [(_zip_name(item), item) for item in members.infolist()]
        for name, item in items:
            target.check(name, name.endswith("/"), _zip_kind(item))
        files = [(name, item) for name, item in items if not name.endswith("/")]
        wanted = target.wanted
        needed = (item for name, item in files if wanted.has(name) or wanted.has_below(name))
        disk_space.check_room(target.folder, sum(item.file_size for item in needed), target.archive)
        for name, _ in items:
            if name.endswith("/"):
                target.make(name)
        for name, item in files:
            with members.open(item) as content:
                target.write(name, item.file_size, content)


def _zip_name(item: zipfile.ZipInfo) -> str:
    """The name of a member: one that was made on Windows may have backslashes, where no file name has any."""
    return slashed(item.orig_filename) if item.create_system in OF_WINDOWS else item.orig_filename


def _alone(stream: IO[bytes], members: zipfile.ZipFile, archive: str) -> None:
    """AssayError when a file holds more than one zip: the directory at its end names the members of the last alone.

    What is ahead of the first member and is no zip is the program that unpacks it.
    """
    begin = min((item.header_offset for item in members.infolist()), default=members.start_dir)
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - DIRECTORY_END - len(members.comment)))
    behind = stream.read(len(ENDED)) != ENDED
    stream.seek(0)
    if behind or (begin and stream.read(2) == ENDED[:2]):
        found = "bytes behind its end" if behind else f"{begin} bytes of another before its first member"
        raise fail("broken-archive", f"the archive is more than one zip: {archive}", found=found,
                   expected="one zip, and nothing else", hint="unpack them into one folder, and pack that")  # fmt: skip


def _zip_kind(item: zipfile.ZipInfo) -> str:
    """The same of a member of a zip file: its upper attributes are those of Unix, where it was made there."""
    kind = (item.external_attr >> 16) & 0o170000
    if item.flag_bits & 1:
        return "it is encrypted"
    if kind == 0o120000:
        return "it is a link"
    return "" if kind in (0, 0o100000, 0o040000) else "it is neither a file nor a folder"


@contextmanager
def _broken(archive: Path, folder: Path, shown_as: str) -> Iterator[None]:
    """What goes wrong with an archive, as one error."""
    try:
        yield
    except (*BROKEN, zipfile.BadZipFile, NotImplementedError) as error:
        raise _error(archive, shown_as, str(error)) from None
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        name, why = Path(str(error.filename)).name, "it is a file and a folder"
        raise unsafe(f"a member of the archive is refused: {escape_text(name)}", why, shown_as) from None
    except OSError as error:
        if error.filename == str(archive):
            cause = error.strerror or str(error)
            raise fail("no-run", f"the archive of the run cannot be read: {shown_as}", found=cause) from None
        if error.errno is None:  # so gzip, bz2 and others say that a file is none of theirs
            raise _error(archive, shown_as, str(error)) from None
        raise disk_space.write_error(folder, shown_as, error) from None


def _error(archive: Path, shown_as: str, cause: str) -> AssayError:
    """The error of an archive that is broken, or of another kind than its name says."""
    with archive.open("rb") as stream:
        head = stream.read(512)
    real = next((end for magic, end in MAGIC.items() if head.startswith(magic)), "")
    real = real or (".tar" if head[257:262] == b"ustar" else "")
    own = suffix_of(archive.name)
    hint = hint_of(cause)
    if not real:
        hint = f"archives are {', '.join(ARCHIVES)}"
    elif real != own and (packer_of(real) or real) != packer_of(own):
        hint = f"its content is that of a {real}: rename it"
    return fail("broken-archive", f"the archive of the run cannot be read to its end: {shown_as}",
                expected=f"the content of a {own}", found=cause or "nothing", hint=hint)  # fmt: skip
