"""The files of a run: its hosts, and each host's log files, oldest first."""

from __future__ import annotations

import gzip
import io
import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from assay.spec.diagnostics import AssayError, fail
from assay.spec.model import Source

COMPRESSED = (".gz", ".zst")
CHUNK = 1 << 20  # bytes read at a time
PROBED = 2000  # lines looked at for the first object of a file


@dataclass(frozen=True, slots=True)
class HostFiles:
    """A host's log files, oldest first, with their sizes in bytes."""

    host: str
    files: tuple[Path, ...]
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The directory of a run and the logs of its hosts, ordered by name as text."""

    directory: Path
    hosts: tuple[HostFiles, ...]

    @property
    def size(self) -> int:
        """Bytes of all files of all hosts."""
        return sum(host.size for host in self.hosts)


def find_run(source: Source, directory: Path) -> RunFiles:
    """The log files of a run.  AssayError when the directory is not one, or holds no hosts or no logs."""
    if not directory.exists():
        raise fail("no-run", f"the run directory does not exist: {directory}", hint="--run takes a directory of a run")
    if not directory.is_dir():
        raise fail("no-run", f"the run is no directory: {directory}", hint="--run takes a directory of a run")
    if not any(directory.iterdir()):
        raise fail("no-run", f"the run directory is empty: {directory}")
    folders = sorted((path for path in directory.glob(source.hosts) if path.is_dir()), key=lambda path: path.name)
    if not folders:
        raise fail(
            "no-hosts",
            f"the run has no host directory: {directory}",
            expected=f"directories {source.hosts}",
            found=_listed(directory),
        )
    return RunFiles(directory, tuple(_host(source, folder) for folder in folders))


def _listed(directory: Path) -> str:
    names = sorted(path.name + ("/" if path.is_dir() else "") for path in directory.iterdir())
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _host(source: Source, folder: Path) -> HostFiles:
    found: dict[Path, Path] = {}
    for pattern in source.logs:
        for path in sorted(folder.glob(pattern)) + [p for end in COMPRESSED for p in folder.glob(pattern + end)]:
            if path.is_file():
                found.setdefault(path.resolve(), path)
    if not found:
        patterns = ", ".join(source.logs)
        raise fail(
            "no-logs",
            f"host {folder.name} has no log file: {folder}",
            expected=f"{patterns} (also with .gz or .zst)",
            found=_listed(folder) or "nothing",
        )
    files = tuple(found.values())
    if len(files) > 1:
        files = tuple(sorted(files, key=lambda path: (_first_instant(source, path), path.name)))
    return HostFiles(folder.name, files, tuple(path.stat().st_size for path in files))


def _first_instant(source: Source, path: Path) -> str:
    """The time text of the first object of a file that has one; ISO 8601 texts of one zone sort by time."""
    with opened(path) as lines:
        for _, line in zip(range(PROBED), lines, strict=False):
            if line.startswith(b"{"):
                try:
                    value = json.loads(line)
                    for key in source.time:
                        value = value[key]
                except (ValueError, KeyError, TypeError):
                    continue
                if isinstance(value, str):
                    return value.rstrip("Z")
    return "~"  # no object: after all others


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a log file, decompressed; AssayError `broken-file` when they cannot be."""
    try:
        with path.open("rb") as raw:
            if path.suffix == ".gz":
                with gzip.open(raw) as stream:
                    yield io.BufferedReader(stream)
            elif path.suffix == ".zst":
                import zstandard

                with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as stream:
                    yield io.BufferedReader(stream)
            else:
                yield raw
    except (OSError, EOFError, zlib.error) as error:
        raise broken(path, str(error)) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":  # its module is imported only where it is needed
            raise
        raise broken(path, str(error)) from None


def check_whole(path: Path) -> None:
    """AssayError `broken-file` when a file packed as .zst ends too early, which engines read without a word."""
    if path.suffix != ".zst":
        return
    import zstandard

    inside = False
    unpacking = zstandard.ZstdDecompressor().decompressobj()
    try:
        with path.open("rb") as raw:
            while data := raw.read(CHUNK):
                while data:
                    unpacking.decompress(data)
                    inside, data = not unpacking.eof, unpacking.unused_data
                    if not inside:
                        unpacking = zstandard.ZstdDecompressor().decompressobj()
    except (OSError, zstandard.ZstdError) as error:
        raise broken(path, str(error)) from None
    if inside:
        raise broken(path, "it ends before its content does")


@contextmanager
def one_kind_of_ends(path: Path, folder: Path) -> Iterator[Path]:
    """A copy of a log file in `folder`, decompressed, all of whose lines end in a line feed; gone afterwards.

    A carriage return inside a line becomes a blank, so that lines keep their places.
    """
    handle, name = tempfile.mkstemp(suffix=".log", dir=folder)
    try:
        with opened(path) as lines, os.fdopen(handle, "wb") as copy:
            for line in lines:
                copy.write(line.rstrip(b"\r\n").replace(b"\r", b" ") + b"\n")
        yield Path(name)
    finally:
        Path(name).unlink()


def broken(path: Path, cause: str) -> AssayError:
    """The error of a file that cannot be read to its end."""
    return fail(
        "broken-file",
        f"the log file cannot be read to its end: {path}",
        found=cause,
        hint="is it cut off, or still being written?",
    )
