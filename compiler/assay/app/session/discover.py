"""Find the files of runs, and hash them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.app.session.cache_filler import DiscoveredFiles
from assay.app.session.hashing import PendingHashes
from assay.app.session.session import Session
from assay.ingest.discovery import RunFiles
from assay.ingest.run_constants import (
    join_missing_documents,
    list_duplicate_constant_warnings,
    read_constants,
    set_start,
)
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Source
from assay.runs.model import NamedRun, RequiredFields
from assay.util.diagnostics import AssayError, Diagnostic


def list_duplicate_constant_notes(sources: Sequence[Source], run: NamedRun) -> tuple[str, ...]:
    """Return warnings about constants that a run defines several times."""
    return tuple(note for source in sources for note in list_duplicate_constant_warnings(source, run.directory))


def discover_files(
    session: Session,
    checked: CheckedPackage,
    sources: Sequence[Source],
    runs: Sequence[NamedRun],
    required_fields: RequiredFields,
) -> tuple[list[DiscoveredFiles], dict[str, dict[str, object]]]:
    """Find the files of every run and source, and read the constants of every run.

    Constants are those of all sources of the package. Raises AssayError with the problems of every run.
    """
    problems: list[tuple[Path, Diagnostic]] = []
    statuses: list[int] = []
    discovered_files: list[DiscoveredFiles] = []
    constants: dict[str, dict[str, object]] = {run.id: {} for run in runs}
    all_events = checked.package.events
    events = {source.name: tuple(item for item in all_events if item.source == source.name) for source in sources}
    for run in runs:
        pending_files: list[tuple[Source, PendingHashes]] = []
        try:
            pending_files = [
                (source, session.run_hasher.get_pending(run.id, run.directory, source, events[source.name]))
                for source in sources
            ]
            for source in checked.package.sources:
                constants[run.id] |= read_constants(source, run.directory)
            # The order of files is the same without a start.
            pending_files = [(set_start(source, constants[run.id], run.id), item) for source, item in pending_files]
        except AssayError as error:
            files_of_sources = [pending.files for _, pending in pending_files]
            problems += [
                (run.directory, item) for item in (*_list_empty_logs(run, files_of_sources), *error.diagnostics)
            ]
            statuses.append(error.status)
            continue
        for source, pending in pending_files:
            source_events = events[source.name]
            wanted_fields = {
                event.name: required_fields[event.name] for event in source_events if event.name in required_fields
            }
            discovered_files.append(DiscoveredFiles(run, source, pending.files, pending, source_events, wanted_fields))
    if problems:
        raise AssayError(join_missing_documents(problems), statuses[0])
    return discovered_files, constants


def _list_empty_logs(run: NamedRun, files: Sequence[RunFiles]) -> Iterator[Diagnostic]:
    """Yield that no log of a run has a record, which matters more than a missing document."""
    if files and not any(item.size for item in files):
        yield Diagnostic("no-logs", f"run {run.id}: no log has a record: all log files are empty: {run.directory}")
