"""Collect notes on a run's raw data: those of its files, silent hosts, malformed records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.app.prepare import IngestedRun, Part
from assay.engine.mount import first_broken
from assay.ingest.manifest import read_notes
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.diagnostics import AssayError

NAMED = 3  # hosts that a note names


def raw_notes(prepared: IngestedRun) -> tuple[str, ...]:
    """Return a sentence for each property of the raw data that a reader of the results should know."""
    notes = [note for part in prepared.parts for note in (*read_notes(part.events), *_silent(part))]
    return (*prepared.notes, *notes, *_broken(prepared))


def with_silent(error: AssayError, prepared: IngestedRun) -> AssayError:
    """Return an error with a note on hosts whose files have no events, which may be its cause."""
    silent = tuple(note for part in prepared.parts for note in _silent(part))
    return AssayError([replace(item, notes=(*silent, *item.notes)) for item in error.diagnostics], error.status)


def _silent(part: Part) -> Iterator[str]:
    """Yield a note that names the hosts without any event in their files."""
    hosts = [log.host for log in part.facts.logs if not log.recognised]
    if not hosts or not part.source.hosts:
        return
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    host_list = f"host{'' if len(hosts) == 1 else 's'} {', '.join(hosts[:NAMED])}{more}"
    records = SOURCE_KINDS[part.source.kind].records
    yield f"none of the {records} of {host_list} is an event that the specs know (source {part.source.name})."


def _broken(prepared: IngestedRun) -> Iterator[str]:
    """Yield a note on malformed records: how many on which hosts, and the reason for the first."""
    quarantined = [log for log in prepared.logs if log.quarantined]
    if not quarantined:
        return
    total = sum(log.quarantined for log in quarantined)
    by_host = ", ".join(f"{log.host}: {log.quarantined}" for log in quarantined if log.host)
    records = f"broken {'log line' if by_host else 'record'}{'' if total == 1 else 's'}"
    folder = next(part.events for part in prepared.parts if any(log.quarantined for log in part.facts.logs))
    subject = "the first is" if total > 1 else "it is"
    yield f"{total} {records} left out{f' ({by_host})' if by_host else ''}; {subject} {first_broken(folder)}."
