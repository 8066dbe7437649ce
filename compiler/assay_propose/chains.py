"""Find events that share a key: steps of one thing, whose times are latencies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.reserved_names import is_sample_column
from assay_propose.model import FieldProposal, Record
from assay_propose.names import is_actor, split_words
from assay_propose.recognize import OTHER_KEYS

_MIN_KEYS, _FEW_RECORDS = 2, 10  # one key is enough in a log with fewer records
_MIN_UNIQUE = 0.9  # keys per record of an event, of one event of a chain at least
#: keys per record of other events: things may be announced or tried several times
_MIN_REPEATED = 0.2
_MIN_SHARED = 0.5  # of the keys of the rarer event that the other has too
_MIN_ELSEWHERE = 0.05  # of the keys of a host, which have an event on another host only
_MAX_RARE = 0.5  # of the keys of hosts, which have an event that most hosts lack
_MIN_ORDERED = 0.9  # of the shared keys whose records are in one order
#: words of fields whose equal values in several events are a coincidence
_QUANTITIES = frozenset((
    "len", "length", "size", "count", "total", "bytes", "chars", "tokens", "duration", "elapsed", "latency", "amount",
    "percent", "ratio", "score", "speed",
))  # fmt: skip

Positions = dict[tuple[str, object], int]


@dataclass(frozen=True, slots=True)
class Chain:
    """Events with a common key field, in the order of their records.

    `keys` are those of any of them on a host, `shared` those of all. Events are `elsewhere` if other hosts than theirs
    have records of their keys: a block is proposed on one host and committed on all. Events are `rare` if most hosts
    lack them. The first ones are `alternatives` to the next, on other hosts: a block is proposed, or else received.
    Events are `partial` if many keys of their own hosts lack them: not all requests are retried.
    """

    field: str
    events: tuple[str, ...]
    keys: int
    shared: int
    elsewhere: tuple[str, ...]
    rare: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """Return the events without the alternatives."""
        return tuple(name for name in self.events if name not in self.alternatives)


def find_chains(records_by_event: Mapping[str, Sequence[Record]], fields: Sequence[FieldProposal]) -> tuple[Chain, ...]:
    """Return chains of events, each event in at most one; those of most events first, then those with most keys."""
    candidates = []
    least = _MIN_KEYS if sum(map(len, records_by_event.values())) >= _FEW_RECORDS else 1
    for field in filter(is_possible_key, fields):
        positions = {
            event: keys for event, records in records_by_event.items() if (keys := _find_keys(records, field, least))
        }
        sizes = {event: sum(field.path in record.values for record in records_by_event[event]) for event in positions}
        candidates.append(_build_chain(field.name, positions, sizes, least))
    chains: list[Chain] = []
    for chain in sorted(
        (item for item in candidates if item), key=lambda item: (-len(item.events), -item.shared, item.field)
    ):
        if not {event for item in chains for event in item.events} & set(chain.events):
            chains.append(chain)
    return tuple(chains)


def is_possible_key(field: FieldProposal) -> bool:
    """Return whether a field may identify things: it is no quantity, and names no process or machine."""
    is_attribute = bool((OTHER_KEYS | _QUANTITIES) & set(split_words(field.path[-1])))
    # The number of an instance may be that of a round of consensus; its name is that of a machine.
    is_attribute |= is_actor(field.path) and not (field.type == "integer" and field.path[-1] == "instance")
    if is_attribute or is_sample_column(field.name):  # specs cannot have such a key
        return False
    return field.type in ("text", "integer") and not field.transform and field.unit == "none"


def _find_keys(records: Sequence[Record], field: FieldProposal, least: int) -> Positions:
    """Return the first position of each key; nothing if the keys have too many records each, or are missing."""
    positions: Positions = {}
    for record in records:
        value = record.values.get(field.path)
        if value is not None:
            positions.setdefault((record.host, str(value)), record.position)
    share = _MIN_UNIQUE if len(records) < _FEW_RECORDS else _MIN_REPEATED
    is_key = len(positions) >= max(least, share * len(records))
    return positions if is_key else {}


def _build_chain(field: str, positions: Mapping[str, Positions], sizes: Mapping[str, int], least: int) -> Chain | None:
    """Return the chain of the events that follow one another for most keys. `sizes` are the records with keys."""
    following: dict[str, int] = defaultdict(int)
    linked: set[str] = set()
    names = sorted(positions)
    for first in names:
        for second in names:
            if first != second and _precedes(positions[first], positions[second], least):
                following[second] += 1
                linked |= {first, second}
    if not linked:
        return None
    ordered = sorted(linked, key=lambda name: (following[name], name))
    chain = [ordered[0]]
    for name in ordered[1:]:  # each event follows all before it, so that a chain has one order
        if all(_precedes(positions[item], positions[name], least) for item in chain):
            chain.append(name)
    if len(chain) == 1 or not any(len(positions[name]) >= _MIN_UNIQUE * sizes[name] for name in chain):
        return None
    first, *rest = chain
    others = [name for name in ordered if name not in chain
              and all(_precedes(positions[name], positions[item], least) for item in rest)
              and _are_alternatives(positions[name], positions[first])]  # fmt: skip
    first, *others = sorted([first, *others], key=lambda name: -len(positions[name]))
    events = (*others, first, *rest)
    shared = set.intersection(*(set(positions[name]) for name in (first, *rest)))
    keys = set.union(*(set(positions[name]) for name in events))
    elsewhere = tuple(name for name in events if _has_keys_elsewhere(positions[name], keys))
    rare = tuple(name for name in elsewhere if len(positions[name]) < _MAX_RARE * len(keys))
    partial = tuple(
        name for name in events if name not in (*elsewhere, *others) and len(positions[name]) < _MIN_UNIQUE * len(keys)
    )
    return Chain(field, events, len(keys), len(shared), elsewhere, rare, tuple(others), partial)


def _are_alternatives(first: Positions, second: Positions) -> bool:
    """Return whether two events have the same values of a key, but on different hosts."""
    values, others = ({value for _, value in positions} for positions in (first, second))
    fewest = min(len(values), len(others))
    return not first.keys() & second.keys() and len(values & others) >= _MIN_UNIQUE * fewest


def _has_keys_elsewhere(positions: Positions, keys: Collection[tuple[str, object]]) -> bool:
    values = {value for _, value in positions}
    count = sum(value in values and (host, value) not in positions for host, value in keys)
    return count >= _MIN_ELSEWHERE * len(keys)


def _precedes(first: Positions, second: Positions, least: int) -> bool:
    shared = first.keys() & second.keys()
    if len(shared) < max(least, _MIN_SHARED * min(len(first), len(second))):
        return False
    return sum(first[key] < second[key] for key in shared) >= _MIN_ORDERED * len(shared)
