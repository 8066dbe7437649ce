"""Recognize steps whose records have their duration: rows of one grain, and which times between them say the same."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from assay.util.time_units import NANOSECONDS, SECOND
from assay_propose.chains import Chain
from assay_propose.model import DimensionProposal, FieldProposal, GrainProposal, MetricProposal, Record
from assay_propose.names import NameSpace, is_prefixed, make_identifier
from assay_propose.quantities import describe_quantity, is_length_of_media, list_quantities
from assay_propose.read_numbers import read_duration
from assay_propose.repeats import list_by_key
from assay_propose.run_order import parse_instant
from assay_propose.sources import Group
from assay_propose.titles import lower_title, make_plain_title, make_title
from assay_propose.units import TIMES

_MIN_STEPS = 3
_STEP = "step"  # what the column with the names of steps is called if nothing else says it
_TOLERANCE, _DELAY = 0.1, 0.002  # of a duration, and seconds: by which a time between steps differs from the later one
_MIN_ALIKE = 0.8  # of the keys


@dataclass(frozen=True, slots=True)
class TimedSteps:
    """Events of a chain that have a field with their duration, and those that begin where the one before them ends."""

    field: FieldProposal
    events: tuple[str, ...]
    adjoining: frozenset[str]


def find_timed_steps(group: Group, chain: Chain) -> TimedSteps | None:
    """Return the steps of a chain that have the same field with a duration; None if there are fewer than three."""
    if group.known_format:
        return None
    for field in group.source.fields:
        if field.unit not in TIMES or field.name == chain.field:
            continue
        events = tuple(
            name
            for name in chain.events
            if field.name in (event := group.source.find_event(name)).fields
            and not is_length_of_media(event, field)
            and field in list_quantities(group, event)
        )
        if len(events) >= _MIN_STEPS:
            pairs = [pair for pair in itertools.pairwise(chain.events) if pair[1] in events]
            adjoining = {end for start, end in pairs if _adjoins(group, chain, start, end, field)}
            return TimedSteps(field, events, frozenset(adjoining))
    return None


def find_timed_ends(group: Group, chain: Chain) -> frozenset[str]:
    """Return the events of a chain with a duration that is the time from the event before them."""
    return frozenset(
        end
        for start, end in itertools.pairwise(chain.events)
        for field in list_quantities(group, group.source.find_event(end))
        if field.unit in TIMES and field.name != chain.field and _adjoins(group, chain, start, end, field)
    )


def _adjoins(group: Group, chain: Chain, start: str, end: str, field: FieldProposal) -> bool:
    """Return whether the times from an event to the last record of the next are the durations of the latter."""
    starts, ends = (list_by_key(group, name, chain.field) for name in (start, end))
    alike = count = 0
    for key, rows in ends.items():
        instant, duration = read_instant(group, rows[-1]), rows[-1].values.get(field.path)
        earlier = [row for row in starts.get(key, ()) if row.position < rows[-1].position]
        if instant is None or duration is None or not earlier or (before := read_instant(group, earlier[-1])) is None:
            continue
        seconds = _read_seconds(field, str(duration))
        count += 1
        alike += abs(instant - before - seconds) <= _TOLERANCE * seconds + _DELAY
    return count > 0 and alike >= _MIN_ALIKE * count


def _read_seconds(field: FieldProposal, text: str) -> float:
    """Return the seconds of a duration: a number in the unit of its field, or a text such as `1m2.5s`."""
    if not field.transform:
        return float(text) * NANOSECONDS[field.unit] / SECOND
    return read_duration(text)


def measure_zeros(group: Group, chain: Chain, start: str, end: str) -> float:
    """Return the share of the times between two events that are 0, as instants of both are the same; 0 without any."""
    starts, ends = (list_by_key(group, name, chain.field) for name in (start, end))
    pairs = [(starts[key][0], ends[key][0]) for key in ends if key in starts]
    times = [(read_instant(group, first), read_instant(group, last)) for first, last in pairs]
    pairs_of_instants = [pair for pair in times if None not in pair]
    return sum(first == last for first, last in pairs_of_instants) / len(pairs_of_instants) if pairs_of_instants else 0


def read_instant(group: Group, record: Record) -> float | None:
    """Return the seconds of an instant; None without one."""
    return parse_instant(str(record.values.get(group.source.time, "")), group.source.time_form)


def build_step_grain(group: Group, chain: Chain, steps: TimedSteps, names: NameSpace) -> GrainProposal:
    """Return the grain of all records of the steps, with one metric and the name of the step as its dimension."""
    source, field = group.source, steps.field
    column = make_identifier(source.lookup[-1], _STEP) if source.lookup else _STEP
    names_of_fields = NameSpace(item.name for item in source.fields)
    column = names_of_fields.add(_STEP if is_prefixed(column) or column in names_of_fields else column)
    title = make_title(column)
    event = source.find_event(steps.events[0])
    quantity = describe_quantity(group, event, field)
    name = f"{title} {lower_title(make_plain_title(field))}"
    unit = "millisecond" if quantity.unit == "nanosecond" else quantity.unit
    metric = MetricProposal(names.add(f"{column}_{field.name}"), name, unit,
                            f"`{'.'.join(field.path)}` of each {column}", field=field.name,
                            better=quantity.better)  # fmt: skip
    most_frequent = max(steps.events, key=lambda name: source.find_event(name).count)
    reason = f"{len(steps.events)} of the events that share `{chain.field}` have `{field.name}`: each record counts"
    return GrainProposal(names.add(column), source.name, "", steps.events, (metric,), reason, is_timeless=True,
                         title=title, dimensions=(DimensionProposal(column, "", most_frequent),),
                         step_column=column)  # fmt: skip
