"""Propose how long a thing takes from the host that announces it to the others: a block, a message, a request."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from assay_propose.chains import is_possible_key
from assay_propose.model import FieldProposal, GrainProposal, MetricProposal, Record
from assay_propose.names import NameSpace, drop_common_words, make_identifier, split_words
from assay_propose.sources import Group
from assay_propose.timed_steps import read_instant
from assay_propose.titles import lower_title, make_title

_MIN_KEYS = 5
_MIN_ELSEWHERE = 0.5  # of the keys of a host, which another host announces
_MIN_LATER = 0.9  # of these, whose record is later
_MIN_PRESENT = 0.95  # of the rows, which have an event that is no exception
_WORD = "propagation"

Instants = Mapping[tuple[str, str], float]  # seconds by host and key


def propose_propagation(group: Group, names: NameSpace) -> tuple[GrainProposal, ...]:
    """Return a grain for each key that one host announces and others have: times from its record to theirs."""
    if group.known_format or not group.source.time:
        return ()
    grains: list[GrainProposal] = []
    for field in filter(is_possible_key, group.source.fields):
        # Numbers that hosts count by themselves are the same by chance.
        instants = {name: list_key_instants(group, records, field) for name, records in group.records.items()}
        events = _find_events(instants) if field.type == "text" else ()
        if events and not {*events} & {name for grain in grains for name in grain.events}:
            grains.append(_build_grain(group, field, events, instants, names))
    return tuple(grains)


def list_key_instants(group: Group, records: Sequence[Record], field: FieldProposal) -> Instants:
    """Return when a host has its first record of each key."""
    instants: dict[tuple[str, str], float] = {}
    for record in records:
        key = record.values.get(field.path)
        if key is not None and (seconds := read_instant(group, record)) is not None:
            instants.setdefault((record.host, str(key)), seconds)
    return instants


def _find_events(instants: Mapping[str, Instants]) -> tuple[str, ...]:
    """Return the event that announces keys, each on one host, and those that follow on others; empty without such."""
    longest: list[tuple[float, str]] = []
    for name, announced in sorted(instants.items()):
        origins = {key: (host, seconds) for (host, key), seconds in announced.items()}
        if len(origins) == len(announced) >= _MIN_KEYS:
            delays = ((_find_delay(origins, instants[other]), other) for other in instants if other != name)
            events = [(0.0, name), *sorted((delay, other) for delay, other in delays if delay is not None)]
            longest = max(longest, events, key=len)
    return tuple(name for _, name in longest) if len(longest) > 1 else ()


def _find_delay(origins: Mapping[str, tuple[str, float]], instants: Instants) -> float | None:
    """Return the median time until hosts have the keys that others announce; None if they do not follow."""
    delays = [seconds - origins[key][1] for (host, key), seconds in instants.items()
              if key in origins and host != origins[key][0]]  # fmt: skip
    if len(delays) < max(_MIN_KEYS, _MIN_ELSEWHERE * len(instants)):
        return None
    is_later = sum(delay >= 0 for delay in delays) >= _MIN_LATER * len(delays)
    return statistics.median(delays) if is_later else None


def _build_grain(
    group: Group, field: FieldProposal, events: tuple[str, ...], instants: Mapping[str, Instants], names: NameSpace
) -> GrainProposal:
    """Return the grain of a key with the rows of the events after the first, on each host that lacks the first."""
    words = [word for word in split_words(field.path[-1]) if word not in ("id", "uid", "key")] or [field.name]
    origin, *others = events
    short = drop_common_words(events)
    titles = {name: f"{_WORD.title()} to {lower_title(make_title(short[name]))}" for name in others}
    metrics = tuple(
        MetricProposal(names.add(f"{_WORD}_to_{short[name]}"), titles[name], "millisecond",
                       f"From `{origin}` on any host to `{name}` on another, by the clocks of both",
                       origin, name, better="lower")
        for name in others
    )  # fmt: skip
    rows = {place for name in others for place in instants[name]} - instants[origin].keys()
    reason = (
        f"{len(instants[origin])} values of `{field.name}` are in `{origin}` on one host each, and in "
        f"{', '.join(f'`{name}`' for name in others)} on other hosts, whose clocks may differ"
    )
    return GrainProposal(names.add(make_identifier(" ".join((*words, _WORD)), _WORD)), group.source.name, field.name,
                         events, metrics, reason, title=make_title(" ".join((*words, _WORD))), origin=origin,
                         elsewhere=tuple(name for name in others
                                         if len(rows & instants[name].keys()) < _MIN_PRESENT * len(rows)))  # fmt: skip
