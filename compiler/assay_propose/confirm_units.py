"""Find the unit of durations whose names have none: by a standard, or by times between instants of the log."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from assay.util.time_units import NANOSECONDS, SECOND
from assay_propose.chains import find_chains
from assay_propose.instants import find_time_form
from assay_propose.model import UNIT_OF, EventProposal, FieldProposal, KeyPath, Record
from assay_propose.quantities import is_time_without_unit
from assay_propose.repeats import list_by_key
from assay_propose.run_order import parse_instant
from assay_propose.sources import Group
from assay_propose.timed_steps import read_instant

#: names of fields of the Elastic Common Schema (ECS) whose unit it defines
_STANDARD_UNITS = {"event.duration": "nanosecond"}
_UNITS = tuple(name for name, size in NANOSECONDS.items() if size <= SECOND)
_TOLERANCE = 0.05  # of a time between instants, by which a duration differs from it
_MIN_PAIRS, _MIN_ALIKE = 5, 0.8  # times between instants, and the share of them that are the durations

Times = list[tuple[float, float]]  # a duration without a unit, and seconds between two instants


def confirm_units(group: Group) -> Group:
    """Return a source whose durations without a unit have that of a standard, or that of times in the log."""
    source = group.source
    if group.known_format or not source.time:
        return group
    events = {
        field: [event for event in source.events if _lacks_unit(event, field)]
        for field in source.fields
        if any(_lacks_unit(event, field) for event in source.events)
    }
    units = {field.name: unit for field in events if (unit := _find_unit(group, field, events[field]))}
    fields = tuple(
        replace(field, unit=units[field.name][0], reason=units[field.name][1]) if field.name in units else field
        for field in source.fields
    )
    reasons = tuple((f"{UNIT_OF}{name}", f"{unit}: {reason}") for name, (unit, reason) in units.items())
    return replace(group, source=replace(source, fields=fields, reasons=(*source.reasons, *reasons)))


def _lacks_unit(event: EventProposal, field: FieldProposal) -> bool:
    return field.name in event.fields and not field.transform and is_time_without_unit(event, field, field.unit)


def _find_unit(group: Group, field: FieldProposal, events: Sequence[EventProposal]) -> tuple[str, str] | None:
    """Return the unit of a field and why; None if neither the log nor a standard tells."""
    for times, description in itertools.chain(_list_times_of_rows(group, field, events),
                                              _list_times_of_keys(group, field, events)):  # fmt: skip
        for unit in _UNITS:
            count = _count_alike(times, NANOSECONDS[unit] / SECOND)
            if len(times) >= _MIN_PAIRS and count >= _MIN_ALIKE * len(times):
                return unit, f"{count} of {len(times)} are the time from {description}"
    name = ".".join(field.path)
    if name in _STANDARD_UNITS:
        return _STANDARD_UNITS[name], f"the Elastic Common Schema defines it for `{name}`"
    return None


def _count_alike(times: Times, seconds: float) -> int:
    return sum(abs(value * seconds - time) <= _TOLERANCE * time for value, time in times)


def _list_times_of_rows(
    group: Group, field: FieldProposal, events: Sequence[EventProposal]
) -> Iterator[tuple[Times, str]]:
    """Yield the durations with the times between two instants of their records."""
    for event in events:
        records = [record for record in group.records[event.name] if field.path in record.values]
        forms = {group.source.time: group.source.time_form}
        for other in map(group.source.find_field, event.fields):
            values = [record.values[other.path] for record in records if other.path in record.values]
            if other.name != field.name and (form := find_time_form(other.path, values)):
                forms[other.path] = form.form
        for first, second in itertools.combinations(forms, 2):
            pairs = ((record, _read(record, first, forms), _read(record, second, forms)) for record in records)
            yield _list_times(field, pairs), f"`{'.'.join(first)}` to `{'.'.join(second)}`"


def _read(record: Record, path: KeyPath, forms: dict[KeyPath, str]) -> float | None:
    return parse_instant(str(record.values.get(path, "")), forms[path])


def _list_times_of_keys(
    group: Group, field: FieldProposal, events: Sequence[EventProposal]
) -> Iterator[tuple[Times, str]]:
    """Yield the durations of events with the times from an event before them that has the same key."""
    names = {event.name for event in events}
    for chain in find_chains(group.records, group.source.fields):
        rows = {name: list_by_key(group, name, chain.field) for name in chain.events}
        for start, end in itertools.combinations(chain.events, 2):
            if end in names:
                firsts = ((rows[start][key][0], last[0]) for key, last in rows[end].items() if key in rows[start])
                pairs = ((last, read_instant(group, first), read_instant(group, last)) for first, last in firsts)
                yield _list_times(field, pairs), f"`{start}` to `{end}`"


def _list_times(field: FieldProposal, pairs: Iterable[tuple[Record, float | None, float | None]]) -> Times:
    """Return the durations of records beside the seconds between two instants, without those that are 0."""
    values = ((record.values.get(field.path), start, end) for record, start, end in pairs)
    return [(float(str(value)), abs(end - start)) for value, start, end in values
            if value is not None and start is not None and end is not None and start != end]  # fmt: skip
