"""Find the hosts with records of one source, but not of another that most of these hosts have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType

from assay.quality.finding import ON_SOME_HOSTS, Finding, format_metric_list, list_hosts, list_names

#: the label by which Prometheus names what it takes samples of
TARGET = "instance"
LEAST = 2  # hosts that must have records of both sources: one common name may be chance


@dataclass(frozen=True, slots=True)
class SourceHosts:
    """The hosts with records of a source.

    `events`: event that metrics read -> its hosts; `labels`: label of samples -> event -> the values of the label,
    which may be names of hosts. A source has one of them; `name` is that of the source.
    """

    name: str
    events: Mapping[str, Set[str]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Set[str]]] = field(default_factory=dict)

    @property
    def hosts(self) -> Set[str]:
        """Return the hosts with records of any event."""
        return frozenset().union(*self.events.values())


def find_absent_hosts(
    sources: Sequence[SourceHosts],
    active_hosts: Mapping[str, Sequence[str]],
    readers: Mapping[str, Sequence[str]],
    unread_hosts: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield a finding for each source that hosts lack, while most of the hosts of another source have it.

    `active_hosts`: source -> its hosts with records; `readers`: event -> the ids of the metrics that read it;
    `unread_hosts`: source that no metric reads -> its hosts with files.
    """
    others = [(f"records of source `{name}`", name, hosts) for name, hosts in active_hosts.items()]
    others += [(f"files of source `{name}`", name, hosts) for name, hosts in unread_hosts.items()]
    for source in sources:
        findings = [
            finding
            for other, name, hosts in others
            if name != source.name and len(hosts) > LEAST
            for finding in _compare_hosts(source, other, hosts, readers)
        ]
        if findings:  # several other sources may have the same hosts
            yield max(findings, key=lambda item: len(item.hosts))


def _compare_hosts(
    source: SourceHosts, other: str, hosts: Sequence[str], readers: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """Yield the findings on hosts, which have `other`, that lack events of a source."""
    hosts_by_event = source.events or _find_hosts_of_labels(source, hosts)
    groups: dict[tuple[str, ...], list[str]] = {}
    for event, present in hosts_by_event.items():
        missing = tuple(host for host in hosts if host not in present)
        if missing and _are_most(len(hosts) - len(missing), len(hosts)):
            groups.setdefault(missing, []).append(event)
    for missing, events in groups.items():
        verb = "has" if len(missing) == 1 else "have"
        subject = f"{list_hosts(missing)} {verb} {other}, but"
        yield _create_finding(source, subject, Absence(missing, len(missing), len(hosts)), events, readers)
    if not hosts_by_event:
        yield from _compare_targets(source, other, len(hosts), readers)


def _find_hosts_of_labels(source: SourceHosts, hosts: Sequence[str]) -> Mapping[str, Set[str]]:
    """Return the hosts of each event by the label that names most of them; empty if none names most of them."""
    best: Mapping[str, Set[str]] = {}
    for events in source.labels.values():
        named = {event: frozenset(hosts) & _list_host_names(values) for event, values in events.items()}
        if len(frozenset().union(*named.values())) > len(frozenset().union(*best.values())):
            best = named
    return best if _are_most(len(frozenset().union(*best.values())), len(hosts)) else {}


def _list_host_names(values: Set[str]) -> Set[str]:
    """Return the values of a label as names of hosts, with and without their port."""
    return {*values, *(value.rpartition(":")[0] for value in values)}


def _compare_targets(
    source: SourceHosts, other: str, number: int, readers: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """Yield findings on events with samples of fewer targets than hosts, whose names are not known."""
    groups: dict[int, list[str]] = {}
    for event, values in source.labels.get(TARGET, {}).items():
        if _are_most(len(values), number) and len(values) < number:
            groups.setdefault(number - len(values), []).append(event)
    for difference, events in groups.items():
        subject = f"{number} hosts have {other}, but {difference} of them"
        yield _create_finding(source, subject, Absence((), difference, number), events, readers)


@dataclass(frozen=True, slots=True)
class Absence:
    """The hosts that lack records, if their names are known, and how many these are of all."""

    hosts: tuple[str, ...]
    count: int
    number: int


def _create_finding(
    source: SourceHosts,
    subject: str,
    absence: Absence,
    events: Sequence[str],
    readers: Mapping[str, Sequence[str]],
) -> Finding:
    number, difference = absence.number, absence.count
    metrics = tuple(dict.fromkeys(name for event in events for name in readers.get(event, ())))
    names = list_names([f"`{event}`" for event in events])
    message = (
        f"{subject} no {names} record{'s' if len(events) > 1 else ''} of source `{source.name}`: averages over hosts "
        f"are of {number - difference} of {number}{format_metric_list(metrics)}."
    )
    event = events[0] if len(events) == 1 else ""
    return Finding(ON_SOME_HOSTS, message, metrics, absence.hosts, event, difference, number, tuple(events))


def _are_most(number: int, total: int) -> bool:
    return number >= LEAST and 2 * number > total
