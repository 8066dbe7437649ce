"""Collect notes on a run's raw data: those of its files, silent hosts, malformed records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.app.prepare import IngestedRun, Part
from assay.engine.mount import find_first_quarantined
from assay.ingest.manifest import read_notes
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.diagnostics import AssayError

NAMED = 3  # hosts that a note names


def list_raw_notes(ingested_run: IngestedRun) -> tuple[str, ...]:
    """Return a sentence for each property of the raw data that may affect the results."""
    notes = [note for part in ingested_run.parts for note in (*read_notes(part.events), *_iter_silent_host_notes(part))]
    return (*ingested_run.notes, *notes, *_iter_malformed_notes(ingested_run))


def add_silent_host_notes(error: AssayError, ingested_run: IngestedRun) -> AssayError:
    """Return an error with a note on hosts whose files have no events, which may be its cause."""
    silent_host_notes = tuple(note for part in ingested_run.parts for note in _iter_silent_host_notes(part))
    return AssayError(
        [replace(item, notes=(*silent_host_notes, *item.notes)) for item in error.diagnostics], error.status
    )


def _iter_silent_host_notes(part: Part) -> Iterator[str]:
    """Yield a note that names the hosts without any event in their files."""
    hosts = [log.host for log in part.facts.logs if not log.recognised]
    if not hosts or not part.source.hosts:
        return
    more = f" and {len(hosts) - NAMED} more" if len(hosts) > NAMED else ""
    host_list = f"host{'' if len(hosts) == 1 else 's'} {', '.join(hosts[:NAMED])}{more}"
    records = SOURCE_KINDS[part.source.kind].records
    yield f"none of the {records} of {host_list} is an event that the specs know (source {part.source.name})."


def _iter_malformed_notes(ingested_run: IngestedRun) -> Iterator[str]:
    """Yield a note on malformed records: how many on which hosts, and the reason for the first."""
    quarantined_logs = [log for log in ingested_run.logs if log.quarantined]
    if not quarantined_logs:
        return
    total = sum(log.quarantined for log in quarantined_logs)
    host_counts = ", ".join(f"{log.host}: {log.quarantined}" for log in quarantined_logs if log.host)
    records = f"broken {'log line' if host_counts else 'record'}{'' if total == 1 else 's'}"
    folder = next(part.events for part in ingested_run.parts if any(log.quarantined for log in part.facts.logs))
    subject = "the first is" if total > 1 else "it is"
    yield (
        f"{total} {records} left out{f' ({host_counts})' if host_counts else ''}; {subject} "
        f"{find_first_quarantined(folder)}."
    )
