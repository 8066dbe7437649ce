"""Unpack archives of runs as streams: tar, compressed or plain, and zip.

No file is written outside of the target folder.
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

from assay.ingest.decompress import get_decompression_hint
from assay.ingest.discovery import MACOS_METADATA_PREFIX
from assay.remote import disk_space
from assay.remote.address import ARCHIVES, explain_refusal, get_archive_suffix, replace_backslashes, split_path
from assay.remote.required_files import RequiredFiles
from assay.remote.transfer import build_no_files_error, build_unsafe_name_error
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import escape_text
from assay.util.progress import ByteProgress

CHUNK = 2**20
HEAD = 16 * 2**20  # largest header of a member in bytes: `tarfile` reads a header as a whole into memory
BLOCK = tarfile.BLOCKSIZE
PACKERS = {"gz": ".gz", "tgz": ".gz", "zst": ".zst", "tzst": ".zst", "xz": ".xz", "txz": ".xz", "bz2": ".bz2",
           "tbz2": ".bz2"}  # fmt: skip
#: exceptions of a broken stream; so is an OSError without errno
BROKEN = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def get_compression(suffix: str) -> str:
    """Return the compression of an archive by its suffix; empty for an uncompressed one."""
    return PACKERS.get(suffix.rpartition(".")[2], "")


class ProgressReader(io.RawIOBase):
    """A file that reports the progress of reading it."""

    def __init__(self, raw: IO[bytes], size: int, report: ByteProgress) -> None:
        self.raw, self.size, self.report = raw, size, report

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Change the position, as `io.IOBase.seek`."""
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self.raw.tell()

    def read(self, size: int = -1) -> bytes:
        """Read bytes, and report the position."""
        content = self.raw.read(size)
        self.report(min(self.raw.tell(), self.size), self.size)
        return content


class TarStream:
    """A stream of a tar that remembers its last byte that is not zero.

    A tar has only zeros behind its last member. `tarfile` ends at the first block that is not a header, so that members
    behind damaged data would be lost silently.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.count, self.content_end = stream, 0, 0
        self.limit = HEAD

    def allow_member(self, end: int) -> None:
        """Allow the member that ends at byte `end` to be read, and the header of the next one."""
        self.limit = end + HEAD

    def read(self, size: int = -1) -> bytes:
        """Read bytes; raise EOFError if the header of a member is too large."""
        data = self.stream.read(size)
        if self.count > self.limit:
            raise EOFError(f"the head of a member is larger than {HEAD // 2**20} MiB")
        if content := data.rstrip(b"\0"):
            self.content_end = self.count + len(content)
        self.count += len(data)
        return data

    def check_end(self, end: int) -> None:
        """Read to the end, and check that only zeros follow the members, which end at byte `end`.

        Raises EOFError: the zeros are missing, or other data follows.
        """
        self.limit = sys.maxsize
        while self.read(CHUNK):
            pass
        if self.content_end > end:
            raise EOFError(f"the data at byte {end} is not a member")
        if self.count < end + BLOCK:
            raise EOFError("it ends before its content does")


def open_plain_tar(reader: ProgressReader, suffix: str) -> IO[bytes]:
    """Return the uncompressed stream of a tar."""
    stream = cast("IO[bytes]", reader)
    compression = get_compression(suffix)
    if compression == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=stream))
    if compression == ".xz":
        return cast("IO[bytes]", lzma.LZMAFile(stream))
    if compression == ".bz2":
        return cast("IO[bytes]", bz2.BZ2File(stream))
    if compression == ".zst":
        return cast("IO[bytes]", _ZstdFrames(stream))
    return stream


class _ZstdFrames:
    """The content of the frames of a zstd file, one after another.  Raises EOFError: the last one is incomplete."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.chunks = self._read_chunks(stream)
        self.buffer = b""

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes of the content; the whole rest if it is negative."""
        parts, size_read = [self.buffer], len(self.buffer)
        while size_read < size or size < 0:
            chunk = next(self.chunks, b"")
            if not chunk:
                break
            parts.append(chunk)
            size_read += len(chunk)
        content = b"".join(parts)
        self.buffer = content[size:] if size >= 0 else b""
        return content[:size] if size >= 0 else content

    @staticmethod
    def _read_chunks(stream: IO[bytes]) -> Iterator[bytes]:
        import zstandard

        decompressor, remaining = None, b""
        while remaining := remaining or stream.read(2**16):
            decompressor = decompressor or zstandard.ZstdDecompressor().decompressobj()
            try:
                content = decompressor.decompress(remaining)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
            if content:
                yield content
            remaining = decompressor.unused_data if decompressor.eof else b""
            decompressor = None if decompressor.eof else decompressor
        if decompressor is not None:
            raise EOFError("it ends before its content does")


#: first bytes of a file -> the suffix of its kind of archive
MAGIC = {b"\x1f\x8b": ".tar.gz", b"\x28\xb5\x2f\xfd": ".tar.zst", b"\xfd7zXZ\0": ".tar.xz", b"BZh": ".tar.bz2",
         b"PK\x03\x04": ".zip", b"PK\x05\x06": ".zip"}  # fmt: skip
WINDOWS_SYSTEMS = (0, 6, 10, 14)  # of zip members whose names cannot contain a backslash: FAT, HPFS, NTFS, VFAT
END_MAGIC, END_SIZE = b"PK\x05\x06", 22  # first bytes and size, without the comment, of the record at the end of a zip
MACOS_PREFIXES = ("__MACOSX", MACOS_METADATA_PREFIX)  # prefixes of the files that macOS adds to archives


def unpack(archive: Path, folder: Path, wanted: RequiredFiles, display_name: str, report: ByteProgress) -> Path:
    """Write the wanted files of an archive below a folder, and return the run's directory there.

    This is the folder itself, or its only subfolder if the run is packed below one.

    Raises AssayError: `broken-archive` if it cannot be read to its end or is of another kind than its name;
    `unsafe-name` if a member is a link or a device, would be written elsewhere, or exists twice; `disk-full` before the
    disk is.
    """
    target = _Target(folder, wanted, display_name)
    with _translate_errors(archive, folder, display_name), archive.open("rb") as raw:
        reader = ProgressReader(raw, archive.stat().st_size, report)
        if get_archive_suffix(archive.name) == ".zip":
            _unzip(cast("IO[bytes]", reader), target)
        else:
            _untar(open_plain_tar(reader, get_archive_suffix(archive.name)), target)
    return target.find_run()


class _Target:
    """The folder that members are written into.

    `has_direct` means that a wanted file is directly below it; `top_folders` are the subfolders with wanted files.
    """

    def __init__(self, folder: Path, wanted: RequiredFiles, archive: str) -> None:
        self.folder, self.wanted, self.archive = folder, wanted, archive
        self.skipped_names: list[str] = []
        self.has_direct = False
        self.top_folders: set[str] = set()

    def check(self, name: str, is_folder: bool, kind: str = "") -> None:
        """Check that a member can be a file or folder of the run.  Raises AssayError `unsafe-name`."""
        if is_folder and not split_path(name) and not name.startswith("/"):
            return
        if reason := kind or explain_refusal(name):
            raise build_unsafe_name_error("a member of the archive", name, reason, self.archive)

    def find_run(self) -> Path:
        """Return the run's directory.  Raises AssayError: no file is wanted, or there are several runs."""
        if self.has_direct:
            return self.folder
        if len(self.top_folders) == 1:
            return self.folder / next(iter(self.top_folders))
        if self.top_folders:
            raise fail("no-run", f"the archive holds more than one run: {self.archive}", expected="one folder on top",
                       found=", ".join(map(escape_text, sorted(self.top_folders))),
                       hint="pack each run by itself")  # fmt: skip
        raise build_no_files_error("the archive of the run", self.archive, self.wanted, self.skipped_names)

    def make_folder(self, name: str) -> None:
        """Create a folder."""
        self._resolve(name).mkdir(parents=True, exist_ok=True)

    def write(self, name: str, size: int, content: IO[bytes]) -> None:
        """Write a file if it is wanted; create its folder in any case."""
        if any(part.startswith(MACOS_PREFIXES) for part in split_path(name)):
            return
        path = self._resolve(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        is_direct, is_below = self.wanted.has(name), self.wanted.has_below(name)
        if not is_direct and not is_below:
            self._check_backslashes(name)
            self.skipped_names.append(name)
            return
        self.has_direct = self.has_direct or is_direct
        self.top_folders |= {split_path(name)[0]} if is_below else set()
        if path.is_file():  # either of them could be the file of the run
            raise build_unsafe_name_error(
                "a member of the archive", name, "an earlier member has this name", self.archive
            )
        disk_space.check_room(self.folder, size, self.archive)
        with path.open("wb") as stream:
            shutil.copyfileobj(content, stream, CHUNK)
        if path.stat().st_size != size:
            raise EOFError(f"{escape_text(name)} ends before its size")

    def _check_backslashes(self, name: str) -> None:
        """Refuse a file that would be wanted if the backslashes of its name were slashes.

        Otherwise a host would silently be missing.
        """
        if "\\" in name and (
            self.wanted.has(replace_backslashes(name)) or self.wanted.has_below(replace_backslashes(name))
        ):
            reason = "its name has backslashes, where a run has folders"
            raise build_unsafe_name_error("a member of the archive", name, reason, self.archive)

    def _resolve(self, name: str) -> Path:
        return self.folder.joinpath(*split_path(name))


def _untar(stream: IO[bytes], target: _Target) -> None:
    tar = TarStream(stream)
    with tarfile.open(fileobj=cast("IO[bytes]", tar), mode="r|", errorlevel=2) as members:
        for member in members:
            tar.allow_member(members.offset)
            target.check(member.name, member.isdir(), _find_refusal(member))
            if member.isdir():
                target.make_folder(member.name)
                continue
            content = members.extractfile(member)
            assert content is not None, "a regular file has content"
            target.write(member.name, member.size, content)
        tar.check_end(members.offset)


def _find_refusal(member: tarfile.TarInfo) -> str:
    """Return why a member of a tar is refused for its type; empty for files and folders."""
    if member.issym() or member.islnk():
        return f"it is a link to {escape_text(member.linkname)}"
    if member.isreg() or member.isdir():
        return ""
    return "it is neither a file nor a folder"


def _unzip(stream: IO[bytes], target: _Target) -> None:
    with zipfile.ZipFile(stream) as members:
        _check_single_zip(stream, members, target.archive)
        items = [(_get_zip_name(item), item) for item in members.infolist()]
        for name, item in items:
            target.check(name, name.endswith("/"), _find_zip_refusal(item))
        files = [(name, item) for name, item in items if not name.endswith("/")]
        wanted = target.wanted
        required_members = (item for name, item in files if wanted.has(name) or wanted.has_below(name))
        disk_space.check_room(target.folder, sum(item.file_size for item in required_members), target.archive)
        for name, _ in items:
            if name.endswith("/"):
                target.make_folder(name)
        for name, item in files:
            with members.open(item) as content:
                target.write(name, item.file_size, content)


def _get_zip_name(item: zipfile.ZipInfo) -> str:
    """Return the name of a zip member; on Windows, backslashes may separate its folders."""
    return replace_backslashes(item.orig_filename) if item.create_system in WINDOWS_SYSTEMS else item.orig_filename


def _check_single_zip(stream: IO[bytes], members: zipfile.ZipFile, archive: str) -> None:
    """Check that a file holds a single zip: the directory at its end lists only the members of the last one.

    Bytes before the first member that are no zip are allowed: a self-extracting archive begins with its program.
    """
    start = min((item.header_offset for item in members.infolist()), default=members.start_dir)
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - END_SIZE - len(members.comment)))
    has_trailer = stream.read(len(END_MAGIC)) != END_MAGIC
    stream.seek(0)
    if has_trailer or (start and stream.read(2) == END_MAGIC[:2]):
        problem = "bytes behind its end" if has_trailer else f"{start} bytes of another before its first member"
        raise fail("broken-archive", f"the archive is more than one zip: {archive}", found=problem,
                   expected="one zip, and nothing else", hint="unpack them into one folder, and pack it")  # fmt: skip


def _find_zip_refusal(item: zipfile.ZipInfo) -> str:
    """Return why a member of a zip is refused; the upper attributes hold the Unix mode, if it was made there."""
    kind = (item.external_attr >> 16) & 0o170000
    if item.flag_bits & 1:
        return "it is encrypted"
    if kind == 0o120000:
        return "it is a link"
    return "" if kind in (0, 0o100000, 0o040000) else "it is neither a file nor a folder"


@contextmanager
def _translate_errors(archive: Path, folder: Path, display_name: str) -> Iterator[None]:
    """Raise everything that can go wrong with an archive as AssayError."""
    try:
        yield
    except (*BROKEN, zipfile.BadZipFile, NotImplementedError) as error:
        raise _build_error(archive, display_name, str(error)) from None
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        name, reason = Path(str(error.filename)).name, "it is a file and a folder"
        raise build_unsafe_name_error("a member of the archive", name, reason, display_name) from None
    except OSError as error:
        if error.filename == str(archive):
            cause = error.strerror or str(error)
            raise fail("no-run", f"the archive of the run cannot be read: {display_name}", found=cause) from None
        if error.errno is None:  # gzip, bz2 and others reject files of another kind this way
            raise _build_error(archive, display_name, str(error)) from None
        raise disk_space.build_write_error(folder, display_name, error) from None


def _build_error(archive: Path, display_name: str, cause: str) -> AssayError:
    """Return the error of an archive that is broken, or of another kind than its name."""
    with archive.open("rb") as stream:
        head = stream.read(512)
    actual = next((end for magic, end in MAGIC.items() if head.startswith(magic)), "")
    actual = actual or (".tar" if head[257:262] == b"ustar" else "")
    suffix = get_archive_suffix(archive.name)
    hint = get_decompression_hint(cause)
    if not actual:
        hint = f"archives are {', '.join(ARCHIVES)}"
    elif actual != suffix and (get_compression(actual) or actual) != get_compression(suffix):
        hint = f"the content is a {actual}: rename the file"
    return fail("broken-archive", f"the archive of the run cannot be read to its end: {display_name}",
                expected=f"the content of a {suffix}", found=cause or "nothing", hint=hint)  # fmt: skip
