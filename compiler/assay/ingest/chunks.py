"""Divide files into chunks, rounds and shares of workers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.ingest.decompress import COMPRESSED, packed
from assay.ingest.discovery import RunFiles
from assay.ingest.fingerprint import FileSnapshot, mark_of
from assay.ingest.plain_copies import plain
from assay.util.diagnostics import fail

ROUND = 384 * 2**20  # bytes of lines in memory at a time
#: the same limit for files that are not large: the scanner stores only the required values of their lines
SCANNED = 4 * ROUND
FILES = 4096  # most files of a round
FILE_STEP = 2**40  # difference between the first `seq` of a file and that of the host's next file
PIECE = 94 * 2**20  # approximate bytes of a chunk: four chunks, each completed to a line end, fit into a round
EXPANSION = 10  # estimated ratio of uncompressed to compressed size


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of a run or a chunk of one.

    `number` is its index in the run, `order` its index among the files of its host, oldest first. `begin` and `end` are
    byte offsets of a chunk. For a chunk of a compressed file they are offsets in the content, which has `total` bytes
    and is unpacked to `unpacked`.
    """

    number: int
    host: str
    order: int
    held: FileSnapshot
    begin: int = 0
    end: int | None = None
    total: int = 0
    unpacked: FileSnapshot | None = None

    @property
    def path(self) -> Path:
        """Return its path."""
        return self.held.path

    @property
    def size(self) -> int:
        """Return how many bytes of the file, as stored, are read."""
        if self.end is None:
            return self.held.size
        if not self.total:
            return self.end - self.begin
        return self.end * self.held.size // self.total - self.begin * self.held.size // self.total

    @property
    def content(self) -> str:
        """Return an identity of its content; empty if the hash is not known."""
        piece = "" if self.end is None else f":{self.begin}-{self.end}"
        return self.held.sha256 and self.held.sha256 + piece + (f"/{self.total}" if self.total else "")

    def source(self, folder: Path) -> Path:
        """Return the file itself if it can be read in place, else a copy of the required bytes in `folder`."""
        name = f"{self.number}-{self.begin}.held"
        if self.end is None:
            return self.held.source(folder, name)
        return (self.unpacked or self.held).piece(self.begin, self.end, folder / name)

    @property
    def weight(self) -> int:
        """Return the estimated bytes of its lines."""
        if self.total and self.end is not None:
            return self.end - self.begin
        return self.size * (EXPANSION if self.path.suffix in COMPRESSED else 1)

    @property
    def is_large(self) -> bool:
        """Return whether it is read in chunks. A chunk is never divided further."""
        return self.end is None and self.weight > 2 * PIECE


def log_files(files: RunFiles) -> tuple[LogFile, ...]:
    """Return the files of a run that are not empty, hosts in order, oldest first.

    Raises AssayError if all files of a host are empty.
    """
    for host in files.hosts:
        if not host.size:
            raise fail("no-logs", f"the log files of host {host.host} are empty: {host.files[0].parent}")
    files_of_hosts = [(host.host, order, snapshot) for host in files.hosts for order, snapshot in enumerate(host.held)]
    return tuple(LogFile(number, *item) for number, item in enumerate(files_of_hosts) if item[-1].size)


def pieces(files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """Return the files in order, large ones as chunks of whole lines. Compressed files are not divided."""
    return tuple(piece for file in files for piece in _pieces(file))


def _pieces(file: LogFile) -> list[LogFile]:
    content = file.unpacked or file.held
    if content.size <= 2 * PIECE or packed(content.path):
        return [file]
    edges = [0, *content.line_ends(range(PIECE, content.size - PIECE, PIECE)), content.size]
    return [replace(file, begin=begin, end=end) for begin, end in itertools.pairwise(sorted(set(edges)))]


def unpacked(file: LogFile, folder: Path) -> LogFile:
    """Unpack a compressed file into `folder`; return a plain file unchanged.

    Raises AssayError if it cannot be read to its end.
    """
    if not packed(file.path):
        return file
    for source in (file.held.source(folder, "held"), None):
        # A file that changed in the meantime is read from a copy.
        content = plain(source or file.held.copied(folder / "held"), folder, "content")
        if source != file.path or file.held.steady:
            break
    mark = mark_of(content)
    return replace(file, total=mark.size, unpacked=FileSnapshot(content, mark, mark.size))


def rounds(files: Sequence[LogFile], share: int = 1, workers: int = 1, scanned: bool = False) -> list[list[LogFile]]:
    """Divide files, in order, into rounds that fit into a share of the memory, at least one file per worker.

    Compressed files may exceed the limit; the engine spills the excess to disk. With `scanned`, more whole files that
    are not large fit, since the scanner stores only required values.
    """
    parts: list[list[LogFile]] = []
    size = 0
    for file in files:
        room = SCANNED if scanned and file.end is None and not file.is_large else ROUND
        full = size + file.weight > room // share and len(parts[-1:] and parts[-1]) >= workers
        if not parts or full or len(parts[-1]) == FILES:
            parts.append([])
            size = 0
        parts[-1].append(file)
        size += file.weight
    return parts


def shares(files: Sequence[LogFile], workers: int) -> list[list[LogFile]]:
    """Divide files among workers as runs of neighbours, so that the rows of one worker follow those of another.

    The heaviest share is as light as possible.
    """
    ordered = sorted(files, key=lambda item: (item.number, item.begin))
    least, most = max((file.weight for file in ordered), default=0), sum(file.weight for file in ordered)
    while least < most:
        middle = (least + most) // 2
        if len(_filled(ordered, middle)) <= workers:
            most = middle
        else:
            least = middle + 1
    return _filled(ordered, least)


def _filled(files: Sequence[LogFile], room: int) -> list[list[LogFile]]:
    """Divide files, in order, into as few shares as possible of at most `room` bytes each."""
    parts: list[list[LogFile]] = []
    size = 0
    for file in files:
        if not parts or size + file.weight > room:
            parts.append([])
            size = 0
        parts[-1].append(file)
        size += file.weight
    return parts
