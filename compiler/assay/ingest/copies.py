"""Files of a run with the same content: one may be a copy that was left beside a log, or came under a wrong name."""

from __future__ import annotations

from pathlib import Path

from assay.ingest.discovery import RunFiles
from assay.ingest.plain_copies import first_lines
from assay.lang.model.source_kinds import SAMPLES

FEW = 3  # lines that files may have in common without a word: what begins alike, and ends there, is no copy


def duplicate_file_warnings(kind: str, files: RunFiles) -> tuple[str, ...]:
    """A sentence on files of the same sha256, as far as hashes are known; none where each has its own."""
    if kind == SAMPLES:  # which count once however often they stand, and that is told there
        return ()
    first: dict[str, Path] = {}
    twins: list[tuple[Path, Path]] = []
    for held in (held for host in files.hosts for held in host.held if held.sha256):
        if held.sha256 in first:
            twins.append((first[held.sha256], held.path))
        first.setdefault(held.sha256, held.path)
    twins = [pair for pair in twins if _has_lines(pair[0])]
    if not twins:
        return ()
    names = " and ".join(path.relative_to(files.directory).as_posix() for path in twins[0])
    more = len(twins) - 1
    others = f" ({more} more {'file is' if more == 1 else 'files are'} like another)" if more else ""
    return (f"{names} have the same content{others}: where one is a copy, what it holds counts twice.",)


def _has_lines(path: Path) -> bool:
    """Whether a file has more than a few lines."""
    return sum(1 for line in first_lines(path, FEW + 1) if line.strip()) > FEW
