"""Which files are read when, and by which worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.ingest.files import RunFiles
from assay.ingest.packing import COMPRESSED
from assay.ingest.steady import Held
from assay.spec.diagnostics import fail

ROUND = 384 * 2**20  # bytes of lines that are held at a time
FILES = 4096  # files of a round
FILE_STEP = 2**40  # places of lines of a host's next file begin here
EXPANSION = 10  # how much larger a compressed file is when it is not


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of a run: its number among all, its host, its number among the host's, oldest first."""

    number: int
    host: str
    order: int
    held: Held

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.held.path

    @property
    def size(self) -> int:
        """How many of its bytes are read."""
        return self.held.size

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


def rounds(files: Sequence[LogFile], share: int = 1) -> list[list[LogFile]]:
    """The files, in order, in parts that fit into a share of the memory."""
    found: list[list[LogFile]] = []
    held = 0
    for file in files:
        if not found or held + file.weight > ROUND // share or len(found[-1]) == FILES:
            found.append([])
            held = 0
        found[-1].append(file)
        held += file.weight
    return found


def shares(files: Sequence[LogFile], workers: int) -> list[list[LogFile]]:
    """The files divided among workers, each the next largest to who has least; their order within a share as it was."""
    found: list[list[LogFile]] = [[] for _ in range(min(workers, len(files)))]
    for file in sorted(files, key=lambda item: (-item.weight, item.number)):
        min(found, key=lambda share: sum(item.weight for item in share)).append(file)
    return [sorted(share, key=lambda item: item.number) for share in found]
