"""Which files are read when, and by which worker."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.ingest.files import RunFiles
from assay.ingest.packing import COMPRESSED, packed
from assay.ingest.steady import Held
from assay.spec.diagnostics import fail

ROUND = 384 * 2**20  # bytes of lines that are held at a time
FILES = 4096  # files of a round
FILE_STEP = 2**40  # places of lines of a host's next file begin here
PIECE = 96 * 2**20  # bytes, about, of a piece of a large file
EXPANSION = 10  # how much larger a compressed file is when it is not


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of a run, or a piece of one: its number among all, its host, its number among the host's, oldest
    first; of a piece, the bytes where it begins and ends."""

    number: int
    host: str
    order: int
    held: Held
    begin: int = 0
    end: int | None = None

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.held.path

    @property
    def size(self) -> int:
        """How many of its bytes are read."""
        return (self.held.size if self.end is None else self.end) - self.begin

    @property
    def content(self) -> str:
        """What tells its content from others; empty when that is not known."""
        piece = "" if self.end is None else f":{self.begin}-{self.end}"
        return self.held.sha256 and self.held.sha256 + piece

    def source(self, folder: Path) -> Path:
        """The file itself where that can be read, else a copy of what is to be read, in the folder."""
        name = f"{self.number}-{self.begin}.held"
        if self.end is None:
            return self.held.source(folder, name)
        return self.held.piece(self.begin, self.end, folder / name)

    @property
    def weight(self) -> int:
        """About how many bytes of lines it holds."""
        return self.size * (EXPANSION if self.path.suffix in COMPRESSED else 1)


def log_files(files: RunFiles) -> tuple[LogFile, ...]:
    """All files of a run that hold anything, hosts in order, oldest first; AssayError when a host's are all empty."""
    for host in files.hosts:
        if not host.size:
            raise fail("no-logs", f"the log files of host {host.host} are empty: {host.files[0].parent}")
    found = [(host.host, order, held) for host in files.hosts for order, held in enumerate(host.held)]
    return tuple(LogFile(number, *item) for number, item in enumerate(found) if item[-1].size)


def pieces(files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """The files, large ones that are not packed in pieces of whole lines, in order."""
    return tuple(piece for file in files for piece in _pieces(file))


def _pieces(file: LogFile) -> list[LogFile]:
    if file.size <= 2 * PIECE or packed(file.path):
        return [file]
    edges = [0, *file.held.line_ends(range(PIECE, file.size - PIECE, PIECE)), file.size]
    return [replace(file, begin=begin, end=end) for begin, end in itertools.pairwise(sorted(set(edges)))]


def rounds(files: Sequence[LogFile], share: int = 1, workers: int = 1) -> list[list[LogFile]]:
    """The files, in order, in parts that fit into a share of the memory; every worker has one in any case.

    Files that are packed may be larger than that; what does not fit is spilled.
    """
    found: list[list[LogFile]] = []
    held = 0
    for file in files:
        full = held + file.weight > ROUND // share and len(found[-1:] and found[-1]) >= workers
        if not found or full or len(found[-1]) == FILES:
            found.append([])
            held = 0
        found[-1].append(file)
        held += file.weight
    return found


def shares(files: Sequence[LogFile], workers: int) -> list[list[LogFile]]:
    """The files divided among workers, each the next largest to who has least; their order within a share as it was."""
    found: list[list[LogFile]] = [[] for _ in range(min(workers, len(files)))]
    for file in sorted(files, key=lambda item: (-item.weight, item.number, item.begin)):
        min(found, key=lambda share: sum(item.weight for item in share)).append(file)
    return [sorted(share, key=lambda item: (item.number, item.begin)) for share in found]
