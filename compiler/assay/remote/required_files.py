"""Select the files of a run that its sources can read, and the logs among them that only workers fetch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from assay.ingest.decompress import COMPRESSED
from assay.ingest.discovery import MACOS_METADATA_PREFIX
from assay.ingest.readers.protocol import find_batch_reader
from assay.lang.model.package import Source
from assay.remote.address import split_path


@dataclass(frozen=True, slots=True)
class RequiredFiles:
    """Globs of files below a run's directory."""

    globs: tuple[str, ...]

    def has(self, name: str) -> bool:
        """Return whether a file of this name is wanted."""
        parts = split_path(name)
        is_ignored = bool(parts) and parts[-1].startswith(MACOS_METADATA_PREFIX)
        return not is_ignored and any(_is_match(parts, split_path(glob)) for glob in self.globs)

    def has_below(self, name: str) -> bool:
        """Return whether a file is wanted when the first part of its name is a folder above the run."""
        return self.has("/".join(split_path(name)[1:]))


def collect_required_files(sources: Iterable[Source]) -> RequiredFiles:
    """Return the globs of all files that sources read: logs, plain or compressed, and documents of constants."""
    return RequiredFiles(tuple(sorted({glob for source in sources for glob in _list_globs(source)})))


def _list_globs(source: Source) -> Iterable[str]:
    if source.host_files:
        logs = [source.hosts]
    else:
        logs = [f"{source.hosts}/{log}" if source.hosts else log for log in source.logs]
    yield from (log + end for log in logs for end in ("", *COMPRESSED))
    for constant in source.constants:
        yield from (file + end for file in constant.files for end in ("", *(COMPRESSED if constant.line else ())))


def _is_match(parts: Sequence[str], glob: Sequence[str]) -> bool:
    """Match as `Path.glob` does: a star stays within a part, two stars match any number of folders."""
    if not glob:
        return not parts
    if glob[0] == "**":
        return any(_is_match(parts[index:], glob[1:]) for index in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], glob[0]) and _is_match(parts[1:], glob[1:])


def select_deferred_logs(sources: Iterable[Source], names: Collection[str]) -> frozenset[str]:
    """Return which objects of a run, by their names, nobody needs here.

    These are the logs of sources that read hosts apart from each other, if a host has a single one: several are ordered
    by their content. Documents of constants are needed.
    """
    needed: set[str] = set()
    deferred: set[str] = set()
    for source in sources:
        files = [file + end for item in source.constants for file in item.files for end in ("", *COMPRESSED)]
        needed |= {name for name in names if RequiredFiles(tuple(files)).has(name)}
        for logs in _group_by_host(source, names):
            is_single = len(logs) == 1 and find_batch_reader(source.kind) is not None
            (deferred if is_single else needed).update(logs)
    return frozenset(deferred - needed)


def _group_by_host(source: Source, names: Iterable[str]) -> list[Sequence[str]]:
    """Return the names of the logs of each host of a source."""
    prefix = f"{source.hosts}/" if source.hosts else ""
    logs = [source.hosts] if source.host_files else [prefix + log for log in source.logs]
    wanted = RequiredFiles(tuple(log + end for log in logs for end in ("", *COMPRESSED)))
    depth = len(split_path(source.hosts))
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        if wanted.has(name):
            groups[split_path(name)[:depth]].append(name)
    return list(groups.values())
