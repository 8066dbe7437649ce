"""Divide files into chunks, rounds and shares of workers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.ingest.absent_files import is_absent
from assay.ingest.decompress import COMPRESSED, is_compressed
from assay.ingest.discovery import RunFiles
from assay.ingest.file_snapshots import FileSnapshot, read_stamp
from assay.ingest.plain_copies import decompress_file
from assay.util.diagnostics import fail

ROUND = 384 * 2**20  # bytes of lines in memory at a time
#: the limit for files that are not large, for the scanner, which stores only the required values of lines
SCANNED = 4 * ROUND
FILES = 4096  # maximal number of files of a round
GROUP, GROUP_FILES = 4 * 2**20, 1024  # maximal bytes and number of the small text logs that are read as one
FILE_STEP = 2**40  # difference between the first `seq` of a file and that of the host's next file
PIECE = 94 * 2**20  # approximate bytes of a chunk; four chunks, each extended to a line end, fit into a round
EXPANSION = 10  # estimated ratio of uncompressed to compressed size


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file of a run or a chunk of one.

    `number` is its index in the run, `order` its index among the files of its host, oldest first. `begin` and `end` are
    byte offsets of a chunk. For a chunk of a compressed file, they are offsets in the decompressed content `unpacked`,
    which has `total` bytes.
    """

    number: int
    host: str
    order: int
    snapshot: FileSnapshot
    begin: int = 0
    end: int | None = None
    total: int = 0
    unpacked: FileSnapshot | None = None

    @property
    def path(self) -> Path:
        """Return its path."""
        return self.snapshot.path

    @property
    def size(self) -> int:
        """Return how many bytes of the file, as stored, are read."""
        if self.end is None:
            return self.snapshot.size
        if not self.total:
            return self.end - self.begin
        return self.end * self.snapshot.size // self.total - self.begin * self.snapshot.size // self.total

    @property
    def content(self) -> str:
        """Return an identity of its content; empty if its hash is unknown."""
        suffix = "" if self.end is None else f":{self.begin}-{self.end}"
        return self.snapshot.sha256 and self.snapshot.sha256 + suffix + (f"/{self.total}" if self.total else "")

    def get_readable_path(self, folder: Path) -> Path:
        """Return the file itself if it can be read in place, else a copy of the required bytes in `folder`."""
        name = f"{self.number}-{self.begin}.copy"
        if self.end is None:
            return self.snapshot.get_readable_path(folder, name)
        return (self.unpacked or self.snapshot).copy_range(self.begin, self.end, folder / name)

    @property
    def weight(self) -> int:
        """Return the estimated bytes of its lines."""
        if self.total and self.end is not None:
            return self.end - self.begin
        return self.size * (EXPANSION if self.path.suffix in COMPRESSED else 1)

    @property
    def is_large(self) -> bool:
        """Return whether it is read in chunks. A chunk is not divided further."""
        return self.end is None and self.weight > 2 * PIECE


def list_log_files(files: RunFiles) -> tuple[LogFile, ...]:
    """Return the files of a run that are not empty, hosts in order, oldest first.

    Raises AssayError if all files of a host are empty.
    """
    for host in files.hosts:
        if not host.size:
            raise fail("no-logs", f"the log files of host {host.host} are empty: {host.files[0].parent}")
    files_of_hosts = [
        (host.host, order, snapshot) for host in files.hosts for order, snapshot in enumerate(host.snapshots)
    ]
    return tuple(LogFile(number, *item) for number, item in enumerate(files_of_hosts) if item[-1].size)


def split_files(files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    """Return the files in order, large ones in chunks of whole lines. Compressed and absent files are not divided."""
    return tuple(chunk for file in files for chunk in _split_file(file))


def _split_file(file: LogFile) -> list[LogFile]:
    content = file.unpacked or file.snapshot
    if content.size <= 2 * PIECE or is_absent(content.path) or is_compressed(content.path):
        return [file]
    edges = [0, *content.find_line_ends(range(PIECE, content.size - PIECE, PIECE)), content.size]
    return [replace(file, begin=begin, end=end) for begin, end in itertools.pairwise(sorted(set(edges)))]


def unpack_file(file: LogFile, folder: Path) -> LogFile:
    """Decompress a file into `folder`; return a plain file unchanged.

    Raises AssayError if it cannot be read to its end.
    """
    if not is_compressed(file.path):
        return file
    for source in (file.snapshot.get_readable_path(folder, "copy"), None):
        # If the file changes while it is read in place, the second round reads a copy.
        content = decompress_file(source or file.snapshot.copy_to(folder / "copy"), folder, "content")
        if source != file.path or file.snapshot.is_steady:
            break
    stamp = read_stamp(content)
    return replace(file, total=stamp.size, unpacked=FileSnapshot(content, stamp, stamp.size))


def divide_into_rounds(
    files: Sequence[LogFile], share: int = 1, workers: int = 1, is_scanned: bool = False
) -> list[list[LogFile]]:
    """Divide files, in order, into rounds that fit into a share of the memory, with at least one file per worker.

    Compressed files may exceed the limit; the engine spills the excess to disk. With `is_scanned`, the limit is higher
    for whole files that are not large, since the scanner stores only required values.
    """
    rounds: list[list[LogFile]] = []
    size = 0
    for file in files:
        limit = SCANNED if is_scanned and file.end is None and not file.is_large else ROUND
        is_full = size + file.weight > limit // share and len(rounds[-1:] and rounds[-1]) >= workers
        if not rounds or is_full or len(rounds[-1]) == FILES:
            rounds.append([])
            size = 0
        rounds[-1].append(file)
        size += file.weight
    return rounds


def group_small_files(files: Sequence[LogFile]) -> list[list[LogFile]]:
    """Group consecutive files, so that statements over a group cost little more than over its bytes."""
    groups: list[list[LogFile]] = []
    size = 0
    for file in files:
        if not groups or size + file.weight > GROUP or len(groups[-1]) == GROUP_FILES:
            groups.append([])
            size = 0
        groups[-1].append(file)
        size += file.weight
    return groups


def divide_among_workers(files: Sequence[LogFile], workers: int) -> list[list[LogFile]]:
    """Divide files among workers in sequences of neighbours, so that the rows of one worker follow those of another.

    The maximal weight of a share is minimal.
    """
    ordered = sorted(files, key=lambda item: (item.number, item.begin))
    weights = [file.weight for file in ordered]
    low, high = max(weights, default=0), sum(weights)
    while low < high:
        middle = (low + high) // 2
        if len(_fill_shares(weights, middle)) <= workers:
            high = middle
        else:
            low = middle + 1
    positions = iter(ordered)
    return [list(itertools.islice(positions, count)) for count in _fill_shares(weights, low)]


def _fill_shares(weights: Sequence[int], limit: int) -> list[int]:
    """Divide items, in order, into as few shares as possible of at most `limit` bytes each; return their sizes."""
    counts: list[int] = []
    size = 0
    for weight in weights:
        if not counts or size + weight > limit:
            counts.append(0)
            size = 0
        counts[-1] += 1
        size += weight
    return counts
