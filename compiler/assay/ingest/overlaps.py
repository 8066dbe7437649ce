"""Log files of a host that overlap in time: they are read one after the other, which may not be what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import OTHER
from assay.ingest.line_counts import LineCount, Share

#: ns by which a file may begin before the end of the one before: records about a rotation are written out of order,
#: and clocks are set back
BORNE = 1_000_000_000


def overlap_warnings(files: RunFiles, found: Sequence[Share]) -> tuple[str, ...]:
    """A sentence on the files of a host that begin before one that is read before them ends; none where none does.

    A file begins at the instant of its first record that has one, and ends at that of its last.
    """
    told = []
    for host in files.hosts:
        if len(host.files) > 1:
            own = [tally for share in found for tally in share.tallies if tally.host == host.host]
            told += _of_host(files, host.host, host.files, own)
    if not told:
        return ()
    more = f" ({len(told) - 1} more overlap)" if len(told) > 1 else ""
    return (f"{told[0]}{more}.",)


def _of_host(files: RunFiles, host: str, paths: Sequence[Path], tallies: Sequence[LineCount]) -> list[str]:
    """What is to be said of each file of a host that overlaps with one before."""
    told: list[str] = []
    latest: tuple[int, Path] | None = None
    for index, path in enumerate(paths):
        dated = [item for item in tallies if item.form >= OTHER and item.first_seq // FILE_STEP == index]
        first = min(dated, key=lambda item: item.first_seq, default=None)
        last = max(dated, key=lambda item: item.last_seq, default=None)
        if first is None or last is None or first.first_ns is None or last.last_ns is None:
            continue
        if latest and latest[0] - first.first_ns > BORNE:
            names = [item.relative_to(files.directory).as_posix() for item in (path, latest[1])]
            seconds = (latest[0] - first.first_ns) // BORNE
            of = f" of host {host}" if host else ""
            told.append(f"log files{of} overlap in time: {names[0]} begins {seconds} s before {names[1]} ends, and is "
                        "read after it")  # fmt: skip
        latest = max((last.last_ns, path), latest or (last.last_ns, path), key=lambda item: item[0])
    return told
