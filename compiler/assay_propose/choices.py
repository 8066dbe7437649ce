"""Tell numbers that someone set, or that identify one of several members, from those that measure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from assay_propose.model import EventProposal, FieldProposal
from assay_propose.names import split_words
from assay_propose.sources import Group
from assay_propose.units import TIMES
from assay_propose.varying import list_growing_fields, never_falls, only_grows

THRESHOLD = "they are a setting: so many in so much time, always the same"  # reasons for no metrics
LIMIT = "they are a threshold by their name"
MEMBER = "they say which one of several it is"
SEQUEL = "they only grow through several events"
#: a number of things in a time, as the pattern of a line has them: `{changes} changes in {duration_seconds} seconds`
_THRESHOLD = re.compile(
    r"\{(?P<count>\w+)\} [A-Za-z]+ (?:in|within|every|per) \{(?P<time>\w+)\}(?= ?[A-Za-z])", re.IGNORECASE
)
#: words of names of thresholds, and those by which such a name is that of a result
_LIMITS = frozenset((
    "budget", "deadline", "expected", "goal", "limit", "limits", "quota", "sla", "slo", "target", "threshold",
    "timeout",
))  # fmt: skip
_OF_RESULTS = frozenset(
    ("count", "error", "errors", "exceeded", "hit", "hits", "misses", "num", "over", "reached", "total")
)
_MOST_LIMITS = 12  # distinct values of a threshold
_MOST_SETTINGS = 3  # distinct pairs of numbers and times
_MIN_LINES = 2  # with each of them, on average
_GREATEST_MEMBER = 1000
#: last words of names of numbers of members of a group
_MEMBERS = frozenset((
    "broker", "candidate", "follower", "leader", "member", "node", "partition", "peer", "replica", "server", "shard",
    "validator", "voter", "worker",
))  # fmt: skip
_NUMBERING = frozenset(("idx", "index", "n", "no", "num", "number"))


def is_setting(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number is of a threshold, such as `100 changes in 300 seconds`.

    A measured time comes with ever other numbers of things; those of thresholds are few pairs in many lines.
    """
    if group.source.kind != "text-lines":
        return False
    for name in event.names:
        match = _THRESHOLD.search(name)
        if match and field.name in match.groups() and group.source.find_field(match["time"]).unit in TIMES:
            pairs = [tuple(map(record.values.get, ((match["count"],), (match["time"],))))
                     for record in group.records[event.name]]  # fmt: skip
            return len({*pairs}) <= min(_MOST_SETTINGS, len(pairs) // _MIN_LINES)
    return False


def is_limit(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number is a threshold by its name, such as `timeout_ms`, and has few values or one."""
    words = {*split_words(field.path[-1])}
    if group.known_format or group.source.kind == "samples" or not words & _LIMITS or words & _OF_RESULTS:
        return False
    values = [record.values[field.path] for record in group.records[event.name] if field.path in record.values]
    return len({*map(str, values)}) <= min(_MOST_LIMITS, max(1, len(values) // _MIN_LINES))


def find_setting(group: Group, event: EventProposal, field: FieldProposal) -> str:
    """Return why a number is a threshold that someone set; empty if it is none."""
    return THRESHOLD if is_setting(group, event, field) else LIMIT if is_limit(group, event, field) else ""


def is_member(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a small whole number says which member of a group a record is about, such as `leader=2`."""
    if group.known_format or field.type != "integer" or field.transform or field.unit != "none":
        return False
    words = split_words(field.path[-1])
    if words[-1:] and words[-1] in _NUMBERING:
        words.pop()
    values = [int(str(value)) for record in group.records[event.name]
              if (value := record.values.get(field.path)) is not None]  # fmt: skip
    is_named = words[-1:] and words[-1] in _MEMBERS and "per" not in words
    return bool(is_named and values) and min(values) >= 0 and max(values) <= _GREATEST_MEMBER


def is_sequel(group: Group, event: EventProposal, field: FieldProposal) -> bool:
    """Return whether a number only grows in another event, and does not fall in the records of both together."""
    records = group.records[event.name]
    if field.transform or not never_falls(records, field):
        return False
    others = (group.records[item.name] for item in group.source.events
              if item.name != event.name and field.name in item.fields)  # fmt: skip
    return any(
        only_grows(other, field) and never_falls(sorted((*records, *other), key=lambda item: item.position), field)
        for other in others
    )


def list_settings(group: Group, keys: Container[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that are settings, members or sequels, and so no metrics, with the reason.

    `keys` are events and their fields that identify rows.
    """
    reasons = ((is_setting, THRESHOLD), (is_limit, LIMIT), (is_member, MEMBER), (is_sequel, SEQUEL))
    growing = {*list_growing_fields(group)}
    for event in group.source.events:
        for field in map(group.source.find_field, event.fields):
            place = event.name, field.name
            if field.is_quantity and place not in keys and place not in growing:
                yield from ((field.name, reason) for holds, reason in reasons if holds(group, event, field))
