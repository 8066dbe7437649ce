"""Which files are read when, and by which worker."""

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

ROUND = 384 * 2**20  # bytes of lines that are held at a time
#: the same of files that are not large, where what is wanted of lines is held and not these
SCANNED = 4 * ROUND
FILES = 4096  # files of a round
FILE_STEP = 2**40  # places of lines of a host's next file begin here
PIECE = 94 * 2**20  # bytes, about, of a piece of a large file: four of them, with the rest of a line each, are a round
EXPANSION = 10  # how much larger a compressed file is when it is not


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of a run, or a piece of one: its number among all, its host, its number among the host's, oldest
    first; of a piece, the bytes where it begins and ends.

    Of a piece of a packed file these are places in its content, which has `total` bytes and is unpacked at `unpacked`.
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
        """Where it is."""
        return self.held.path

    @property
    def size(self) -> int:
        """How many of its bytes are read, as it is packed."""
        if self.end is None:
            return self.held.size
        if not self.total:
            return self.end - self.begin
        return self.end * self.held.size // self.total - self.begin * self.held.size // self.total

    @property
    def content(self) -> str:
        """What tells its content from others; empty when that is not known."""
        piece = "" if self.end is None else f":{self.begin}-{self.end}"
        return self.held.sha256 and self.held.sha256 + piece + (f"/{self.total}" if self.total else "")

    def source(self, folder: Path) -> Path:
        """The file itself where that can be read, else a copy of what is to be read, in the folder."""
        name = f"{self.number}-{self.begin}.held"
        if self.end is None:
            return self.held.source(folder, name)
        return (self.unpacked or self.held).piece(self.begin, self.end, folder / name)

    @property
    def weight(self) -> int:
        """About how many bytes of lines it holds."""
        if self.total and self.end is not None:
            return self.end - self.begin
        return self.size * (EXPANSION if self.path.suffix in COMPRESSED else 1)

    @property
    def is_large(self) -> bool:
        """Whether it is to be read in pieces; a piece, however large, is not to be cut further."""
        return self.end is None and self.weight > 2 * PIECE


def log_files(files: RunFiles) -> tuple[LogFile, ...]:
    """All files of a run that hold anything, hosts in order, oldest first; AssayError when a host's are all empty."""
    for host in files.hosts:
        if not host.size:
            raise fail("no-logs", f"the log files of host {host.host} are empty: {host.files[0].parent}")
    found = [(host.host, order, held) for host in files.hosts for order, held in enumerate(host.held)]
    return tuple(LogFile(number, *item) for number, item in enumerate(found) if item[-1].size)


def pieces(files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """The files, large ones in pieces of whole lines, in order; but for those that are packed, until they are not."""
    return tuple(piece for file in files for piece in _pieces(file))


def _pieces(file: LogFile) -> list[LogFile]:
    content = file.unpacked or file.held
    if content.size <= 2 * PIECE or packed(content.path):
        return [file]
    edges = [0, *content.line_ends(range(PIECE, content.size - PIECE, PIECE)), content.size]
    return [replace(file, begin=begin, end=end) for begin, end in itertools.pairwise(sorted(set(edges)))]


def unpacked(file: LogFile, folder: Path) -> LogFile:
    """A packed file with its content as a new file of the folder; one that is not packed as it is.

    AssayError when it cannot be read to its end.
    """
    if not packed(file.path):
        return file
    for source in (file.held.source(folder, "held"), None):
        # What changed meanwhile is read out of a copy.
        content = plain(source or file.held.copied(folder / "held"), folder, "content")
        if source != file.path or file.held.steady:
            break
    mark = mark_of(content)
    return replace(file, total=mark.size, unpacked=FileSnapshot(content, mark, mark.size))


def rounds(files: Sequence[LogFile], share: int = 1, workers: int = 1, scanned: bool = False) -> list[list[LogFile]]:
    """The files, in order, in parts that fit into a share of the memory; every worker has one in any case.

    Files that are packed may be larger than that; what does not fit is spilled.  `scanned`: of whole files that
    are not large more fit, as only what is wanted of them is held.
    """
    found: list[list[LogFile]] = []
    held = 0
    for file in files:
        room = SCANNED if scanned and file.end is None and not file.is_large else ROUND
        full = held + file.weight > room // share and len(found[-1:] and found[-1]) >= workers
        if not found or full or len(found[-1]) == FILES:
            found.append([])
            held = 0
        found[-1].append(file)
        held += file.weight
    return found


def shares(files: Sequence[LogFile], workers: int) -> list[list[LogFile]]:
    """The files divided among workers in runs of neighbours, so that the rows of one worker follow those of another;
    no division of this kind has a lighter heaviest share."""
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
    """The files, in order, in as few shares as have room for so many bytes each."""
    found: list[list[LogFile]] = []
    held = 0
    for file in files:
        if not found or held + file.weight > room:
            found.append([])
            held = 0
        found[-1].append(file)
        held += file.weight
    return found
