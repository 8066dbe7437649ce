"""The manifest of an ingested folder: events, fields and duplicate files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from assay.ingest.discovery import RunFiles
from assay.ingest.plain_copies import read_first_lines
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import SOURCE_KINDS

SHORT_FILE_LINES = 3  # equal files of at most this many lines are not reported, since short logs are often equal


def list_duplicate_file_warnings(kind: str, files: RunFiles) -> tuple[str, ...]:
    """Return a warning about files with the same sha256, or nothing. Files without a known hash are ignored."""
    if SOURCE_KINDS[kind].has_series:  # duplicate samples are counted once, and the reader reports them
        return ()
    first: dict[str, Path] = {}
    duplicates: list[tuple[Path, Path]] = []
    for snapshot in (snapshot for host in files.hosts for snapshot in host.snapshots if snapshot.sha256):
        if snapshot.sha256 in first:
            duplicates.append((first[snapshot.sha256], snapshot.path))
        first.setdefault(snapshot.sha256, snapshot.path)
    duplicates = [pair for pair in duplicates if _has_lines(pair[0])]
    if not duplicates:
        return ()
    names = " and ".join(path.relative_to(files.directory).as_posix() for path in duplicates[0])
    more = len(duplicates) - 1
    others = f" ({more} more {'file has' if more == 1 else 'files have'} the content of another)" if more else ""
    return (f"{names} have the same content{others}: if one is a copy, its records are counted twice.",)


def _has_lines(path: Path) -> bool:
    """Return whether a file has more than a few lines."""
    return sum(1 for line in read_first_lines(path, SHORT_FILE_LINES + 1) if line.strip()) > SHORT_FILE_LINES


MANIFEST = "ingest.json"
FORMAT = 19

RequiredFields = Mapping[str, Iterable[str]]


def hash_recognition(source: Source, events: Sequence[Event]) -> str:
    """Return the hash of the definitions that recognize records: any name or lookup affects the counts.

    The order of events counts for sources with patterns, which are tried in this order.
    """
    names = [(event.name, [(form.names, form.unless, form.time) for form in event.forms]) for event in events]
    body = repr(
        (
            FORMAT,
            source.kind,
            source.time_paths,
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
    if source.start_ns:
        body += repr([source.start_ns])
    if source.line and source.ignored:  # lines that do not match the pattern of all lines are malformed unless ignored
        body += repr([source.ignored])
    if SOURCE_KINDS[source.kind].has_patterns:
        body += repr([name for name, _ in names])
    return hashlib.sha256(body.encode()).hexdigest()


def hash_event(event: Event) -> str:
    """Return the hash of the definition of an event."""
    return hashlib.sha256(repr(event.forms).encode()).hexdigest()


def hash_definitions(source: Source, events: Sequence[Event], required_fields: RequiredFields) -> str:
    """Return the hash of everything that an ingested folder depends on, except the raw data."""
    body = [
        hash_recognition(source, events),
        sorted((name, sorted(fields)) for name, fields in required_fields.items()),
    ]
    body.append(sorted((event.name, hash_event(event)) for event in events if event.name in required_fields))
    return hashlib.sha256(json.dumps(body).encode()).hexdigest()


def format_manifest(
    source: Source,
    events: Sequence[Event],
    required_fields: RequiredFields,
    files: RunFiles,
    has_incomplete_rows: bool,
    notes: Sequence[str] = (),
    field_notes: Sequence[str] = (),
) -> str:
    """Return the text of `ingest.json`.

    `has_incomplete_rows` is true if records without a required field were left out. `notes` are warnings about the raw
    data, except about duplicate files. `field_notes` are warnings about the values of required fields, which do not
    apply if these fields are not required.
    """
    by_name = {event.name: event for event in events}
    contents = {
        name: {"definition": hash_event(by_name[name]), "fields": sorted(fields)}
        for name, fields in sorted(required_fields.items())
    }
    body = {"format": FORMAT, "recognition": hash_recognition(source, events), "events": contents}
    body |= {"lacking": has_incomplete_rows, "particular": bool(field_notes)}
    body |= {"files": list_file_names(files)}
    warnings = [*notes, *field_notes, *list_duplicate_file_warnings(source.kind, files)]
    body |= {"notes": warnings} if warnings else {}
    return json.dumps(body, indent=1) + "\n"


def list_file_names(files: RunFiles) -> list[str]:
    """Return the names of the files of a run relative to its directory, hosts in order, oldest first."""
    return [path.relative_to(files.directory).as_posix() for host in files.hosts for path in host.files]


def has_same_file_names(folder: Path, files: RunFiles) -> bool:
    """Return whether the files from which a folder was ingested have the names of `files`, whose content is equal."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(content.get("files") == list_file_names(files))


def read_notes(folder: Path) -> tuple[str, ...]:
    """Return the warnings about the raw data of an ingested folder."""
    return tuple(json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("notes", ()))


def has_required_events(folder: Path, source: Source, events: Sequence[Event], required_fields: RequiredFields) -> bool:
    """Return whether a sealed folder has the required events and fields, with their current definitions.

    A folder with more fields is accepted only if no record was left out and no warning depends on a field: a record
    must count if it has all fields that are required now, and warnings must not depend on fields that are not.
    """
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if content.get("format") != FORMAT or content.get("recognition") != hash_recognition(source, events):
        return False
    by_name = {event.name: event for event in events}
    for name, fields in required_fields.items():
        entry = content["events"].get(name)
        if not entry or entry["definition"] != hash_event(by_name[name]) or not set(fields) <= set(entry["fields"]):
            return False
    required = {name: sorted(fields) for name, fields in required_fields.items()}
    can_use_subset = not content["lacking"] and not content["particular"]
    return can_use_subset or required == {name: entry["fields"] for name, entry in content["events"].items()}
