"""Find events that take turns without a common key, such as the start and the end of the work of one worker."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from assay.propose.model import AlternatingPair, Record
from assay.propose.names import split_words

#: the guide to the word that measures the time between such events
GUIDE = "docs/spec-language/grains.md#the-latest-record-before"
_MIN_PAIRS = 3
_MIN_SHARE = 0.9  # of the records of two events that take turns
_MAX_PAIRS = 3  # the most frequent
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
        if start != end and count >= max(_MIN_PAIRS, _MIN_SHARE * size):
            pairs.append(AlternatingPair(start, end, count))
    pairs.sort(key=lambda pair: (not _has_common_word(pair), -pair.count, pair.start, pair.end))
    chosen: list[AlternatingPair] = []
    for pair in pairs:
        if not {pair.start, pair.end} & {name for item in chosen for name in (item.start, item.end)}:
            chosen.append(pair)
    return tuple(chosen[:_MAX_PAIRS])


def _has_common_word(pair: AlternatingPair) -> bool:
    return bool(set(split_words(pair.start)) & set(split_words(pair.end)))


def _count_turns(first: Sequence[Record], last: Sequence[Record]) -> tuple[int, int]:
    """Return how many records of the first event one of the last directly follows, and how many there are at most."""
    by_host: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for records, is_first in ((first, True), (last, False)):
        for record in records:
            by_host[record.host].append((record.position, is_first))
    turns = sum(a and not b for rows in by_host.values() for (_, a), (_, b) in itertools.pairwise(sorted(rows)))
    return turns, max(len(first), len(last))
