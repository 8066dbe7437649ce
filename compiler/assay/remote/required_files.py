"""Which files of a run its sources can read: of a large prefix no others are fetched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assay.ingest.decompress import COMPRESSED
from assay.ingest.discovery import BESIDE
from assay.lang.model.package import Source
from assay.remote.address import parts_of


@dataclass(frozen=True, slots=True)
class Wanted:
    """Globs of files below a run's directory."""

    globs: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Whether a file of this name is wanted."""
        parts = parts_of(name)
        beside = bool(parts) and parts[-1].startswith(BESIDE)
        return not beside and any(_matches(parts, parts_of(glob)) for glob in self.globs)

    def has_below(self, name: str) -> bool:
        """The same where a folder stands above the run's own."""
        return self.has("/".join(parts_of(name)[1:]))


def patterns(sources: Iterable[Source]) -> Wanted:
    """All files that sources read: logs, plain or packed, and the documents of constants."""
    return Wanted(tuple(sorted({glob for source in sources for glob in _globs(source)})))


def _globs(source: Source) -> Iterable[str]:
    if source.host_files:
        logs = [source.hosts]
    else:
        logs = [f"{source.hosts}/{log}" if source.hosts else log for log in source.logs]
    yield from (log + end for log in logs for end in ("", *COMPRESSED))
    yield from (file for constant in source.constants for file in constant.files)


def _matches(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """As `Path.glob` finds files: a star stays within a part, two stars are any number of folders."""
    if not glob:
        return not parts
    if glob[0] == "**":
        return any(_matches(parts[index:], glob[1:]) for index in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], glob[0]) and _matches(parts[1:], glob[1:])
