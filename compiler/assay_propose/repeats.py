"""Tell what it means that a key of a chain has several records of an event: copies, attempts, or results of its own."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from assay_propose.chains import Chain
from assay_propose.model import FieldProposal, Record, RepeatedEvent
from assay_propose.names import drop_number
from assay_propose.sources import Group
from assay_propose.varying import is_constant

_MOST_KEYS = 0.5  # of which more have several records of an event that has results of its own
_SAME_KIND = 0.5  # of the values of a number that others of its name have


def find_repeated(group: Group, chain: Chain) -> tuple[RepeatedEvent, ...]:
    """Return the events of a chain with more records than keys, and which record of a key its times count from.

    If the numbers of all of them are the same for each key, their records are copies, such as announcements of a block
    by several peers: the first counts. Else they are attempts, of which the last before the next event leads to it. If
    both events of a time are repeated, it ends at the last record, so that both are of one attempt.
    """
    rows_by_event = {name: list(list_by_key(group, name, chain.field).values()) for name in chain.events}
    repeated = {name: rows for name, rows in rows_by_event.items() if any(len(row) > 1 for row in rows)}
    are_copies = all(_has_copies(group, name, rows, chain.field) for name, rows in repeated.items())
    previous = dict(itertools.pairwise(chain.events[::-1]))
    return tuple(
        RepeatedEvent(name, sum(map(len, rows)), len(rows),
                      "last" if not are_copies and previous.get(name) in repeated else "first", are_copies)
        for name, rows in repeated.items()
    )  # fmt: skip


def drop_results(group: Group, chain: Chain) -> Chain:
    """Return a chain without the events with numbers of which most keys have several records: each is a result.

    It has all events if fewer than two are left.
    """
    events = tuple(name for name in chain.events if not _has_results(group, name, chain.field))
    return replace(chain, events=events) if len(events) > 1 else chain


def _has_results(group: Group, name: str, key: str) -> bool:
    rows = list(list_by_key(group, name, key).values())
    has_numbers = any(_list_numbers(group, name, key))
    is_copied = _has_copies(group, name, rows, key)
    return has_numbers and not is_copied and sum(len(row) > 1 for row in rows) > _MOST_KEYS * len(rows)


def list_by_key(group: Group, event: str, key: str) -> dict[tuple[str, str], list[Record]]:
    """Return the records of each host and value of its key."""
    path = group.source.find_field(key).path
    rows: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in group.records[event]:
        if (value := record.values.get(path)) is not None:
            rows[record.host, str(value)].append(record)
    return rows


def _has_copies(group: Group, name: str, rows: list[list[Record]], key: str) -> bool:
    """Return whether an event has numbers that vary, but are the same in all records of a key."""
    fields = _list_numbers(group, name, key)
    return bool(fields) and all(
        len({record.values.get(field.path) for record in row}) == 1 for row in rows for field in fields
    )


def _list_numbers(group: Group, name: str, key: str) -> list[FieldProposal]:
    """Return the numbers of an event that vary, apart from the key."""
    event = group.source.find_event(name)
    fields = [field for field in map(group.source.find_field, event.fields) if field.is_quantity and field.name != key]
    return [field for field in fields if not is_constant(group, event, field)]


def find_namesake(group: Group, field: FieldProposal) -> str:
    """Return the field of whose kind a number is: `vertex` of `vertex_2` in `Top vertex {vertex}: {vertex_2}`.

    The text before names both, and most values of the number are values of that field, too. Empty if it has none.
    """
    name = drop_number(field.name)
    if group.source.kind != "text-lines" or field.type != "integer" or field.unit != "none" or not name:
        return ""
    values, others = (
        {str(value) for rows in group.records.values() for record in rows if (value := record.values.get((item,)))}
        for item in (field.name, name)
    )
    return name if len(values & others) >= _SAME_KIND * len(values) > 0 else ""


def list_namesakes(group: Group) -> Iterator[tuple[str, str]]:
    """Yield the names of numbers that are of the kind of another, with the reason for no metric."""
    for field in group.source.fields:
        if field.is_quantity and (name := find_namesake(group, field)):
            yield field.name, f"an id like `{name}`"
