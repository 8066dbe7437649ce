"""Find the numbers of repeats in the names of logs and of their folders, apart from those of hosts."""

from __future__ import annotations

import itertools
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.app.session.repeat_names import REPEAT_WORDS
from assay_propose.detect import Detected
from assay_propose.file_names import NEUTRAL_NAME, drop_compression, find_date, get_stem
from assay_propose.known_formats import find_known_format
from assay_propose.model import SampleFile
from assay_propose.run_order import Extent

#: a word with a number; longer numbers are dates, or those of builds
_WORDED = re.compile(rf"(?:^|[-_.])((?P<word>{REPEAT_WORDS})[-_.]?(?P<number>\d{{1,3}}))(?=[-_.]|$)", re.IGNORECASE)
#: a number at the end; after a dot only behind letters, since 1.1 and 1.2 are versions
_BARE = re.compile(r"(?:^|[-_]|(?<=[A-Za-z])\.)((?P<number>\d{1,3}))$")
_STEM = sys.maxsize  # the place of the name of a log, below all folders
BY_WORD, BY_NAME = "their names say so", "their names differ in a number from 0 or 1 on"
BY_TIME, BY_FORMAT = "the logs are of one time after another", "results of a benchmark, which are of no hosts"

Place = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class RepeatedLog:
    """A log without the number of its repeat: its folders and name, the text of the number, the number."""

    place: Place
    tag: str
    number: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Logs of repeats, why they are repeats, and the depth of the outermost folder with the number of one."""

    logs: tuple[RepeatedLog, ...]
    reason: str
    depth: int


def find_repeated_logs(items: Sequence[Detected], extents: Mapping[Path, Extent], has_hosts: bool) -> Repeats | None:
    """Return the logs of repeats; None if they are no repeats. `has_hosts` is whether they are of hosts otherwise.

    A word such as `run` before a number names repeats. Numbers without one name them if they count from 0 or 1 on, and
    the logs are results of benchmarks, or the times of what else would be hosts are apart, as hosts of a run run at the
    same time. Numbers behind versions, or alone, name repeats also where times are unknown; those behind words, only of
    several versions.
    """
    samples = [item.sample for item in items]
    depths = [*range(min(len(sample.folders) for sample in samples)), _STEM]
    worded = [depth for depth in depths if _vary(_strip_all(samples, [depth], _WORDED))]
    if worded:
        return Repeats(tuple(_strip_all(samples, worded, _WORDED)), BY_WORD, worded[0])
    for depth in reversed(depths):
        logs = _strip_all(samples, [depth], _BARE)
        if _vary(logs) and _are_counted(logs) and (reason := _find_reason(items, logs, depth, extents, has_hosts)):
            return Repeats(tuple(logs), reason, depth)
    return None


def _strip_all(samples: Sequence[SampleFile], depths: Sequence[int], pattern: re.Pattern[str]) -> list[RepeatedLog]:
    """Return logs without the numbers at depths; none if a log has no number at one of these."""
    logs = []
    for sample in samples:
        places = [(depth, _get_text(sample, depth)) for depth in depths]
        matches = {depth: match for depth, text in places if (match := pattern.search(text))}
        if len(matches) < len(depths) or (pattern is _BARE and any(find_date(text) for _, text in places)):
            return []
        rests = {depth: _cut(match) for depth, match in matches.items()}
        folders = tuple(rests.get(depth, folder) for depth, folder in enumerate(sample.folders))
        name = sample.name
        if _STEM in matches:
            match = matches[_STEM]
            stem = rests[_STEM] or match.groupdict().get("word") or NEUTRAL_NAME
            name = stem + name.removeprefix(match.string)
        tag = "-".join(match[1] for match in matches.values())
        number = int(matches[depths[-1]]["number"])
        logs.append(RepeatedLog((tuple(filter(None, folders)), name), tag, number))
    return logs


def _get_text(sample: SampleFile, depth: int) -> str:
    return get_stem(drop_compression(sample.name)) if depth == _STEM else sample.folders[depth]


def _cut(match: re.Match[str]) -> str:
    """Return a text without the match in it, and without a separator that this leaves at its start."""
    return (match.string[: match.start()] + match.string[match.end() :]).lstrip("-_.")


def _group(logs: Sequence[RepeatedLog]) -> Iterator[list[int]]:
    """Yield the positions of logs that differ in the number of the repeat only."""
    positions: dict[Place, list[int]] = defaultdict(list)
    for position, log in enumerate(logs):
        positions[log.place].append(position)
    yield from positions.values()


def _vary(logs: Sequence[RepeatedLog]) -> bool:
    """Return whether logs differ in the number of the repeat only, and none of them twice."""
    groups = [[logs[index].tag for index in group] for group in _group(logs)]
    return any(len(group) > 1 for group in groups) and all(len({*group}) == len(group) for group in groups)


def _are_counted(logs: Sequence[RepeatedLog]) -> bool:
    """Return whether the numbers of repeats are consecutive from 0 or 1 on; loads and ports of hosts are not."""
    for group in _group(logs):
        numbers = sorted(logs[index].number for index in group)
        if numbers[0] not in (0, 1) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            return False
    return True


def _find_reason(
    items: Sequence[Detected], logs: Sequence[RepeatedLog], depth: int, extents: Mapping[Path, Extent], has_hosts: bool
) -> str:
    """Return why numbers without a word are those of repeats; empty if they are not."""
    if all(map(_is_result, items)):
        return BY_FORMAT
    if not has_hosts:
        return ""
    groups = [sorted(group, key=lambda index: logs[index].number) for group in _group(logs)]
    has_word = any(re.search(r"[A-Za-z][-_.]?$", _cut_bare(_get_text(item.sample, depth))) for item in items)
    if has_word and len(groups) == 1:
        return ""  # a number behind a word is rather that of a host if there is one version
    spans = [None if item.sample.is_cut else extents.get(item.sample.path) for item in items]
    known_spans = [span for span in spans if span]
    if len(known_spans) == len(spans):
        return BY_TIME if all(_are_apart([known_spans[index] for index in group]) for group in groups) else ""
    numbers = {tuple(logs[index].number for index in group) for group in groups}
    return BY_NAME if not has_word and len(groups) > 1 and len(numbers) == 1 else ""


def _cut_bare(text: str) -> str:
    return _BARE.sub("", text)


def _is_result(item: Detected) -> bool:
    """Return whether records are of a tool that measures, and that does not name what it measures by folders."""
    paths = {path for record in item.records[:1000] for path in record.values}
    known_format = find_known_format(item.kind, paths)
    return known_format is not None and not known_format.is_named_by_folders


def _are_apart(spans: Sequence[Extent]) -> bool:
    return all(first[1] < second[0] for first, second in itertools.pairwise(sorted(spans)))
