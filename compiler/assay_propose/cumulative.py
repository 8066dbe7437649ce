"""Recognize numbers that count since a start, of which only the increases mean something."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator

from assay_propose.known_formats import is_of_benchmarks
from assay_propose.model import EventProposal, FieldProposal, Record
from assay_propose.names import split_words
from assay_propose.sources import Group
from assay_propose.units import TIMES
from assay_propose.varying import counts_up, find_restart, only_grows

BUCKETS = "buckets of a histogram, which count since a start"
RESTARTING = "they only grow until they restart"
_MIN_STEPS = 19  # from record to record of a series; fewer for counters by their names
_MIN_STEPS_OF_NAMED = 3
_MIN_RISES = 0.5  # share of steps that rise
_STEPS_PER_RESTART = 10
_AFTER_RESTART = 3  # times the greatest rise that a counter is at most after a restart
_MANY_VALUES = 8  # distinct ones of a series
_MAX_TEXTS = 100  # values of a field that tells series apart
BUCKET, _SUFFIXES = "_bucket", ("_total", "_count", "_sum")  # of counters of Prometheus
_INSTANTS = frozenset(("created", "start", "time", "timestamp", "uptime"))
_MEMORY = frozenset(("alloc", "free", "heap", "mem", "memory", "ram", "rss", "used"))
#: words of names of counters in other records
_COUNTED = frozenset((
    "bytes", "counter", "cumulative", "errors", "failures", "packets", "requests", "total",
    "totals",
))  # fmt: skip


def is_cumulative(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number only grows in each series of a host and of texts, apart from restarts from 0.

    Memory that grows until it is freed is none.
    """
    if field.transform or is_of_benchmarks(group.source.format) or _MEMORY & {*_list_words(event, field)}:
        return False
    rows = [row for row in _list_series(group, event, field) if len(row) > 1]
    steps = [(a, b) for row in rows for a, b in itertools.pairwise(row)]
    is_named = group.source.kind == "samples" and strip_suffix(event.names[0]) != event.names[0]
    if len(steps) < (_MIN_STEPS_OF_NAMED if is_named else _MIN_STEPS):
        return False
    rises = [b - a for a, b in steps if b > a]
    falls = [(a, b) for a, b in steps if b < a]
    if len(rises) < _MIN_RISES * len(steps) or len(falls) * _STEPS_PER_RESTART > len(steps):
        return False
    if not is_named and max(len({*row}) for row in rows) < _MANY_VALUES:
        return False
    return all(0 <= b <= min(_AFTER_RESTART * max(rises), a / 2) for a, b in falls)


def list_cumulative(group: Group, measured: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield names of numbers that would be worth a metric, but count since a start, with the reason.

    Those of `measured` events and fields have a metric of their rate.
    """
    for event, field in list_numbers(group):
        if (event.name, field.name) in measured:
            continue
        if only_grows(group.records[event.name], field) or find_restart(group, event, field):
            continue  # told as such
        if is_bucket(event) or is_cumulative(group, event, field):
            name = event.names[0] if field.path == ("value",) and event.names else field.name
            yield name, BUCKETS if is_bucket(event) else RESTARTING


def is_bucket(event: EventProposal) -> bool:
    """Return whether the samples of an event are buckets of a histogram of Prometheus."""
    return bool(event.names) and event.names[0].endswith(BUCKET)


def list_numbers(group: Group) -> Iterator[tuple[EventProposal, FieldProposal]]:
    """Yield the numbers that would be worth a metric, with their events."""
    for event in group.source.events:
        for field in map(group.source.find_field, event.fields):
            if field.is_quantity:
                yield event, field


def _list_words(event: EventProposal, field: FieldProposal) -> list[str]:
    return split_words(event.names[0] if field.path == ("value",) and event.names else field.path[-1])


def strip_suffix(name: str) -> str:
    """Return the name of a counter of Prometheus without what says that it is one."""
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)


def is_counter(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number only grows, and counts something by its name: no position, and no time that passed."""
    records, words = group.records[event.name], {*_list_words(event, field)}
    if is_bucket(event) or not (only_grows(records, field) or is_cumulative(group, event, field)):
        return False
    if group.source.kind == "samples":
        return strip_suffix(event.names[0]) != event.names[0] or not words & _INSTANTS
    return bool(words & _COUNTED) and not counts_up(records, field) and field.unit not in TIMES


def list_labels(group: Group, event: EventProposal) -> list[FieldProposal]:
    """Return the texts of an event that tell its series apart: few, each of many records."""
    labels = []
    for field in map(group.source.find_field, event.fields):
        values = {str(record.values.get(field.path)) for record in group.records[event.name]}
        if field.type in ("text", "boolean") and len(values) <= min(_MAX_TEXTS, len(group.records[event.name]) // 2):
            labels.append(field)
    return labels


def split_series(group: Group, event: EventProposal, field: FieldProposal) -> list[list[Record]]:
    """Return the records with a number, apart for each host and each combination of the texts that tell series."""
    labels = list_labels(group, event)
    rows: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in group.records[event.name]:
        if field.path in record.values:
            rows[record.host, *(record.values.get(label.path) for label in labels)].append(record)
    return list(rows.values())


def _list_series(group: Group, event: EventProposal, field: FieldProposal) -> list[list[float]]:
    return [[float(str(record.values[field.path])) for record in row] for row in split_series(group, event, field)]
