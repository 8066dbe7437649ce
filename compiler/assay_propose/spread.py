"""Propose how an event spreads over hosts that all have it for the same keys: a block that each of them adopts."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterator

from assay_propose.chains import is_possible_key
from assay_propose.model import EventProposal, FieldProposal, GrainProposal, MetricProposal
from assay_propose.names import NameSpace, join_names
from assay_propose.propagation import list_key_instants
from assay_propose.sources import Group
from assay_propose.titles import make_event_title

_MIN_KEYS, _MIN_HOSTS = 5, 2
_MIN_SINGLE = 0.95  # of the records with a key, that are the only one of their host
_MIN_SHARED = 0.8  # of the keys, which most hosts have
_MIN_HOSTS_OF_HALF = 4
LAST = 1.0  # share of the hosts

Delays = dict[str, list[float]]  # seconds since the first host, by key


def propose_spread(group: Group, names: NameSpace, propagated: Collection[str]) -> tuple[GrainProposal, ...]:
    """Return a grain for each key with an event that most hosts have; times of the keys `propagated` are known."""
    source = group.source
    if group.known_format or not source.time or not source.hosts:
        return ()
    grains: list[GrainProposal] = []
    for field in filter(is_possible_key, source.fields):
        # Numbers that hosts count by themselves are the same by chance.
        if field.type == "text" and field.name not in propagated:
            spreads = [(sum(map(len, delays.values())), event, delays)
                             for event in source.events if (delays := _find_delays(group, event, field))]  # fmt: skip
            if spreads:
                _, event, delays = max(spreads, key=lambda item: item[0])
                grains.append(_build_grain(group, field, event, delays, names))
    return tuple(grains)


def _find_delays(group: Group, event: EventProposal, field: FieldProposal) -> Delays:
    """Return the delays of the keys of an event on all hosts; none if most hosts do not have one record of each."""
    records = group.records[event.name]
    instants = list_key_instants(group, records, field)
    hosts = {host for host, _ in instants}
    with_key = sum(1 for record in records if record.values.get(field.path) is not None)
    by_key: Delays = defaultdict(list)
    for (_, key), seconds in instants.items():
        by_key[key].append(seconds)
    shared = sum(1 for row in by_key.values() if len(row) > len(hosts) / 2)
    is_single = len(instants) >= _MIN_SINGLE * with_key
    if not is_single or len(hosts) < _MIN_HOSTS or shared < max(_MIN_KEYS, _MIN_SHARED * len(by_key)):
        return {}
    delays = {key: [seconds - min(row) for seconds in row] for key, row in by_key.items()}
    return delays if statistics.median(max(row) for row in delays.values()) else {}


def _build_grain(
    group: Group, field: FieldProposal, event: EventProposal, delays: Delays, names: NameSpace
) -> GrainProposal:
    title = make_event_title(group.source, event)
    metrics = tuple(_list_metrics(event, title, max(map(len, delays.values())), names))
    reason = (
        f"{len(delays)} values of `{field.name}` are in `{event.name}` on several hosts: how long after the first, by "
        "the clocks of both"
    )
    return GrainProposal(names.add(join_names(event.name, "spread")), group.source.name, field.name, (event.name,),
                         metrics, reason, title=f"{title}: across hosts", is_spread=True)  # fmt: skip


def _list_metrics(event: EventProposal, title: str, hosts: int, names: NameSpace) -> Iterator[MetricProposal]:
    """Yield the times until the last host, and of several hosts until half of them."""
    shares = [(LAST, "last", "the last host"), (0.5, "half", "half of the hosts")]
    for share, word, until in shares if hosts >= _MIN_HOSTS_OF_HALF else shares[:1]:
        yield MetricProposal(names.add(join_names(event.name, f"to_{word}")), f"{title}: to {until}", "millisecond",
                             f"From the first `{event.name}` of a key to that of {until}, by the clocks of both",
                             event=event.name, better="lower", centile=share)  # fmt: skip
