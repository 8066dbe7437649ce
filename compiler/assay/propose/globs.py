"""Find globs by which a source finds the logs of a layout in each run, and name their copies."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from assay.propose.file_names import ENDING, NUMBER_IN_NAME, ROTATION, VERSION_IN_NAME, drop_compression
from assay.propose.model import SampleFile

NEUTRAL_NAME = "log"  # of copies of logs whose names have nothing in common


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
