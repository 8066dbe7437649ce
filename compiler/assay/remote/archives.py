"""Archives of runs, unpacked as streams: tar, plain or packed, and zip.  Nothing is written outside the folder."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from assay.remote import room
from assay.remote.address import ARCHIVES, suffix_of
from assay.remote.fetching import unsafe
from assay.remote.names import parts_of, refusal, shown
from assay.remote.wanted import Wanted
from assay.spec.diagnostics import AssayError, fail

CHUNK = 2**20
BLOCK = tarfile.BLOCKSIZE
#: how a file begins -> the end of the name that belongs to it
MAGIC = {b"\x1f\x8b": ".tar.gz", b"\x28\xb5\x2f\xfd": ".tar.zst", b"\xfd7zXZ\0": ".tar.xz", b"BZh": ".tar.bz2",
         b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip"}  # fmt: skip
PACKERS = {"gz": ".gz", "tgz": ".gz", "zst": ".zst", "tzst": ".zst", "xz": ".xz", "txz": ".xz", "bz2": ".bz2",
           "tbz2": ".bz2"}  # fmt: skip
BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
BESIDE = ("__MACOSX",)  # what one program writes beside the run

#: told how many bytes of the archive are read, of how many
Tell = Callable[[int, int], None]


def unpack(archive: Path, folder: Path, wanted: Wanted, shown_as: str, tell: Tell) -> None:
    """Write the wanted files of an archive below a folder.

    AssayError: `broken-archive` when it cannot be read to its end or is none of its name's kind; `unsafe-name` when a
    member is a link or a device, or would stand elsewhere; `disk-full` before the disk is.
    """
    target = _Target(folder, wanted, shown_as)
    with _broken(archive, shown_as), archive.open("rb") as raw:
        read = _Read(raw, archive.stat().st_size, tell)
        if suffix_of(archive.name) == ".zip":
            _unzip(cast("IO[bytes]", read), target)
        else:
            _untar(_unpacked(read, suffix_of(archive.name)), target)


def run_folder(folder: Path) -> Path:
    """The run's directory in what was unpacked: a folder that stands there alone is it."""
    entries = [path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in BESIDE]
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


class _Target:
    """The folder that members are written into."""

    def __init__(self, folder: Path, wanted: Wanted, archive: str) -> None:
        self.folder, self.wanted, self.archive = folder, wanted, archive

    def check(self, name: str, kind: str = "") -> None:
        """AssayError when a member cannot be a file or folder of the run."""
        if why := kind or refusal(name):
            raise unsafe(f"a member of the archive is refused: {shown(name)}", why, self.archive)

    def make(self, name: str) -> None:
        """Make a folder."""
        self._place(name).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, size: int, content: IO[bytes]) -> None:
        """Write a file, if it is wanted; its folder stands in any case."""
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not self.wanted.has_below(name):
            return
        room.check_room(self.folder, size, self.archive)
        with place.open("wb") as stream:
            shutil.copyfileobj(content, stream, CHUNK)
        if place.stat().st_size != size:
            raise EOFError(f"{shown(name)} ends before its size")

    def _place(self, name: str) -> Path:
        return self.folder.joinpath(*parts_of(name))


class _Read(io.RawIOBase):
    """A file that is being read, and tells so."""

    def __init__(self, raw: IO[bytes], size: int, tell: Tell) -> None:
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


class _Ended:
    """A stream whose last block is remembered: a tar that ends as one does, ends with zeros."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.last = stream, b""

    def read(self, size: int = -1) -> bytes:
        found = self.stream.read(size)
        self.last = (self.last + found)[-BLOCK:]
        return found

    def check(self) -> None:
        """Read on to the end.  EOFError when it is none."""
        while self.read(CHUNK):
            pass
        if self.last.strip(b"\0") or len(self.last) < BLOCK:
            raise EOFError("it ends before its content does")


def _unpacked(read: _Read, suffix: str) -> IO[bytes]:
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


def _untar(stream: IO[bytes], target: _Target) -> None:
    ended = _Ended(stream)
    with tarfile.open(fileobj=cast("IO[bytes]", ended), mode="r|", errorlevel=2) as members:
        for member in members:
            target.check(member.name, _kind(member))
            if member.isdir():
                target.make(member.name)
                continue
            content = members.extractfile(member)
            assert content is not None, "a regular file has content"
            target.write(member.name, member.size, content)
    ended.check()


def _kind(member: tarfile.TarInfo) -> str:
    """Why a member is refused by what it is; empty for files and folders."""
    if member.issym() or member.islnk():
        return f"it is a link to {shown(member.linkname)}"
    if member.isreg() or member.isdir():
        return ""
    return "it is neither a file nor a folder"


def _unzip(stream: IO[bytes], target: _Target) -> None:
    with zipfile.ZipFile(stream) as members:
        items = members.infolist()
        for item in items:
            target.check(item.orig_filename, _zip_kind(item))
        files = [item for item in items if not item.is_dir()]
        size = sum(item.file_size for item in files if target.wanted.has_below(item.filename))
        room.check_room(target.folder, size, target.archive)
        for item in items:
            if item.is_dir():
                target.make(item.filename)
        for item in files:
            with members.open(item) as content:
                target.write(item.filename, item.file_size, content)


def _zip_kind(item: zipfile.ZipInfo) -> str:
    """The same of a member of a zip file: its upper attributes are those of Unix, where it was made there."""
    kind = (item.external_attr >> 16) & 0o170000
    if item.flag_bits & 1:
        return "it is encrypted"
    if kind == 0o120000:
        return "it is a link"
    return "" if kind in (0, 0o100000, 0o040000) else "it is neither a file nor a folder"


@contextmanager
def _broken(archive: Path, shown_as: str) -> Iterator[None]:
    """What goes wrong with an archive, as one error."""
    try:
        yield
    except BROKEN as error:
        raise _error(archive, shown_as, str(error)) from None
    except NotImplementedError as error:
        raise _error(archive, shown_as, str(error)) from None
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        name = Path(str(error.filename)).name
        raise unsafe(
            f"a member of the archive is refused: {shown(name)}", "it is a file and a folder", shown_as
        ) from None
    except OSError as error:
        if error.errno is None:  # so gzip, bz2 and others say that a file is none of theirs
            raise _error(archive, shown_as, str(error)) from None
        raise room.written(archive, shown_as, error) from None


def _error(archive: Path, shown_as: str, cause: str) -> AssayError:
    with archive.open("rb") as stream:
        head = stream.read(512)
    real = next((end for magic, end in MAGIC.items() if head.startswith(magic)), "")
    real = real or (".tar" if head[257:262] == b"ustar" else "")
    own = suffix_of(archive.name)
    same = real == own or (real and PACKERS.get(real.rpartition(".")[2]) == PACKERS.get(own.rpartition(".")[2], "-"))
    hint = "is it cut off, or still being written?"
    if not same:
        hint = f"its content is that of a {real}: rename it" if real else f"archives are {', '.join(ARCHIVES)}"
    return fail("broken-archive", f"the archive of the run cannot be read to its end: {shown_as}",
                expected=f"the content of a {own}", found=cause or "nothing", hint=hint)  # fmt: skip
