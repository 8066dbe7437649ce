"""Records whose names no event has: how many a run has of each, and which event one of them may have become."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from assay.app.likely_renames import UnknownRecord, suggest_renames
from assay.app.prepare import IngestedRun
from assay.engine.mount import UnknownName
from assay.ingest.discovery import RunFiles
from assay.lang.model.package import Package, Source
from assay.lineage.raw_records import Place, RawRecord, raw_records
from assay.report.data_quality import RENAMED, UNKNOWN, Finding, of_metrics
from assay.util.numbers import counted

EXAMINED = 50  # of the most frequent names, whose first record is read
NAMED = 3  # of the most frequent names, which a finding names

ByName = Mapping[str | None, Sequence[UnknownName]]


def list_unknown_names(source: Source, unknown: Sequence[UnknownName]) -> ByName:
    """Return the unknown names of a source that are not ignored, the most frequent first, with their hosts."""
    return group_by_name([item for item in unknown if item.name is None or not source.ignores(item.name)])


def group_by_name(unknown: Sequence[UnknownName]) -> ByName:
    """Return unknown names with their hosts, the most frequent first."""
    groups: defaultdict[str | None, list[UnknownName]] = defaultdict(list)
    for item in unknown:
        groups[item.name].append(item)
    return dict(sorted(groups.items(), key=lambda pair: (-sum(item.n for item in pair[1]), pair[0] or "")))


def read_first_records(source: Source, files: RunFiles, names: ByName) -> Mapping[str, RawRecord]:
    """Return the first record of each name, on the first host that has one.  Raises AssayError."""
    places = {name: _choose_place(hosts) for name, hosts in names.items() if name is not None}
    records = raw_records(source, files, places.values())
    return {name: records[place] for name, place in places.items()}


def make_unknown_record(source: Source, name: str, hosts: Sequence[UnknownName], first: RawRecord) -> UnknownRecord:
    """Return a name with its hosts and first record, for which events are suggested."""
    return UnknownRecord(source.name, name, frozenset(item.host for item in hosts), first.text)


def _choose_place(hosts: Sequence[UnknownName]) -> Place:
    item = min(hosts, key=lambda item: item.host)
    return Place(item.host, item.first_seq)


def count_unknown(prepared: IngestedRun) -> int:
    """Return how many records of a run have names that are neither known nor ignored."""
    return sum(
        item.n
        for part in prepared.parts
        for hosts in list_unknown_names(part.source, part.facts.unknown).values()
        for item in hosts
    )  # fmt: skip


def find_unknown(package: Package, prepared: IngestedRun, readers: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Find the records of unknown names, and those that may be events by another name.

    `readers`: event -> ids of the metrics that read it.  Raises AssayError when a file cannot be read.
    """
    for part in prepared.parts:
        names = list_unknown_names(part.source, part.facts.unknown)
        if not names:
            continue
        examined: ByName = {name: hosts for name, hosts in list(names.items())[:EXAMINED] if name}
        first = read_first_records(part.source, part.files, examined)
        records = [make_unknown_record(part.source, name, examined[name], record) for name, record in first.items()]
        counts = part.facts.by_host
        for rename in suggest_renames(package, counts, records):
            total = sum(item.n for item in names[rename.name])
            metrics = tuple(readers.get(rename.event, ()))
            silent = "" if sum(counts.get(rename.event, {}).values()) else ", which has no records"
            where = f"{counted(total, 'record')}, first at {first[rename.name].where}"
            event = f"event `{rename.event}`{silent}: {rename.reason}{of_metrics(metrics)}"
            message = f"`{rename.name}` ({where}) may be a new name of {event}."
            yield Finding(RENAMED, message, metrics, (), rename.event, total)
        yield _make_finding(names)


def _make_finding(names: ByName) -> Finding:
    totals = Counter({name: sum(item.n for item in hosts) for name, hosts in names.items()})
    listed = ", ".join(f"{f'`{name}`' if name else 'no name'} ({totals[name]})" for name in [*names][:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    number = f"{counted(totals.total(), 'record')} of {counted(len(names), 'name')}"
    message = f"{number} that the specs do not know: {listed}{more}; `assay inspect` lists them."
    return Finding(UNKNOWN, message, affected=totals.total())
