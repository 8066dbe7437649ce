"""Decide which sample files are runs of their own, which are hosts and which are parts of one log."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.app.session.repeat_names import find_repeats
from assay.util.diagnostics import USAGE, fail
from assay.util.numbers import split_numbers
from assay_propose.detect import Detected
from assay_propose.file_names import (
    NEUTRAL_NAME,
    drop_compression,
    drop_dates,
    drop_numbers,
    drop_version,
    find_date,
    find_version,
    get_stem,
    is_indexed,
    is_numbered,
    rank_version,
    set_globs,
)
from assay_propose.model import RunProposal, SampleFile
from assay_propose.names import NameSpace
from assay_propose.run_order import Extent, order_versions, rank_name
from assay_propose.run_repeats import find_repeated_logs
from assay_propose.samples import RESERVED

#: what each log may be: a run of its own, a host of one run, a part of the log of one host
RUN, HOST, PART = "run", "host", "part"
READINGS = (RUN, HOST, PART)
_LAYOUTS = "the logs differ in layout; for several runs or hosts, name logs of one layout after `--from`"
_SEPARATOR = "-"  # between the folders that name a host


@dataclass(frozen=True, slots=True)
class Placement:
    """The run and the host of each file, and why these are runs and hosts; the reasons are empty without a choice.

    `versions` are those of runs that are repeats, if it is not their names alone that say so.
    """

    runs: tuple[str, ...]
    hosts: tuple[str, ...]
    reason: str
    hosts_reason: str
    versions: Mapping[str, str] = field(default_factory=dict)
    repeats_reason: str = ""


@dataclass(frozen=True, slots=True)
class _Split:
    """Files divided into runs: the run of each, its folders apart from the run, its stem apart from the run."""

    runs: tuple[str, ...]
    folders: tuple[tuple[str, ...], ...]
    stems: tuple[str, ...]
    reason: str


def assign_runs(
    items: Sequence[Detected],
    get_layout: Callable[[Detected], Hashable],
    extents: Mapping[Path, Extent],
    each: str = "",
) -> tuple[list[Detected], Placement]:
    """Return the files with their runs and hosts, and with the globs by which a source finds them in a run.

    `each` is what each file is, one of `READINGS`. Raises AssayError (usage) if files of several layouts cannot be so.
    Without `each`, folders and names decide:

    Versions that differ in the folders of the files, or in their names, are runs, and so are folders such as `before`
    and `after`. Without them, the outermost folders are runs if each has the same folders, or the same logs of one
    layout; files side by side are runs if their names differ in more than numbers. What else distinguishes files of one
    name within a run is their host, or the number of a repeat: `find_repeated_logs`. `extents` are the first and last
    instants of files.
    """
    samples = [item.sample for item in items]
    layouts = [get_layout(item) for item in items]
    if each in (RUN, HOST) and len(set(layouts)) > 1:
        first, other = samples[0], next(item for item, key in zip(samples, layouts, strict=True) if key != layouts[0])
        raise fail("options", f"`--each {each}` does not go with logs of different layouts", status=USAGE,
                   found=f"{first.name} and {other.name}", hint="name logs of one layout after `--from`")  # fmt: skip
    placement = _place_each(samples, each) if each else _place_repeats(items, layouts, extents)
    places: dict[tuple[str, str], NameSpace] = defaultdict(lambda: NameSpace({RESERVED}))
    assigned = []
    for item, run, host in zip(items, placement.runs, placement.hosts, strict=True):
        name = places[run, host].add(item.sample.name)
        assigned.append(replace(item, sample=replace(item.sample, run=run, host=host, name=name)))
    by_layout: dict[Hashable, list[SampleFile]] = {}
    for item, layout in zip(assigned, layouts, strict=True):
        by_layout.setdefault(layout, []).append(item.sample)
    placed: dict[SampleFile, SampleFile] = {}
    for group in by_layout.values():
        foreign = {RESERVED, *(item.sample.name for item in assigned if item.sample not in group)}
        placed.update(zip(group, set_globs(group, foreign), strict=True))
    return [replace(item, sample=placed[item.sample]) for item in assigned], placement


def list_runs(
    samples: Sequence[SampleFile], placement: Placement, extents: Mapping[Path, Extent]
) -> tuple[tuple[RunProposal, ...], str]:
    """Return the runs of files, each with the reason for it, the baseline first; and why it is the baseline.

    `extents` are the first and last instants of files. The second reason is empty for a single version, and if versions
    in the names of runs have an order.
    """
    files: dict[str, list[str]] = {}
    paths: dict[str, list[Path]] = defaultdict(list)
    for sample in samples:
        files.setdefault(sample.run, []).append(f"{sample.host}/{sample.copy_name}".lstrip("/"))
        paths[sample.run].append(sample.path)
    has_versions = all(map(find_version, files))
    ordered = (
        sorted(files, key=lambda name: (rank_version(find_version(name)), split_numbers(name)))
        if has_versions
        else list(files)
    )
    repeats = placement.versions or find_repeats(ordered)
    version_of = {name: repeats.get(name, name) for name in ordered}
    paths_by_version: dict[str, list[Path]] = defaultdict(list)
    for run in ordered:
        paths_by_version[version_of[run]].extend(paths[run])
    versions, order_reason = list(dict.fromkeys(version_of.values())), ""
    if not has_versions and len(versions) > 1:
        versions, order_reason = order_versions(versions, _join_extents(paths_by_version, extents))
        ordered.sort(key=lambda name: (versions.index(version_of[name]), split_numbers(name)))
    runs = (RunProposal(name, tuple(files[name]), placement.reason, version_of[name]) for name in ordered)
    return tuple(runs), order_reason


def _join_extents(paths: Mapping[str, Sequence[Path]], extents: Mapping[Path, Extent]) -> dict[str, Extent]:
    """Return the extents of versions all of whose files have one."""
    return {
        version: (min(extents[path][0] for path in files), max(extents[path][1] for path in files))
        for version, files in paths.items()
        if all(path in extents for path in files)
    }


def _place_each(samples: Sequence[SampleFile], each: str) -> Placement:
    """Return the placement of files each of which is a run, a host or a part; the runs of versions are in order."""
    stems = _get_stems(samples)
    run = drop_numbers(stems[0]) if len({drop_numbers(stem) for stem in stems}) == 1 else NEUTRAL_NAME
    folders = _join_varying([sample.folders for sample in samples])
    if len({*zip(folders, stems, strict=True)}) < len(stems):
        stems = _get_dated_stems(samples)
    pairs = zip(folders, stems if len(set(stems)) > 1 or not any(folders) else [""] * len(stems), strict=True)
    unique = NameSpace()
    names = tuple(
        unique.add(_SEPARATOR.join(filter(None, pair)) or stem) for pair, stem in zip(pairs, stems, strict=True)
    )
    if each == RUN:
        return Placement(names, ("",) * len(names), f"`--each {RUN}`", "")
    runs, no_hosts = (run,) * len(names), ("",) * len(names)
    return Placement(runs, names, "", f"`--each {HOST}`") if each == HOST else Placement(runs, no_hosts, "", "")


def _place_repeats(items: Sequence[Detected], layouts: Sequence[Hashable], extents: Mapping[Path, Extent]) -> Placement:
    """Return the placement of files; those of repeats are where one without the number of its repeat is."""
    placement = _place_files([item.sample for item in items], layouts)
    repeats = find_repeated_logs(items, extents, any(placement.hosts))
    if not repeats:
        return placement
    first = {log.place: index for index, log in reversed([*enumerate(repeats.logs)])}
    samples = [replace(items[index].sample, folders=place[0], name=place[1]) for place, index in first.items()]
    rest = _place_files(samples, [layouts[index] for index in first.values()], repeats.depth)
    places = dict(zip(first, zip(rest.runs, rest.hosts, strict=True), strict=True))
    runs, hosts, versions = [], [], {}
    for log in repeats.logs:
        version, host = places[log.place]
        # The run of `run1.json` is no `run-run1`.
        runs.append(
            log.tag if re.match(rf"{re.escape(version)}[-_.]?\d", log.tag) else f"{version}{_SEPARATOR}{log.tag}"
        )
        hosts.append(host)
        versions[runs[-1]] = version
    return Placement(tuple(runs), tuple(hosts), rest.reason, rest.hosts_reason, versions, repeats.reason)


def _place_files(samples: Sequence[SampleFile], layouts: Sequence[Hashable], repeated: int = -1) -> Placement:
    """Return the placement of files; `repeated` is the depth of the folders of repeats, which their folders lack."""
    is_one_layout = len(set(layouts)) == 1
    split = (
        _split_by_folder_versions(samples)
        or _split_by_folder_words(samples)
        or _split_by_name_versions(samples, is_one_layout)
        or _split_by_folders(samples, is_one_layout, repeated)
        or _split_by_names(samples, is_one_layout)
    )
    hosts, reason = _name_hosts(split, samples, is_one_layout)
    return Placement(split.runs, hosts, split.reason, reason)


def _get_stems(samples: Sequence[SampleFile]) -> tuple[str, ...]:
    return tuple(drop_dates(get_stem(drop_compression(sample.name))) for sample in samples)


def _get_dated_stems(samples: Sequence[SampleFile]) -> tuple[str, ...]:
    """Return the dates of the names of files if they have them and nothing else differs; else the whole stems."""
    stems = [get_stem(drop_compression(sample.name)) for sample in samples]
    dates = tuple(map(find_date, stems))
    return dates if all(dates) and len({*map(drop_dates, stems)}) == 1 else tuple(stems)


def _list_levels(samples: Sequence[SampleFile]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the depths at which the folders of files differ, each with the folders; the outermost first."""
    columns = enumerate(zip(*(sample.folders for sample in samples), strict=False))
    return [(depth, column) for depth, column in columns if len(set(column)) > 1]


def _split_at_level(samples: Sequence[SampleFile], depth: int, reason: str) -> _Split:
    runs = tuple(sample.folders[depth] for sample in samples)
    rest = tuple((*sample.folders[:depth], *sample.folders[depth:][1:]) for sample in samples)
    return _Split(runs, rest, _get_stems(samples), reason)


def _split_by_folder_versions(samples: Sequence[SampleFile]) -> _Split | None:
    for depth, column in _list_levels(samples):
        if len({find_version(folder) for folder in column} - {""}) > 1 and all(map(find_version, column)):
            return _split_at_level(samples, depth, "the folders of the logs have different versions")
    return None


def _split_by_folder_words(samples: Sequence[SampleFile]) -> _Split | None:
    """Divide files by folders whose names have words of a baseline or of a candidate, such as `before` and `after`."""
    levels = _list_levels(samples)
    if all(sample.folders for sample in samples):  # of benchmarks in groups, and of others, only these may be alike
        levels.append((-1, tuple(sample.folders[-1] for sample in samples)))
    for depth, column in levels:
        if {*map(rank_name, column)} == {-1, 1}:
            return _split_at_level(samples, depth, "the names of the folders say which is the baseline")
    return None


def _split_by_name_versions(samples: Sequence[SampleFile], is_one_layout: bool) -> _Split | None:
    """Divide files by the versions of their names; names are runs if no two have one version."""
    names = [drop_compression(sample.name) for sample in samples]
    versions = [find_version(name) for name in names]
    if not all(versions) or len(set(versions)) == 1:
        return None
    reason = "the names of the logs have different versions"
    folders = tuple(sample.folders for sample in samples)
    if len(set(versions)) < len(versions):
        stems = tuple(drop_version(stem) for stem in _get_stems(samples))
        return _Split(tuple(versions), folders, stems, reason)
    if not is_one_layout or len(set(names)) < len(names):
        return None
    return _Split(_name_by_stems(names), folders, ("",) * len(names), reason)


def _name_by_stems(names: Sequence[str]) -> tuple[str, ...]:
    unique = NameSpace()
    return tuple(unique.add(get_stem(name)) for name in names)


def _split_by_folders(samples: Sequence[SampleFile], is_one_layout: bool, repeated: int) -> _Split | None:
    """Divide files by their outermost folders if all of these have the same folders, or the same logs."""
    levels = _list_levels(samples)
    if not levels:
        return None
    depth, outer = levels[0]
    stems = _get_stems(samples)
    inner = [sample.folders[depth + 1 :] for sample in samples]
    has_repeats = depth < repeated and not is_numbered(set(outer))
    if has_repeats or (len(levels) > 1 and _is_grid(outer, inner)):
        return _split_at_level(samples, depth, "each of these folders has the same folders")
    are_logs_hosts = is_one_layout and len(set(stems)) > 1 and (not is_numbered(set(outer)) or is_indexed(set(stems)))
    if len(levels) == 1 and are_logs_hosts and _is_grid(outer, stems):
        return _split_at_level(samples, depth, "each of these folders has the same logs")
    return None


def _is_grid(outer: Sequence[str], inner: Sequence[Hashable]) -> bool:
    """Return whether each outer part has the same inner parts."""
    by_outer: dict[str, set[Hashable]] = defaultdict(set)
    for part, rest in zip(outer, inner, strict=True):
        by_outer[part].add(rest)
    return len(set(map(frozenset, by_outer.values()))) == 1


def _split_by_names(samples: Sequence[SampleFile], is_one_layout: bool) -> _Split:
    """Divide files side by side whose names differ in more than numbers; else all are one run."""
    names = [drop_compression(sample.name) for sample in samples]
    folders = tuple(sample.folders for sample in samples)
    is_side_by_side = len(set(names)) == len(names)
    if is_one_layout and is_side_by_side and len(names) > 1 and not is_numbered(names):
        reason = "the names of the logs differ in more than numbers"
        return _Split(_name_by_stems(names), folders, ("",) * len(names), reason)
    reason = ""
    if len(names) > 1 and is_side_by_side:
        reason = "the names of the logs differ only in numbers" if is_numbered(names) else _LAYOUTS
    first = names[0] if len(set(names)) == 1 or not is_one_layout else drop_numbers(get_stem(names[0]))
    run = get_stem(first) or NEUTRAL_NAME
    return _Split((run,) * len(names), folders, ("",) * len(names), reason)


def _name_hosts(split: _Split, samples: Sequence[SampleFile], is_one_layout: bool) -> tuple[tuple[str, ...], str]:
    """Return the host of each file, and where these come from; empty texts if no run has several."""
    hosts = ("",) * len(samples)
    rest = _join_varying(split.folders)
    counts = Counter((run, sample.name) for run, sample in zip(split.runs, samples, strict=True))
    if len(set(split.runs)) > 1 or max(counts.values()) > 1:
        hosts, reason = rest, "the folders of the logs"
    if is_one_layout and _has_several(split.runs, split.stems):
        is_by_both = any(hosts)
        hosts = tuple(_SEPARATOR.join(filter(None, pair)) for pair in zip(hosts, split.stems, strict=True))
        reason = "the folders and names of the logs" if is_by_both else "the names of the logs"
    if not any(hosts):
        return hosts, ""
    return tuple(host or get_stem(sample.name) for host, sample in zip(hosts, samples, strict=True)), reason


def _has_several(runs: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a run has several of the parts."""
    return len(set(zip(runs, parts, strict=True))) > len(set(runs))


def _join_varying(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the parts of each row without those that all rows have."""
    depth = min(map(len, rows))
    varying = [index for index in range(depth) if len({row[index] for row in rows}) > 1]
    return tuple(_SEPARATOR.join((*(row[index] for index in varying), *row[depth:])) for row in rows)


def list_other_readings(samples: Sequence[SampleFile]) -> tuple[str, ...]:
    """Return what each file could be instead, of files that are runs, hosts or parts, and of one layout."""
    if len(samples) < 2:
        return ()
    runs = {sample.run for sample in samples}
    places = {(sample.run, sample.host) for sample in samples}
    if len(runs) == len(samples):
        return (HOST,)
    return (RUN,) if len(runs) == 1 and len(places) == len(samples) else (RUN, HOST)


def list_hosts(samples: Iterable[SampleFile]) -> tuple[str, ...]:
    """Return the hosts of files, in their order."""
    return tuple(dict.fromkeys(sample.host for sample in samples if sample.host))
