"""`assay inspect`: the names of the records in a run, what each is read as, and which metrics need it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.app.required_sources import has
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.app.unknown_names import (
    Rename,
    group_by_name,
    list_unknown_names,
    make_unknown_record,
    read_first_records,
    suggest_renames,
)
from assay.engine.mount import UnknownName, facts, first_broken
from assay.ingest.discovery import RunFiles, find_run
from assay.ingest.pipeline import ingest
from assay.ingest.quarantine import NothingRecognisedError
from assay.lang import dependencies
from assay.lang.model.package import Event, Package, Quarantine, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.numbers import format_count
from assay.util.scratch import temporary_folder as temporary

UNLIMITED = Quarantine(1.0, 2**62)  # broken records are counted, however many there are
REST = "(all other names)"
NO_NAME = "(no name)"


@dataclass(frozen=True, slots=True)
class RecordName:
    """Records of one name in a run: how many, on which hosts; the event that they are read as (empty: none), or, with
    no records, that nothing was read as; the metrics that need it.

    Of records that are no event: whether they are `ignored`, or `ruled_out` by what they hold; the events whose
    new name this may be; where the first stands, and its text.
    """

    source: str
    name: str
    records: int
    hosts: tuple[str, ...]
    event: str = ""
    metrics: tuple[str, ...] = ()
    ignored: bool = False
    ruled_out: bool = False
    likely: tuple[Rename, ...] = ()
    where: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """The names of a run: of events, then those that no event has, then events without records; and what else is to be
    known of its records."""

    system: str
    names: tuple[RecordName, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Records:
    """What the files of a source hold: records by name and host of each event, the same of those that events rule out,
    unknown names."""

    source: Source
    files: RunFiles
    events: dict[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    ruled_out: dict[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    unknown: tuple[UnknownName, ...] = ()
    notes: list[str] = field(default_factory=list)


def inspect_run(session: Session, run: NamedRun, system: str | None) -> Inspection:
    """Count the records of a run by their names.  Reads its files anew, and puts nothing into the cache.

    A run without events, or with mostly broken records, is no error.  Raises AssayError: no such run; a run with
    nothing of any source; usage where it may be of several systems.
    """
    package = _choose_package(session, run, system)
    (run,) = here(session, [run], package.sources)
    parts = [_read(package, source, run.directory) for source in package.sources if has(run, source)]
    metrics = _list_metrics(package)
    names = [*itertools.chain(*(_list_event_names(item, metrics) for item in parts))]
    names += _list_unknown_names(package, parts)
    read = {item.event for item in names}
    names += [item for records in parts for item in _list_absent_events(package, records.source, read, metrics)]
    return Inspection(package.system, tuple(names), tuple(note for item in parts for note in item.notes))


def _choose_package(session: Session, run: NamedRun, system: str | None) -> Package:
    """Return the package of the system that a run is of: one that has files in it, of lines rather than others."""
    packages = [session.package(name).package for name in session.systems(system)]
    if len(packages) == 1:
        (local_run,) = here(session, [run], packages[0].sources)
        if any(has(local_run, source) for source in packages[0].sources):
            return packages[0]
        raise fail("no-source", f"the run has nothing of any source of {packages[0].system}: {run.place}")
    if not run.is_here:
        raise fail("systems", f"of which system is {run.place}?", hint="name it with --system", status=USAGE)
    here(session, [run], ())
    of_lines = [
        item
        for item in packages
        if any(has(run, source) for source in item.sources if SOURCE_KINDS[source.kind].is_log)
    ]
    candidates = of_lines or [item for item in packages if any(has(run, source) for source in item.sources)]
    if len(candidates) == 1:
        return candidates[0]
    systems = " or ".join(item.system for item in candidates)
    problem = f"may be of {systems}" if candidates else "has nothing of any source of any system"
    raise fail("systems", f"the run {problem}: {run.place}", hint="name its system with --system", status=USAGE)


def _read(package: Package, source: Source, directory: Path) -> _Records:
    """Read what a run has of a source."""
    events = [event for event in package.events if event.source == source.name]
    try:
        records = _Records(source, find_run(source, directory, events))
    except AssayError as error:
        return _Records(source, RunFiles(directory, ()), notes=_list_messages(error))
    split, named = _split(events)
    counts = _count_ingested(records, split)
    records.events = {named[name]: hosts for name, hosts in counts.items()}
    for name, (event, _) in named.items():
        records.notes = [note.replace(name, event) for note in records.notes]
    if any(form.unless for event in events for form in event.forms):
        open_ = [replace(event, forms=tuple(replace(form, unless=()) for form in event.forms)) for event in split]
        whole = _count_ingested(_Records(source, records.files), open_)
        for name, hosts in whole.items():
            left = {host: number - counts.get(name, {}).get(host, 0) for host, number in hosts.items()}
            records.ruled_out[named[name]] = {host: number for host, number in left.items() if number > 0}
    return records


def _split(events: Sequence[Event]) -> tuple[list[Event], dict[str, tuple[str, str]]]:
    """Make an event without fields for each name of each event, in their order; return its event and name, too."""
    split_events, named = [], dict[str, tuple[str, str]]()
    for event in events:
        pairs = [(form, name) for form in event.forms for name in form.names or (None,)]
        for number, (form, name) in enumerate(pairs):
            one = replace(form, names=(name,) if name else (), fields=())
            split_events.append(Event(f"{event.name} {number:04}", event.source, (one,), ""))
            named[split_events[-1].name] = (event.name, name.name if name else event.name)
    return split_events, named


def _count_ingested(records: _Records, events: Sequence[Event]) -> Mapping[str, Mapping[str, int]]:
    """Count the records of each event by host; add unknown names and notes to those of the source."""
    source = replace(records.source, quarantine=UNLIMITED)
    with temporary() as folder:
        target = folder / "target"
        try:
            ingest(source, events, {}, records.files, target)
        except NothingRecognisedError as error:
            records.unknown = tuple(UnknownName(*item.values) for item in error.unknown)
            records.notes += _list_messages(error)
            return {}
        except AssayError as error:
            records.notes += _list_messages(error)
            return {}
        contents = facts(target)
        records.unknown = contents.unknown
        if broken := sum(log.quarantined for log in contents.logs):
            number = format_count(broken, "record of", "records of")
            verb = "is" if broken == 1 else "are"
            records.notes.append(f"{number} source `{source.name}` {verb} broken, the first at {first_broken(target)}")
        return contents.by_host


def _list_messages(error: AssayError) -> list[str]:
    return [text for item in error.diagnostics for text in (item.message, *item.notes)]


def _list_metrics(package: Package) -> Mapping[str, tuple[str, ...]]:
    """Return the ids of the metrics that need each event, directly or not."""
    by_event: defaultdict[str, list[str]] = defaultdict(list)
    for metric in package.metrics:
        for event in dependencies.collect_dependencies(package, [metric], []).events:
            by_event[event].append(metric.id)
    return {event: tuple(ids) for event, ids in by_event.items()}


def _list_event_names(records: _Records, metrics: Mapping[str, tuple[str, ...]]) -> list[RecordName]:
    """List the names of events, then those of records that events rule out; generations may share a name."""
    names: list[RecordName] = []
    for part, ruled_out in ((records.events, False), (records.ruled_out, True)):
        together: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, hosts in part.items():
            together[key].update(hosts)
        for (event, name), hosts in together.items():
            if total := sum(hosts.values()):
                needing_metrics = () if ruled_out else metrics.get(event, ())
                names.append(
                    RecordName(
                        records.source.name,
                        name,
                        total,
                        tuple(sorted(hosts)),
                        event,
                        needing_metrics,
                        ruled_out=ruled_out,
                    )
                )
    return sorted(names, key=lambda item: (-item.records, item.name, item.event))


def _list_unknown_names(package: Package, parts: Sequence[_Records]) -> Iterator[RecordName]:
    """Yield the names that no event has, the most frequent first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for records in parts:
        for (event, _), hosts in records.events.items():
            counts[event].update(hosts)
    for records in parts:
        source = records.source
        names = list_unknown_names(source, records.unknown)
        first = read_first_records(source, records.files, names)
        likely = suggest_renames(
            package, counts, [make_unknown_record(source, name, names[name], record) for name, record in first.items()]
        )
        ignored = [item for item in records.unknown if item.name not in names]
        for name, unknown_hosts in {**names, **group_by_name(ignored)}.items():
            record = first.get(name) if name is not None else None
            yield RecordName(
                source.name,
                REST if name is None else name or NO_NAME,
                sum(item.n for item in unknown_hosts),
                tuple(sorted({item.host for item in unknown_hosts})),
                ignored=name not in names,
                likely=tuple(item for item in likely if item.name == name),
                where=record.where if record else "",
                text=record.text if record else "",
            )


def _list_absent_events(
    package: Package, source: Source, read: set[str], metrics: Mapping[str, tuple[str, ...]]
) -> Iterator[RecordName]:
    """Yield the events of a source that no record is read as, with all their names."""
    for event in package.events:
        if event.source == source.name and event.name not in read:
            names = dict.fromkeys(name.name for form in event.forms for name in form.names)
            yield RecordName(source.name, " or ".join(names), 0, (), event.name, metrics.get(event.name, ()))
