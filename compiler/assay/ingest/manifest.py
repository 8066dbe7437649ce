"""The manifest of an ingested folder: events, fields and duplicate files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from assay.ingest.discovery import RunFiles
from assay.ingest.plain_copies import first_lines
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import SOURCE_KINDS

FEW = 3  # lines that files may have in common without a word: what begins alike, and ends there, is no copy


def duplicate_file_warnings(kind: str, files: RunFiles) -> tuple[str, ...]:
    """A sentence on files of the same sha256, as far as hashes are known; none where each has its own."""
    if SOURCE_KINDS[kind].has_series:  # which count once however often they stand, and that is told there
        return ()
    first: dict[str, Path] = {}
    twins: list[tuple[Path, Path]] = []
    for held in (held for host in files.hosts for held in host.held if held.sha256):
        if held.sha256 in first:
            twins.append((first[held.sha256], held.path))
        first.setdefault(held.sha256, held.path)
    twins = [pair for pair in twins if _has_lines(pair[0])]
    if not twins:
        return ()
    names = " and ".join(path.relative_to(files.directory).as_posix() for path in twins[0])
    more = len(twins) - 1
    others = f" ({more} more {'file is' if more == 1 else 'files are'} like another)" if more else ""
    return (f"{names} have the same content{others}: where one is a copy, what it holds counts twice.",)


def _has_lines(path: Path) -> bool:
    """Whether a file has more than a few lines."""
    return sum(1 for line in first_lines(path, FEW + 1) if line.strip()) > FEW


MANIFEST = "ingest.json"
FORMAT = 16

Wanted = Mapping[str, Iterable[str]]


def recognition_hash(source: Source, events: Sequence[Event]) -> str:
    """Hash of how records are recognised: a change of any name or lookup changes what is counted; so does one of the
    order of events, where they are told apart by patterns that are tried in it."""
    names = [(event.name, [(form.names, form.unless) for form in event.forms]) for event in events]
    body = repr(
        (
            FORMAT,
            source.kind,
            source.times,
            source.body,
            source.unwrap,
            source.lookups,
            source.quarantine,
            sorted(names),
        )
    )
    if texts := [text for text in (source.line, source.time_form, source.zone) if text]:
        body += repr(texts)
    if source.begins:
        body += repr([source.begins])
    if SOURCE_KINDS[source.kind].has_patterns:
        body += repr([name for name, _ in names])
    return hashlib.sha256(body.encode()).hexdigest()


def event_hash(event: Event) -> str:
    """Hash of an event's definition."""
    return hashlib.sha256(repr(event.forms).encode()).hexdigest()


def definitions_hash(source: Source, events: Sequence[Event], wanted: Wanted) -> str:
    """Hash of all that shapes an ingested folder but the raw data."""
    body = [recognition_hash(source, events), sorted((name, sorted(fields)) for name, fields in wanted.items())]
    body.append(sorted((event.name, event_hash(event)) for event in events if event.name in wanted))
    return hashlib.sha256(json.dumps(body).encode()).hexdigest()


def manifest(
    source: Source,
    events: Sequence[Event],
    wanted: Wanted,
    files: RunFiles,
    lacking: bool,
    notes: Sequence[str] = (),
    read: Sequence[str] = (),
) -> str:
    """The text of `ingest.json`; `lacking` tells that lines are left out because wanted fields lack.

    `notes` are what whoever reads the results should know of the raw data, beside files that are copies; `read` what
    they should know of what wanted fields are read from, which is no matter where these are not wanted.
    """
    by_name = {event.name: event for event in events}
    held = {
        name: {"definition": event_hash(by_name[name]), "fields": sorted(fields)}
        for name, fields in sorted(wanted.items())
    }
    body = {"format": FORMAT, "recognition": recognition_hash(source, events), "events": held}
    body |= {"lacking": lacking, "particular": bool(read)}
    body |= {"files": file_names(files)}
    told = [*notes, *read, *duplicate_file_warnings(source.kind, files)]
    body |= {"notes": told} if told else {}
    return json.dumps(body, indent=1) + "\n"


def file_names(files: RunFiles) -> list[str]:
    """The names of a run's files from its directory, hosts in order, oldest first."""
    return [path.relative_to(files.directory).as_posix() for host in files.hosts for path in host.files]


def has_same_file_names(folder: Path, files: RunFiles) -> bool:
    """Whether the files that a folder was made of are called as these are, which are of the same content."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(found.get("files") == file_names(files))


def read_notes(folder: Path) -> tuple[str, ...]:
    """What is to be known of the raw data of an ingested folder."""
    return tuple(json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("notes", ()))


def covers(folder: Path, source: Source, events: Sequence[Event], wanted: Wanted) -> bool:
    """Whether a sealed folder holds the wanted events and fields, as they are now defined.

    One that holds more does only when it leaves out no line, and tells nothing of what is read: what lacks a field that
    nobody wants now is to be kept, and what is told is not to depend on what somebody wanted before.
    """
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if found.get("format") != FORMAT or found.get("recognition") != recognition_hash(source, events):
        return False
    by_name = {event.name: event for event in events}
    for name, fields in wanted.items():
        held = found["events"].get(name)
        if not held or held["definition"] != event_hash(by_name[name]) or not set(fields) <= set(held["fields"]):
            return False
    asked = {name: sorted(fields) for name, fields in wanted.items()}
    any_fewer = not found["lacking"] and not found["particular"]
    return any_fewer or asked == {name: held["fields"] for name, held in found["events"].items()}
