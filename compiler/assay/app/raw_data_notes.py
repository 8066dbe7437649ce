"""What is to be known of a run's raw data: what files tell beside events, hosts without any, broken records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.app.prepare import IngestedRun, Part
from assay.engine.mount import first_broken
from assay.ingest.manifest import read_notes
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.diagnostics import AssayError

NAMED = 3  # hosts that are named


def raw_notes(prepared: IngestedRun) -> tuple[str, ...]:
    """A sentence for each thing that whoever reads the results of a run should know of its raw data."""
    notes = [note for part in prepared.parts for note in (*read_notes(part.events), *_silent(part))]
    return (*prepared.notes, *notes, *_broken(prepared))


def with_silent(error: AssayError, prepared: IngestedRun) -> AssayError:
    """What stopped a run's results, with a note that names hosts whose files hold no event: that may be why."""
    silent = tuple(note for part in prepared.parts for note in _silent(part))
    return AssayError([replace(item, notes=(*silent, *item.notes)) for item in error.diagnostics], error.status)


def _silent(part: Part) -> Iterator[str]:
    """The hosts that take no part in anything, for nothing in their files is an event."""
    hosts = [log.host for log in part.facts.logs if not log.recognised]
    if not hosts or not part.source.hosts:
        return
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    named = f"host{'' if len(hosts) == 1 else 's'} {', '.join(hosts[:NAMED])}{more}"
    records = SOURCE_KINDS[part.source.kind].records
    yield f"none of the {records} of {named} is an event that the specs know (source {part.source.name})."


def _broken(prepared: IngestedRun) -> Iterator[str]:
    """How many records are left out, of which hosts, and why the first is."""
    lost = [log for log in prepared.logs if log.quarantined]
    if not lost:
        return
    total = sum(log.quarantined for log in lost)
    where = ", ".join(f"{log.host}: {log.quarantined}" for log in lost if log.host)
    what = f"broken {'log line' if where else 'record'}{'' if total == 1 else 's'}"
    folder = next(part.events for part in prepared.parts if any(log.quarantined for log in part.facts.logs))
    first = "the first is" if total > 1 else "it is"
    yield f"{total} {what} left out{f' ({where})' if where else ''}; {first} {first_broken(folder)}."
