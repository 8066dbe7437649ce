"""List the names of records in a run, the event of each and the metrics that need it (`assay inspect`)."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.app.session.required_sources import has_source
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.engine.mount import UnknownName, find_first_quarantined, read_facts
from assay.ingest.discovery import RunFiles, find_run, suggest_runs
from assay.ingest.pipeline import ingest
from assay.ingest.quarantine import NothingRecognisedError
from assay.lang import dependencies
from assay.lang.model.package import Event, Package, Quarantine, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.quality.unknown_names import (
    Rename,
    create_unknown_record,
    group_by_name,
    list_unknown_names,
    read_first_records,
    suggest_renames,
)
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.numbers import format_count
from assay.util.scratch import create_temporary_folder as temporary

UNLIMITED = Quarantine(1.0, 2**62)  # malformed records are counted, without a limit
REST = "(all other names)"
NO_NAME = "(no name)"


@dataclass(frozen=True, slots=True)
class RecordName:
    """The records of one name in a run: their number, hosts, event, and the metrics that need it.

    `event` is empty if no event has the name. An event without records is listed with all its names.

    For records that are no event: whether the specs ignore the name, whether conditions of `event` reject the records
    (`is_ruled_out`), the events that this may be a new name of, and the position and text of the first record.
    """

    source: str
    name: str
    records: int
    hosts: tuple[str, ...]
    event: str = ""
    metrics: tuple[str, ...] = ()
    is_ignored: bool = False
    is_ruled_out: bool = False
    likely_renames: tuple[Rename, ...] = ()
    location: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """The names in a run: those of events, unknown names, events without records; notes on the records."""

    system: str
    names: tuple[RecordName, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Records:
    """The contents of a source's files.

    `events` and `rejected` have records by (event, name) and host, `unknown_names` the names that belong to no event.
    """

    source: Source
    files: RunFiles
    events: dict[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    rejected: dict[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    unknown_names: tuple[UnknownName, ...] = ()
    notes: list[str] = field(default_factory=list)


def inspect_run(session: Session, run: NamedRun, system: str | None) -> Inspection:
    """Count the records of a run by name, without the cache.

    A run without events, or with mostly malformed records, is not an error. Raises AssayError if the run does not exist
    or has no files of any source, and (usage) if its system is ambiguous.
    """
    package = _choose_package(session, run, system)
    (run,) = fetch_runs(session, [run], package.sources)
    parts = [_read_source(package, source, run.directory) for source in package.sources if has_source(run, source)]
    metrics = _list_metrics(package)
    names = [*itertools.chain(*(_list_event_names(item, metrics) for item in parts))]
    names += _list_unknown_names(package, parts)
    read_events = {item.event for item in names}
    names += [item for records in parts for item in _list_absent_events(package, records.source, read_events, metrics)]
    return Inspection(package.system, tuple(names), tuple(note for item in parts for note in item.notes))


def _choose_package(session: Session, run: NamedRun, system: str | None) -> Package:
    """Return the package of the system whose sources have files in the run.

    Systems whose logs are in the run take precedence over those with other files only.
    """
    packages = [session.load_package(name).package for name in session.list_systems(system)]
    if len(packages) == 1:
        (local_run,) = fetch_runs(session, [run], packages[0].sources)
        if any(has_source(local_run, source) for source in packages[0].sources):
            return packages[0]
        raise fail("no-source", f"the run has no files of any source of {packages[0].system}: {run.place}",
                   hint=suggest_runs(packages[0].sources, local_run.directory))  # fmt: skip
    if not run.is_here:
        raise fail("systems", f"a remote run needs a system: {run.place}", hint="pass --system NAME", status=USAGE)
    fetch_runs(session, [run], ())
    log_packages = [
        item
        for item in packages
        if any(has_source(run, source) for source in item.sources if SOURCE_KINDS[source.kind].is_log)
    ]
    candidates = log_packages or [item for item in packages if any(has_source(run, source) for source in item.sources)]
    if len(candidates) == 1:
        return candidates[0]
    systems = ", ".join(item.system for item in candidates)
    problem = f"matches several systems, {systems}" if candidates else "has no files of any source of any system"
    sources = [source for item in packages for source in item.sources]
    suggestion = "" if candidates else suggest_runs(sources, run.directory)
    raise fail("systems", f"the run {problem}: {run.place}", hint=suggestion or "pass --system NAME", status=USAGE)


def _read_source(package: Package, source: Source, directory: Path) -> _Records:
    """Read the files of a source in a run."""
    events = [event for event in package.events if event.source == source.name]
    try:
        records = _Records(source, find_run(source, directory, events))
    except AssayError as error:
        return _Records(source, RunFiles(directory, ()), notes=_list_messages(error))
    split, names_of_split = _split(events)
    counts = _count_ingested(records, split)
    records.events = {names_of_split[name]: hosts for name, hosts in counts.items()}
    for name, (event, _) in names_of_split.items():
        records.notes = [note.replace(name, event) for note in records.notes]
    if any(form.unless for event in events for form in event.forms):
        unconditional_events = [
            replace(event, forms=tuple(replace(form, unless=()) for form in event.forms)) for event in split
        ]
        unconditional_counts = _count_ingested(_Records(source, records.files), unconditional_events)
        for name, hosts in unconditional_counts.items():
            rejected_counts = {host: number - counts.get(name, {}).get(host, 0) for host, number in hosts.items()}
            records.rejected[names_of_split[name]] = {
                host: number for host, number in rejected_counts.items() if number > 0
            }
    return records


def _split(events: Sequence[Event]) -> tuple[list[Event], dict[str, tuple[str, str]]]:
    """Split events into one event without fields per name, in order; also return the event and name of each."""
    split_events, names_of_split = [], dict[str, tuple[str, str]]()
    for event in events:
        pairs = [(form, name) for form in event.forms for name in form.names or (None,)]
        for number, (form, name) in enumerate(pairs):
            single_name = replace(form, names=(name,) if name else (), fields=())
            split_events.append(Event(f"{event.name} {number:04}", event.source, (single_name,), ""))
            names_of_split[split_events[-1].name] = (event.name, name.name if name else event.name)
    return split_events, names_of_split


def _count_ingested(records: _Records, events: Sequence[Event]) -> Mapping[str, Mapping[str, int]]:
    """Count the records of each event by host; store unknown names and notes in `records`."""
    source = replace(records.source, quarantine=UNLIMITED)
    with temporary() as folder:
        target = folder / "target"
        try:
            ingest(source, events, {}, records.files, target)
        except NothingRecognisedError as error:
            records.unknown_names = tuple(UnknownName(*item.values) for item in error.unknown)
            records.notes += _list_messages(error)
            return {}
        except AssayError as error:
            records.notes += _list_messages(error)
            return {}
        contents = read_facts(target)
        records.unknown_names = contents.unknown
        if malformed := sum(log.quarantined for log in contents.logs):
            number = format_count(malformed, "record of", "records of")
            verb = "is" if malformed == 1 else "are"
            records.notes.append(
                f"{number} source `{source.name}` {verb} malformed, the first at {find_first_quarantined(target)}"
            )
        return contents.by_host


def _list_messages(error: AssayError) -> list[str]:
    """Return the messages and notes of an error."""
    return [text for item in error.diagnostics for text in (item.message, *item.notes)]


def _list_metrics(package: Package) -> Mapping[str, tuple[str, ...]]:
    """Return the ids of the metrics that depend on each event."""
    metrics_by_event: defaultdict[str, list[str]] = defaultdict(list)
    for metric in package.metrics:
        for event in dependencies.collect_dependencies(package, [metric], []).events:
            metrics_by_event[event].append(metric.id)
    return {event: tuple(ids) for event, ids in metrics_by_event.items()}


def _list_event_names(records: _Records, metrics: Mapping[str, tuple[str, ...]]) -> list[RecordName]:
    """List the names of events, then the names of records that the conditions of events reject.

    Counts of a name that several generations share are added.
    """
    names: list[RecordName] = []
    for part, is_ruled_out in ((records.events, False), (records.rejected, True)):
        hosts_by_name: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, hosts in part.items():
            hosts_by_name[key].update(hosts)
        for (event, name), hosts in hosts_by_name.items():
            if total := sum(hosts.values()):
                needing_metrics = () if is_ruled_out else metrics.get(event, ())
                names.append(
                    RecordName(
                        records.source.name,
                        name,
                        total,
                        tuple(sorted(hosts)),
                        event,
                        needing_metrics,
                        is_ruled_out=is_ruled_out,
                    )
                )
    return sorted(names, key=lambda item: (-item.records, item.name, item.event))


def _list_unknown_names(package: Package, parts: Sequence[_Records]) -> Iterator[RecordName]:
    """Yield the names that belong to no event, most frequent first."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for records in parts:
        for (event, _), hosts in records.events.items():
            counts[event].update(hosts)
    for records in parts:
        source = records.source
        names = list_unknown_names(source, records.unknown_names)
        first_records = read_first_records(source, records.files, names)
        likely_renames = suggest_renames(
            package,
            counts,
            [create_unknown_record(source, name, names[name], record) for name, record in first_records.items()],
        )
        ignored = [item for item in records.unknown_names if item.name not in names]
        for name, unknown_hosts in {**names, **group_by_name(ignored)}.items():
            record = first_records.get(name) if name is not None else None
            yield RecordName(
                source.name,
                REST if name is None else name or NO_NAME,
                sum(item.n for item in unknown_hosts),
                tuple(sorted({item.host for item in unknown_hosts})),
                is_ignored=name not in names,
                likely_renames=tuple(item for item in likely_renames if item.name == name),
                location=record.location if record else "",
                text=record.text if record else "",
            )


def _list_absent_events(
    package: Package, source: Source, read_events: set[str], metrics: Mapping[str, tuple[str, ...]]
) -> Iterator[RecordName]:
    """Yield the events of a source without records, each with all its names."""
    for event in package.events:
        if event.source == source.name and event.name not in read_events:
            names = dict.fromkeys(name.name for form in event.forms for name in form.names)
            yield RecordName(source.name, " or ".join(names), 0, (), event.name, metrics.get(event.name, ()))
