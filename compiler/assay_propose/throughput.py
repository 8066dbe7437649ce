"""Propose the rate of work of formats that write a record for each piece of it: how many of them a second has."""

from __future__ import annotations

from collections.abc import Iterator

from assay_propose.known_formats import ONES
from assay_propose.model import EventProposal, GrainProposal, MetricProposal
from assay_propose.names import NameSpace, make_identifier
from assay_propose.quantities import describe_quantity
from assay_propose.sources import Group
from assay_propose.titles import make_title
from assay_propose.units import RATE


def find_counter(group: Group) -> str:
    """Return the counter of pieces of work that has a rate, the first that the format names; empty without one."""
    counters = {name for name, _ in _list_counters(group)}
    wanted = group.known_format.throughput if group.known_format and group.source.time else ()
    return next((name for name in wanted if name in counters), "")


def propose_rate(group: Group, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return the grain of the seconds of a run, with the rate of the counter of a source, if it has one."""
    counter = find_counter(group)
    if not counter:
        return ()
    event = next(event for name, event in _list_counters(group) if name == counter)
    column = group.known_format.split[0] if group.known_format else ""
    where = ("", "")
    if column:
        where = next((field.name, counter) for field in group.source.fields if field.path == (column,))
    stem = make_identifier(counter, "work")
    metric = MetricProposal(names.add(f"{stem}_rate"), make_title(counter), f"{RATE} event",
                            f"Records of `{counter}` in each second", where=where, better="higher")  # fmt: skip
    reason = f"each record of `{counter}` counts one: how many of them a second has"
    grain = names.add(f"{stem}_second")
    return (GrainProposal(grain, group.source.name, "", (event.name,), (metric,), reason, title=metric.name),)


def _list_counters(group: Group) -> Iterator[tuple[str, EventProposal]]:
    """Yield the names of values that are 1 in each record, with the events that have them."""
    column = group.known_format.split[0] if group.known_format else ""
    for event in group.source.events:
        texts = {str(record.values[(column,)]) for record in group.records[event.name]} if column else {""}
        for field in map(group.source.find_field, event.fields):
            for text in sorted(texts) if field.is_quantity else ():
                if describe_quantity(group, event, field, text).omission == ONES:
                    yield text or event.names[0], event
