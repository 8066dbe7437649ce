"""Recognize kinds of numbers: totals and averages since a start, levels, counts, thresholds, ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from assay_propose.choices import MEMBER, find_setting, is_member
from assay_propose.cumulative import is_counter
from assay_propose.instants import find_time_form
from assay_propose.model import EventProposal, FieldProposal, GrainProposal, SourceProposal
from assay_propose.names import split_words
from assay_propose.parameters import is_repetition_number, list_values
from assay_propose.quantities import is_time_without_unit
from assay_propose.running import TOTALS
from assay_propose.sources import Group
from assay_propose.units import LEVELS, NAMES_OF_IDS, TIMES, is_rate
from assay_propose.varying import AVERAGES, counts_up, is_average_since_start, only_grows

#: words of names of numbers that say when something was, or how bad, rather than which one it is
_NO_IDS = frozenset(("date", "day", "level", "month", "timestamp", "ts", "year"))
#: last words of names of numbers that only grow as things are numbered, such as `block=17`
_THINGS = frozenset((
    "batch", "block", "chunk", "commit", "connection", "cycle", "entry", "event", "frame", "generation", "job",
    "ledger", "lsn", "message", "msg", "nonce", "offset", "packet", "query", "record", "request", "segment", "session",
    "snapshot", "step", "task", "term", "transaction", "turn", "tx", "txn", "view", "xid",
))  # fmt: skip
_COUNTING = frozenset(("bytes", "counter", "cumulative", "sum", "total", "totals"))
#: words of names of numbers that go up and down
_OF_LEVELS = frozenset((
    "active", "backlog", "connected", "connections", "depth", "free", "goroutines", "heap", "idle", "inflight", "mem",
    "memory", "occupancy", "open", "peers", "pending", "queue", "queued", "rss", "sessions", "temperature", "threads",
    "usage", "utilization", "waiting",
))  # fmt: skip
_SIZES = ("byte", "kilobyte", "kibibyte", "megabyte", "mebibyte", "gigabyte", "gibibyte", "percent", "none")
_COUNT_WORDS = frozenset(("count", "n", "nb", "num"))
_NO_PLURALS = ("gas", "is", "pos", "ss", "us")  # ends of words in `s` that name no things


@dataclass(frozen=True, slots=True)
class _Uses:
    """How grains use numbers of events: those that a rate counts, keys, and those with a metric."""

    counted: Collection[tuple[str, str]]
    keys: Collection[tuple[str, str]]
    measured: Collection[tuple[str, str]]


def mark_kinds(group: Group, grains: Collection[GrainProposal]) -> SourceProposal:
    """Return a source with the kinds of its numbers, where all of the events that have a number agree on it."""
    if group.source.kind == "samples":  # all events have one field for their values
        return group.source
    uses = _Uses(
        {(event, grain.counter) for grain in grains if grain.counter for event in grain.events},
        {(event, grain.key) for grain in grains if grain.key for event in grain.events},
        {(metric.event, name) for grain in grains for metric in grain.metrics if not metric.is_failure
         for name in (metric.field, metric.since, metric.per, metric.from_start) if name},
    )  # fmt: skip
    return replace(
        group.source, fields=tuple(replace(item, kind=_find_kind(group, item, uses)) for item in group.source.fields)
    )


def _find_kind(group: Group, field: FieldProposal, uses: _Uses) -> str:
    events = [event for event in group.source.events if field.name in event.fields]
    if not events or field.type not in ("integer", "real") or field.transform == "instant":
        return ""
    places = {(event.name, field.name) for event in events}
    reasons = {group.running.get(place, "") for place in places}
    if field.is_quantity and (is_average_since_start(group, field) or reasons == {AVERAGES}):
        return "averageSoFar"
    if not places & {*uses.measured}:
        if any(place in uses.keys for place in places) or all(is_id(group, event, field) for event in events):
            return "id" if field.type == "integer" and field.unit == "none" and not places & {*uses.counted} else ""
        if field.is_quantity and all(find_setting(group, event, field) for event in events):
            return "threshold"
    if field.is_quantity and (
        all(place in uses.counted or group.running.get(place) == TOTALS for place in places)
        or all(is_counter(group, event, field) for event in events)
    ):
        return "counter"
    is_result = field.is_quantity and not group.known_format and reasons == {""}
    if not is_result or any(only_grows(group.records[event.name], field) for event in events):
        return ""
    return _find_kind_of_result(events[0], field)


def _find_kind_of_result(event: EventProposal, field: FieldProposal) -> str:
    """Return the word for a number that is a level or a count by its name."""
    words = split_words(field.path[-1])
    if field.unit in TIMES or is_rate(field.unit) or "per" in words or is_time_without_unit(event, field, field.unit):
        return ""
    if field.unit in _SIZES and (_OF_LEVELS & {*words} or "in flight" in " ".join(words)):
        return "gauge"
    is_plural = words[-1:] and len(words[-1]) > 2 and words[-1].endswith("s") and not words[-1].endswith(_NO_PLURALS)
    is_whole = field.type == "integer" and field.unit == "none" and not field.unit_of
    return "count" if is_whole and (is_plural or _COUNT_WORDS & {words[0], words[-1]}) else ""


def is_id(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a whole number says which one something is: by its name, or as it counts up with the records."""
    if group.known_format or field.type != "integer" or field.transform or field.unit != "none":
        return False
    words, records = split_words(field.path[-1]), group.records[event.name]
    if not field.is_quantity:
        is_named = NAMES_OF_IDS & {*words} and not _NO_IDS & {*words} and field.path[-1].lower() not in LEVELS
        return bool(is_named) and find_time_form(field.path[-1:], sorted(set(list_values(records, field)))) is None
    return (
        is_member(group, event, field) or is_repetition_number(group, event, field) or is_numbering(group, event, field)
    )


def is_numbering(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number counts up from record to record, or only grows and has the name of one thing."""
    if group.known_format or field.type != "integer" or field.transform or field.unit != "none":
        return False
    words, records = split_words(field.path[-1]), group.records[event.name]
    if _COUNTING & {*words} or _COUNT_WORDS & {*words}:
        return False
    return counts_up(records, field) or (words[-1:] != [] and words[-1] in _THINGS and only_grows(records, field))


def list_numbering(group: Group, keys: Collection[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that would be worth a metric, but number what records are about, with the reason."""
    for event in group.source.events:
        for field in map(group.source.find_field, event.fields):
            place = event.name, field.name
            if field.is_quantity and place not in keys and is_numbering(group, event, field):
                yield field.name, MEMBER
