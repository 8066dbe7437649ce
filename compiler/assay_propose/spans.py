"""Find the instants of a record at which what it describes begins and ends, whose difference is a duration."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.ingest.timestamps import ZONED_ISO
from assay.util.time_units import EPOCH_FORMS, NANOSECONDS, SECOND, TIME_UNITS
from assay_propose.instants import MIN_SHARE, find_time_form
from assay_propose.model import EventProposal, FieldProposal, KeyPath, MetricProposal, Record
from assay_propose.names import NameSpace, join_names, make_identifier
from assay_propose.run_order import parse_instant
from assay_propose.sources import Group
from assay_propose.titles import lower_title, make_event_title, make_title

_COLUMNS = ("at", "host", "seq")  # of the rows of each grain
_UNITS = {form: unit.name for unit in TIME_UNITS for form in EPOCH_FORMS if form in unit.spellings}
_MIN_NONZERO = 0.05  # share of the records of which a duration is not 0
_TOLERANCE, _MIN_ALIKE = 0.05, 0.8  # by which a duration in a field differs from one between instants, and of how many
_LONG = 100  # seconds from which on a duration is reported in seconds
_LONGEST = 30 * 86400  # seconds
_MIN_RECORDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A place of instants, how they are written, and the seconds of each record that has one."""

    path: KeyPath
    form: str
    seconds: Mapping[int, float]
    is_whole: bool


def add_spans(group: Group) -> Group:
    """Return a source with fields for the instants that begin or end what records describe, and the spans by event."""
    source = group.source
    if source.kind == "samples":
        return group
    fields = {field.path: field for field in source.fields}
    names = NameSpace([*_COLUMNS, *(field.name for field in source.fields)])
    spans: dict[str, tuple[tuple[str, str], ...]] = {}
    events = []
    for event in source.events:
        columns = list(_list_columns(group, event))
        pairs = _list_pairs(columns)
        pairs = [pair for pair in pairs if not _is_measured(group, event, *pair)]
        for column in dict.fromkeys(item for pair in pairs for item in pair):
            fields[column.path] = _describe_instant(column, fields.get(column.path), names)
        added = dict.fromkeys([*event.fields, *(fields[item.path].name for pair in pairs for item in pair)])
        events.append(replace(event, fields=tuple(added)))
        if pairs:
            spans[event.name] = tuple((fields[first.path].name, fields[last.path].name) for first, last in pairs)
    return replace(group, source=replace(source, fields=tuple(fields.values()), events=tuple(events)), spans=spans)


def list_span_metrics(group: Group, event: EventProposal, names: NameSpace) -> tuple[MetricProposal, ...]:
    """Return the durations between instants of the records of an event."""
    pairs = group.spans.get(event.name, ())
    title = make_event_title(group.source, event)
    metrics = []
    for start, end in pairs:
        text = "duration" if len(pairs) == 1 else f"{make_title(start)} to {lower_title(make_title(end))}"
        name = join_names(event.name, "duration") if len(pairs) == 1 else join_names(start, "to", end)
        first, last = (group.source.find_field(item) for item in (start, end))
        paths = [".".join(item.path) for item in (first, last)]
        median = _measure_median(group, event, first, last)
        metrics.append(
            MetricProposal(names.add(name), f"{title}: {lower_title(text)}",
                           "second" if median >= _LONG else "millisecond",
                           f"From `{paths[0]}` to `{paths[1]}` of `{event.name}`", event=event.name, field=end,
                           better="lower", since=start)
        )  # fmt: skip
    return tuple(metrics)


def _measure_median(group: Group, event: EventProposal, first: FieldProposal, last: FieldProposal) -> float:
    columns = {item.path: item for item in _list_columns(group, event)}
    return statistics.median(_list_differences(columns[first.path], columns[last.path]))


def _list_columns(group: Group, event: EventProposal) -> Iterator[_Column]:
    """Yield the places of instants of records: that of the source, and others that are written with a zone."""
    records = group.records[event.name]
    source = group.source
    if source.time and (not source.time_form or source.time_form in _UNITS) and not source.zone:
        yield _read_column(records, source.time, source.time_form)
    for field in map(source.find_field, event.fields):
        if field.path == source.time or (field.transform and field.transform != "instant") or field.unit_of:
            continue
        values = [str(record.values[field.path]) for record in records if field.path in record.values]
        if all(re.match(ZONED_ISO, value) for value in values):
            yield _read_column(records, field.path, "")
        elif source.time_form in _UNITS and _are_alike(records, field.path, source.time):
            yield _read_column(records, field.path, source.time_form)
        elif (form := find_time_form(field.path, values)) and form.form in _UNITS:
            yield _read_column(records, field.path, form.form)


def _are_alike(records: Sequence[Record], path: KeyPath, time: KeyPath) -> bool:
    """Return whether numbers are so near to the instants of their records that they are instants, too."""
    pairs = [(str(item.values[path]), str(item.values[time])) for item in records
             if path in item.values and time in item.values]  # fmt: skip
    return bool(pairs) and all(
        value.isdigit() and len(value) == len(at.partition(".")[0]) and value[:4] == at[:4] for value, at in pairs
    )


def _read_column(records: Sequence[Record], path: KeyPath, form: str) -> _Column:
    instants = ((index, parse_instant(str(item.values[path]), form)) for index, item in enumerate(records)
                if path in item.values)  # fmt: skip
    is_whole = all(str(item.values[path]).isdigit() for item in records if path in item.values)
    return _Column(path, form, {index: seconds for index, seconds in instants if seconds is not None}, is_whole)


def _list_pairs(columns: Sequence[_Column]) -> list[tuple[_Column, _Column]]:
    """Return the places of instants that follow one another, and the first with the last."""
    filled = [column for column in columns if len(column.seconds) >= _MIN_RECORDS]
    ordered = sorted(filled, key=lambda column: statistics.fmean(column.seconds.values()))
    pairs = [pair for pair in itertools.pairwise(ordered) if _is_span(*pair)]
    if len(pairs) > 1 and _is_span(ordered[0], ordered[-1]):
        pairs.insert(0, (ordered[0], ordered[-1]))
    return pairs


def _list_differences(first: _Column, last: _Column) -> list[float]:
    return [last.seconds[index] - at for index, at in first.seconds.items() if index in last.seconds]


def _is_span(first: _Column, last: _Column) -> bool:
    """Return whether one instant is never before the other, and sometimes behind it, by different times."""
    differences = _list_differences(first, last)
    if len(differences) < _MIN_RECORDS or len(set(differences)) == 1:
        return False
    is_ordered = sum(item >= 0 for item in differences) >= MIN_SHARE * len(differences)
    is_long = sum(item > 0 for item in differences) >= _MIN_NONZERO * len(differences)
    return is_ordered and is_long and statistics.median(differences) <= _LONGEST


def _is_measured(group: Group, event: EventProposal, first: _Column, last: _Column) -> bool:
    """Return whether a field of the records has the duration between two instants."""
    records = group.records[event.name]
    differences = {index: last.seconds[index] - at for index, at in first.seconds.items() if index in last.seconds}
    for field in map(group.source.find_field, event.fields):
        if not field.is_quantity or field.unit not in NANOSECONDS or field.transform:
            continue
        values = {index: float(str(records[index].values[field.path])) * NANOSECONDS[field.unit] / SECOND
                  for index in differences if field.path in records[index].values}  # fmt: skip
        alike = sum(abs(value - differences[index]) <= _TOLERANCE * abs(value) for index, value in values.items())
        if values and alike >= _MIN_ALIKE * len(differences):
            return True
    return False


def _describe_instant(column: _Column, field: FieldProposal | None, names: NameSpace) -> FieldProposal:
    """Return the field of a place of instants."""
    name = (
        field.name
        if field
        else names.add("started" if column.path == ("at",) else make_identifier(column.path[-1], "started"))
    )
    described = field or FieldProposal(name, column.path, "integer")
    if not column.form:
        return replace(described, type="integer", unit="nanosecond", transform="instant", is_quantity=False)
    reason = f"numbers of {column.form} since 1970"
    kind = "integer" if column.is_whole else "real"
    return replace(described, type=kind, unit=_UNITS[column.form], reason=reason, is_quantity=False)
