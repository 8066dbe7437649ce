"""Decide which sample files are runs of their own and which are parts of one run, and how the source finds them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from assay.ingest.decompress import COMPRESSED
from assay.propose.detect import Detected
from assay.propose.model import RunProposal, SampleFile
from assay.propose.names import NameSpace
from assay.propose.samples import RESERVED

_EARLY = ("rc", "alpha", "beta", "pre", "dev")  # behind a version: it is earlier
_VERSION = rf"(?:v\d+(?:\.\d+)*|\d+(?:\.\d+)+)(?:[-+.]?(?:{'|'.join(_EARLY)})\d*)?"
#: a version between separators; behind a dot only before an ending, as the numbers of rotated files follow dots, too
_VERSION_IN_NAME = re.compile(rf"(?:(?<=[-_])|^)({_VERSION})(?=[-_.]|$)|(?<=\.)({_VERSION})(?=\.[A-Za-z])")
_NUMBER_IN_NAME = re.compile(r"(?:(?<=[-_.])|^)\d+(?:[-_.T]?\d+)*(?=[-_.]|$)")  # also a date
_ROTATION = re.compile(r"(?<=[A-Za-z])(?:[-.]\d+)+$")
_ENDING = re.compile(r"\.[A-Za-z]\w*$")
NEUTRAL_NAME = "log"  # of copies of logs whose names have nothing in common

_MOVE_TOGETHER = "to make them one run, move the logs into one folder of runs/"
_MOVE_APART = "to compare them, move each into a folder of its own below runs/"


def assign_runs(items: Sequence[Detected], get_layout: Callable[[Detected], object]) -> list[Detected]:
    """Return the files with their runs, and with the globs by which a source finds them in a run.

    Files of one layout are runs if the names of the files, or else the folders of files of one name, have versions that
    differ, or if the names differ in more than numbers. Other files are parts of one run.
    """
    names = _name_runs(items, is_one_layout=len({get_layout(item) for item in items}) == 1)
    hosts = [item.sample.host if name != item.sample.host else "" for item, name in zip(items, names, strict=True)]
    assigned = [
        replace(item, sample=replace(item.sample, run=name, host=host))
        for item, name, host in zip(items, names, hosts, strict=True)
    ]
    by_layout: dict[object, list[SampleFile]] = {}
    for item in assigned:
        by_layout.setdefault(get_layout(item), []).append(item.sample)
    placed: dict[SampleFile, SampleFile] = {}
    for samples in by_layout.values():
        foreign = {RESERVED, *(item.sample.name for item in assigned if item.sample not in samples)}
        placed.update(zip(samples, _set_globs(samples, foreign), strict=True))
    return [replace(item, sample=placed[item.sample]) for item in assigned]


def list_runs(samples: Sequence[SampleFile]) -> tuple[RunProposal, ...]:
    """Return the runs of files, each with the reason for it if several names of files need one; versions in order."""
    files: dict[str, list[str]] = {}
    for sample in samples:
        files.setdefault(sample.run, []).append(f"{sample.host}/{sample.copy_name}".lstrip("/"))
    ordered = sorted(files, key=_rank_version) if all(map(_find_version, files)) else list(files)
    names = {_drop_compression(sample.name) for sample in samples}
    reason = ""
    if len(files) > 1:
        noun = "names of the logs" if len(names) > 1 else "folders of the logs"
        difference = "have different versions" if all(map(_find_version, files)) else "differ in more than numbers"
        reason = f"the {noun} {difference}; {_MOVE_TOGETHER}"
    elif len(names) > 1:
        difference = "names of the logs differ only in numbers" if _is_numbered(names) else "logs differ in layout"
        reason = f"the {difference}; {_MOVE_APART}"
    return tuple(RunProposal(name, tuple(files[name]), reason) for name in ordered)


def _name_runs(items: Sequence[Detected], is_one_layout: bool) -> list[str]:
    """Return the name of the run of each file."""
    samples = [item.sample for item in items]
    hosts = [sample.host for sample in samples]
    if all(re.fullmatch(_VERSION, host) for host in hosts) and len(set(hosts)) == len(hosts):
        return hosts
    names = [_drop_compression(sample.name) for sample in samples]
    if is_one_layout and not any(hosts) and len(names) > 1:
        versions = {_find_version(name) for name in names}
        if ("" not in versions and len(versions) == len(names)) or not _is_numbered(names):
            unique = NameSpace()
            return [unique.add(_get_stem(name)) for name in names]
    first = names[0] if len(set(names)) == 1 or not is_one_layout else _drop_numbers(_get_stem(names[0]))
    return [_get_stem(first) or NEUTRAL_NAME] * len(names)


def _is_numbered(names: Collection[str]) -> bool:
    """Return whether names differ only in numbers."""
    return len({re.sub(r"\d+", "0", _ROTATION.sub("", name)) for name in names}) == 1


def _drop_compression(name: str) -> str:
    return next((name.removesuffix(end) for end in COMPRESSED if name.endswith(end)), name)


def _get_stem(name: str) -> str:
    """Return the name of a log without the number of a rotated file and without its ending."""
    stem = _ROTATION.sub("", name)
    return _ENDING.sub("", stem) or stem


def _drop_numbers(stem: str) -> str:
    return re.sub(r"[-_.]?\d[\d_.-]*$", "", stem) or stem


def _find_version(name: str) -> str:
    match = _VERSION_IN_NAME.search(name)
    return (match[1] or match[2]) if match else ""


def _rank_version(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders numbers in names by their value, and `1.2-rc1` before `1.2`."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-2 if part[1:] in _EARLY else -1, part) for part in parts]


def _set_globs(samples: Sequence[SampleFile], foreign: set[str]) -> Iterator[SampleFile]:
    """Yield files of one layout with globs that match them and no foreign file, and what their copies are called.

    Where no glob does that, the copies have a neutral name, or else keep their names.
    """
    names = [_drop_compression(sample.name) for sample in samples]
    globs = _list_globs(names)
    if not any(fnmatchcase(_drop_compression(name), glob) for name in foreign for glob in globs):
        for sample, name in zip(samples, names, strict=True):
            yield replace(sample, glob=next(glob for glob in globs if fnmatchcase(name, glob)))
        return
    endings = {(match[0] if (match := _ENDING.search(name)) else "") for name in names}
    neutral = NEUTRAL_NAME + min(endings)
    is_apart = len({(sample.run, sample.host) for sample in samples}) == len(samples)
    for sample, name in zip(samples, names, strict=True):
        if is_apart and len(endings) == 1 and neutral not in foreign:
            yield replace(sample, glob=neutral, neutral_name=neutral + sample.name.removeprefix(name))
        else:
            yield replace(sample, glob=name)


def _list_globs(names: Sequence[str]) -> list[str]:
    """Return globs that match names and those of later runs: versions, dates and numbers become `*`."""
    globs = list(dict.fromkeys(map(_generalize, names)))
    globs = [glob for glob in globs if not any(glob != other and fnmatchcase(glob, other) for other in globs)]
    endings = {(match[0] if (match := _ENDING.search(glob)) else "") for glob in globs}
    if len(globs) == 1 or len(endings) > 1:
        return globs
    common = itertools.takewhile(lambda chars: len(set(chars)) == 1, zip(*globs, strict=False))
    start = re.sub(r"[^-_.]*$", "", "".join(chars[0] for chars in common).partition("*")[0])
    if len({re.sub(r"\d+", "*", glob) for glob in globs}) == 1:
        return [re.sub(r"\d+", "*", globs[0])]
    return [f"{start}*{endings.pop()}"]


def _generalize(name: str) -> str:
    if _ROTATION.search(name) and _ENDING.search(_ROTATION.sub("", name)):
        return _ROTATION.sub("*", name)
    return _NUMBER_IN_NAME.sub("*", _VERSION_IN_NAME.sub("*", name))
