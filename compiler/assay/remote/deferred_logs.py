"""Select the logs of a run that need not be fetched, since workers read them where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from assay.ingest.decompress import COMPRESSED
from assay.ingest.readers.protocol import find_batch_reader
from assay.lang.model.package import Source
from assay.remote.address import split_path
from assay.remote.required_files import RequiredFiles


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
