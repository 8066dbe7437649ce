"""Find events that take turns without a common key, such as the start and the end of the work of one worker."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from assay_propose.model import AlternatingPair, Record
from assay_propose.names import NO_NAMES, split_words

#: the guide to the word that measures the time between such events
GUIDE = "docs/spec-language/grains.md#the-latest-record-before"
_MIN_PAIRS = 3
_MIN_SHARE = 0.9  # of the records of two events that take turns
_MIN_NAMED_SHARE = 0.5  # of those of two events whose names agree in what starts and ends
_MAX_PAIRS = 3  # the most frequent
_MIN_EVENTS, _MIN_ROUNDS = 3, 5  # of events that take turns without words of start and end
STARTS = frozenset((
    "began", "begin", "begins", "begun", "launch", "launching", "open", "opened", "opening", "start", "started",
    "starting", "starts",
))  # fmt: skip
ENDS = frozenset((
    "close", "closed", "complete", "completed", "done", "end", "ended", "ends", "exit", "exited", "finish", "finished",
    "finishes", "stop", "stopped",
))  # fmt: skip


def find_alternating(
    records_by_event: Mapping[str, Sequence[Record]], excluded: Collection[str]
) -> tuple[AlternatingPair, ...]:
    """Return pairs of a first and a last event that take turns on each host; events of chains are `excluded`."""
    starts = [name for name in records_by_event if name not in excluded and STARTS & set(split_words(name))]
    ends = [name for name in records_by_event if name not in excluded and ENDS & set(split_words(name))]
    pairs = []
    for start, end in itertools.product(sorted(starts), sorted(ends)):
        count, size = _count_turns(records_by_event[start], records_by_event[end])
        pair = AlternatingPair(start, end, count, len(records_by_event[start]))
        share = _MIN_NAMED_SHARE if _has_topic(pair) else _MIN_SHARE
        if start != end and count >= max(_MIN_PAIRS, share * size):
            pairs.append(pair)
    pairs.sort(key=lambda pair: (not _has_topic(pair), -pair.count, pair.start, pair.end))
    chosen: list[AlternatingPair] = []
    for pair in (*pairs, *_find_cycles(records_by_event, excluded)):
        if not {pair.start, pair.end} & {name for item in chosen for name in (item.start, item.end)}:
            chosen.append(pair)
    return tuple(chosen[:_MAX_PAIRS])


def _find_cycles(
    records_by_event: Mapping[str, Sequence[Record]], excluded: Collection[str]
) -> Iterator[AlternatingPair]:
    """Yield the first and last of events that follow each other in the same order, round by round, on each host.

    The name of one of them says that something starts or ends, unlike those of numbers that are printed together.
    """
    places = {
        name: _list_positions(records)
        for name, records in records_by_event.items()
        if name not in excluded and len(records) >= _MIN_ROUNDS
    }
    remaining = sorted(places, key=lambda name: (min(map(min, places[name].values())), name))
    while remaining:
        cycle: list[str] = []
        for name in remaining:
            if all(_alternate(places[member], places[name]) for member in cycle):
                cycle.append(name)
        remaining = [name for name in remaining if name not in cycle]
        if len(cycle) >= _MIN_EVENTS and any((STARTS | ENDS) & {*split_words(name)} for name in cycle):
            first, last = records_by_event[cycle[0]], records_by_event[cycle[-1]]
            yield AlternatingPair(cycle[0], cycle[-1], len(last), len(first))


def _list_positions(records: Sequence[Record]) -> dict[str, list[int]]:
    """Return where in the log of each host records are, in order."""
    positions: dict[str, list[int]] = defaultdict(list)
    for record in records:
        positions[record.host].append(record.position)
    return {host: sorted(row) for host, row in positions.items()}


def _alternate(first: Mapping[str, Sequence[int]], last: Mapping[str, Sequence[int]]) -> bool:
    """Return whether one record of the last event follows each of the first on each host; the last round may be cut."""
    return first.keys() == last.keys() and all(
        len(last[host]) in (len(row), len(row) - 1)
        and all(a < b for a, b in zip(row, last[host], strict=False))
        and all(b < a for a, b in zip(row[1:], last[host], strict=False))
        for host, row in first.items()
    )


def _has_topic(pair: AlternatingPair) -> bool:
    return bool(_find_topic(pair.start) & _find_topic(pair.end))


def _find_topic(name: str) -> set[str]:
    """Return the words of a name that say what starts or ends."""
    return {*split_words(name)} - STARTS - ENDS - NO_NAMES


def list_paired(counts: Mapping[str, int], names: Mapping[str, str]) -> Iterator[str]:
    """Yield the events of pairs of a start and an end, the most frequent pairs first; `names` are their names.

    The names agree in what starts and ends, and the rarer event has at least half as many records as the other.
    """
    ends_by_word: dict[str, list[str]] = defaultdict(list)
    topics = {event: _find_topic(name) for event, name in names.items()}
    for event, name in names.items():
        if counts[event] >= _MIN_PAIRS and ENDS & {*split_words(name)}:
            for word in topics[event]:
                ends_by_word[word].append(event)
    pairs: list[tuple[int, str, str]] = []
    for start, name in names.items():
        if counts[start] >= _MIN_PAIRS and STARTS & {*split_words(name)}:
            ends = {end for word in topics[start] for end in ends_by_word[word]} - {start}
            least, most = _MIN_NAMED_SHARE * counts[start], counts[start] / _MIN_NAMED_SHARE
            near = (end for end in ends if least <= counts[end] <= most)
            if end := min(near, key=lambda end: (-len(topics[start] & topics[end]), -counts[end], end), default=""):
                pairs.append((-min(counts[start], counts[end]), start, end))
    for _, start, end in sorted(pairs):
        yield from (start, end)


def _count_turns(first: Sequence[Record], last: Sequence[Record]) -> tuple[int, int]:
    """Return how many records of the first event one of the last directly follows, and how many there are at most."""
    by_host: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for records, is_first in ((first, True), (last, False)):
        for record in records:
            by_host[record.host].append((record.position, is_first))
    turns = sum(a and not b for rows in by_host.values() for (_, a), (_, b) in itertools.pairwise(sorted(rows)))
    return turns, max(len(first), len(last))
