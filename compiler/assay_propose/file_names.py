"""Take the names of logs apart: versions, numbers of rotated files, endings; find the globs that match them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from assay.app.session.repeat_names import DATE
from assay.ingest.decompress import COMPRESSED
from assay_propose.model import SampleFile

_EARLY = ("rc", "alpha", "beta", "pre", "dev")  # behind a version: it is earlier
_VERSION = rf"(?:v\d+(?:\.\d+)*|\d+(?:\.\d+)+)(?:[-+.]?(?:{'|'.join(_EARLY)})\d*)?"
#: a version between separators; behind a dot only before an ending, as the numbers of rotated files follow dots, too
VERSION_IN_NAME = re.compile(rf"(?:(?<=[-_])|^)({_VERSION})(?=[-_.]|$)|(?<=\.)({_VERSION})(?=\.[A-Za-z])")
NUMBER_IN_NAME = re.compile(r"(?:(?<=[-_.])|^)\d+(?:[-_.T]?\d+)*(?=[-_.]|$)")  # also a date
ROTATION = re.compile(r"(?<=[A-Za-z])(?:[-.]\d+)+$")
ENDING = re.compile(r"\.[A-Za-z]\w*$")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")  # of a machine, which looks like a version
_INDEX = re.compile(r"\d+|(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
NEUTRAL_NAME = "log"  # of copies of logs whose names have nothing in common


def drop_compression(name: str) -> str:
    """Return the name of a file without the ending of its compression."""
    return next((name.removesuffix(end) for end in COMPRESSED if name.endswith(end)), name)


def get_stem(name: str) -> str:
    """Return the name of a log without the number of a rotated file and without its ending."""
    stem = ROTATION.sub("", name)
    return ENDING.sub("", stem) or stem


def find_common_stem(files: Collection[str]) -> str:
    """Return the stem of logs at these paths, without what distinguishes them; empty if their words differ."""
    stems = {get_stem(drop_compression(file.rpartition("/")[2])) for file in files}
    if len(stems) > 1:
        stems = {drop_numbers(drop_dates(drop_version(stem))) for stem in stems}
    return stems.pop() if len(stems) == 1 else ""


def drop_dates(stem: str) -> str:
    """Return the stem of a log without its date."""
    return DATE.sub("", stem) or stem


def find_date(text: str) -> str:
    """Return the date in a text, with a time of day behind it, or an empty text."""
    match = DATE.search(text)
    return match[0].lstrip("-_.") if match else ""


def drop_numbers(stem: str) -> str:
    """Return the stem of a log without the numbers at its end."""
    return re.sub(r"[-_.]?\d[\d_.-]*$", "", stem) or stem


def find_version(name: str) -> str:
    """Return the version in a name, or an empty text."""
    match = None if _ADDRESS.fullmatch(name) else VERSION_IN_NAME.search(name)
    return (match[1] or match[2]) if match else ""


def drop_version(stem: str) -> str:
    """Return a stem without its version and the separators that remain at its ends or twice."""
    return re.sub(r"([-_.])[-_.]+", r"\1", VERSION_IN_NAME.sub("", stem)).strip("-_.")


def rank_version(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders numbers in names by their value, and `1.2-rc1` before `1.2`."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-2 if part[1:] in _EARLY else -1, part) for part in parts]


def is_numbered(names: Collection[str]) -> bool:
    """Return whether names differ only in numbers."""
    return len({re.sub(r"\d+", "0", ROTATION.sub("", name)) for name in names}) == 1


def is_indexed(names: Collection[str]) -> bool:
    """Return whether names differ only in numbers or single letters, such as `node-a` and `node-b`."""
    return len({_INDEX.sub("0", name) for name in names}) == 1


def set_globs(samples: Sequence[SampleFile], foreign: set[str]) -> Iterator[SampleFile]:
    """Yield files of one layout with globs that match them and no foreign file, and what their copies are called.

    Where no glob does that, the copies have a neutral name, or else keep their names.
    """
    names = [drop_compression(sample.name) for sample in samples]
    globs = list(dict.fromkeys(_widen(glob, foreign) for glob in _list_globs(names)))
    if not any(fnmatchcase(drop_compression(name), glob) for name in foreign for glob in globs):
        for sample, name in zip(samples, names, strict=True):
            yield replace(sample, glob=next(glob for glob in globs if fnmatchcase(name, glob)))
        return
    endings = {(match[0] if (match := ENDING.search(name)) else "") for name in names}
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
    endings = {(match[0] if (match := ENDING.search(glob)) else "") for glob in globs}
    if len(globs) == 1 or len(endings) > 1:
        return globs
    common = itertools.takewhile(lambda chars: len(set(chars)) == 1, zip(*globs, strict=False))
    start = re.sub(r"[^-_.]*$", "", "".join(chars[0] for chars in common).partition("*")[0])
    if len({re.sub(r"\d+", "*", glob) for glob in globs}) == 1:
        return [re.sub(r"\d+", "*", globs[0])]
    return [f"{start}*{endings.pop()}"]


def _widen(glob: str, foreign: set[str]) -> str:
    """Return a glob with one `*` in place of all between the first and the ending, unless it matches a foreign file.

    `db-*.json` also finds `db-run.json`, which `db-*-run*.json` passes over.
    """
    start, star, rest = glob.partition("*")
    ending = ENDING.search(rest)
    wide = f"{start}*{ending[0]}" if star and ending else glob
    return glob if any(fnmatchcase(drop_compression(name), wide) for name in foreign) else wide


def _generalize(name: str) -> str:
    if ROTATION.search(name) and ENDING.search(ROTATION.sub("", name)):
        return ROTATION.sub("*", name)
    return NUMBER_IN_NAME.sub("*", VERSION_IN_NAME.sub("*", name))
