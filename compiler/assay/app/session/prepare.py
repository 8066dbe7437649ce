"""Prepare the raw data of runs: find files, read constants, ingest events unless they are cached."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from assay.app.session.cache_filler import DiscoveredFiles
from assay.app.session.hashing import PendingHashes
from assay.app.session.required_sources import select_sources
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine.pruning import mark_used
from assay.engine.result_cache import Store
from assay.ingest import scanner
from assay.ingest.absent_files import AbsentFileError
from assay.ingest.discovery import RunFiles
from assay.ingest.hashing import MEMO, compute_content_key, load_hashes
from assay.ingest.manifest import (
    has_required_events,
    has_same_file_names,
    hash_definitions,
    hash_recognition,
    list_file_names,
    read_notes,
)
from assay.ingest.pipeline import ingest, read_batches
from assay.ingest.quarantine import NothingRecognisedError, QuarantineLimitError, get_quarantine_path
from assay.ingest.readers.protocol import find_batch_reader
from assay.ingest.run_constants import (
    join_missing_documents,
    list_duplicate_constant_warnings,
    read_constants,
    set_start,
)
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric, Source
from assay.lang.model.source_kinds import JSON_LINES
from assay.runs.model import IngestedRun, NamedRun, Part, RequiredFields
from assay.util.checksums import is_sealed
from assay.util.diagnostics import AssayError, Diagnostic
from assay.util.numbers import format_count
from assay.util.progress import ignore

T = TypeVar("T")
CACHE_CODES = ("cache", "disk-full")  # codes of problems of the cache, not of the run
MAX_CONCURRENT = 2  # folders that are ingested at a time
SLOW = 2**28  # bytes of JSON lines from which reading them without the scanner takes noticeably longer


class UnrecognisedSourcesError(AssayError):
    """Files of some sources of runs have records, but none is an event.

    `problems` has the problem of each of them, by the id of the run and the name of the source.
    """

    def __init__(self, problems: Mapping[tuple[str, str], Diagnostic]) -> None:
        super().__init__(tuple(problems.values()))
        self.problems = problems


def prepare(
    session: Session,
    checked: CheckedPackage,
    runs: Sequence[NamedRun],
    required_fields: RequiredFields,
    metrics: Sequence[Metric] = (),
    on_work_start: Callable[[], None] = ignore,
) -> tuple[IngestedRun, ...]:
    """Return every run with its events ingested, unless they are cached.

    `metrics` are the metrics that need the events; an error names them if no run has a source. `on_work_start` is
    called before raw files are read.

    Raises AssayError with the problems of every run.
    """
    runs = fetch_runs(session, runs, checked.package.sources)
    sources = select_sources(checked, metrics, required_fields, runs)
    discovered_files, constants = discover_files(session, checked, sources, runs, required_fields)
    ingester = _Ingester(
        session,
        on_work_start,
        sum(item.files.size for item in discovered_files),
        len(discovered_files),
        _format_progress_label(discovered_files),
    )
    if session.filler:
        session.filler.read_logs(session, checked, [item for item in discovered_files if not ingester.is_cached(item)])
    # Ingesting one folder does not keep all cores busy all the time, so two are ingested at once.
    with ThreadPoolExecutor(max_workers=max(1, min(len(discovered_files), MAX_CONCURRENT))) as pool:
        parts = collect_results([pool.submit(ingester.read_part, item) for item in discovered_files])
    parts_by_run: dict[str, list[Part]] = {run.id: [] for run in runs}
    for item, part in zip(discovered_files, parts, strict=True):
        parts_by_run[item.run.id].append(part)
    return tuple(
        IngestedRun(
            run,
            constants[run.id],
            tuple(parts_by_run[run.id]),
            list_duplicate_constant_notes(checked.package.sources, run),
        )
        for run in runs
    )


def _format_progress_label(discovered_files: Sequence[DiscoveredFiles]) -> str:
    """Return the label of the progress display."""
    runs = list(dict.fromkeys(item.run.id for item in discovered_files))
    files = sum(len(host.files) for item in discovered_files for host in item.files.hosts)
    return f"reading {runs[0] if len(runs) == 1 else f'{len(runs)} runs'}, {format_count(files, 'file')}"


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


def collect_results(futures: Sequence[Future[T]]) -> list[T]:
    """Return the results of all futures.

    Raises AssayError with the problems of all that failed: an UnrecognisedSourcesError if each of them is one.
    """
    results: list[T] = []
    problems: list[AssayError] = []
    for item in futures:
        try:
            results.append(item.result())
        except AssayError as error:
            problems.append(error)
    if problems:
        distinct_problems = tuple(dict.fromkeys(item for error in problems for item in error.diagnostics))
        unrecognised = [error for error in problems if isinstance(error, UnrecognisedSourcesError)]
        if len(unrecognised) == len(problems):
            raise UnrecognisedSourcesError(dict(pair for error in unrecognised for pair in error.problems.items()))
        raise AssayError(distinct_problems, problems[0].status)
    return results


@dataclass(slots=True)
class _Ingester:
    """The ingestion of several runs, with its progress.

    `label` is the label of the progress display, `size` the total bytes, `bytes_read` the bytes read by run and source,
    `ingested` the run and source of each part that was not cached. `locks` has a lock for each set of files, which
    several runs may share.
    """

    session: Session
    on_work_start: Callable[[], None]
    size: int
    folders: int
    label: str
    bytes_read: dict[tuple[str, str], int] = field(default_factory=dict)
    ingested: set[tuple[str, str]] = field(default_factory=set)
    locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))
    has_noted_scanner: bool = False

    def begin_reading(self, discovered_files: DiscoveredFiles) -> None:
        """Prepare for reading files that are not cached; note once that the scanner is missing where this matters."""
        self.on_work_start()
        is_slow = discovered_files.source.kind == JSON_LINES.name and discovered_files.files.size >= SLOW
        if is_slow and not self.has_noted_scanner and scanner.is_missing():
            self.has_noted_scanner = True
            self.session.notice(
                "note: without its native scanner, assay takes two to three times as long to read these logs; "
                "a wheel for this platform has it, and so has an installation from source with a Rust compiler"
            )

    def read_part(self, discovered_files: DiscoveredFiles) -> Part:
        """Return a run's part of one source."""
        store = self.session.store
        size = discovered_files.files.size
        self.read_portions(discovered_files)
        files, hashes = discovered_files.hashing.join()
        discovered_files = replace(discovered_files, files=files)
        content_hash = compute_content_key(hashes, discovered_files.files)
        with (
            self.locks[content_hash],
            log_stage(
                "read", run=discovered_files.run.id, source=discovered_files.source.name, bytes=size
            ) as stage_facts,
        ):
            place = self.get_folder(discovered_files, store.get_path("ingest", content_hash))
            stage_facts["cached"] = (discovered_files.run.id, discovered_files.source.name) not in self.ingested
        recognition = hash_recognition(discovered_files.source, discovered_files.events)
        return Part(discovered_files.source, discovered_files.files, content_hash, recognition, hashes, place)

    def read_portions(self, discovered_files: DiscoveredFiles) -> None:
        """Read a large new run into batches, a portion of its hosts at a time, while the next portion is hashed.

        If all files were hashed before the first is read, they would be fetched from the disk twice.
        """
        pending = discovered_files.hashing
        can_be_divided = len(pending.portions) > 1 and find_batch_reader(discovered_files.source.kind) is not None
        if not can_be_divided or self.is_hashed(discovered_files):
            return
        self.begin_reading(discovered_files)
        size = 0

        def report_progress(done: int, _total: int) -> None:
            self.report_progress(discovered_files, size + done)

        with prefix_run_name(discovered_files.run, discovered_files.source):
            for portion in pending.iter_portions():
                read_batches(
                    discovered_files.source,
                    discovered_files.events,
                    discovered_files.required_fields,
                    portion,
                    self.session.store.folder,
                    share=min(self.folders, MAX_CONCURRENT),
                    progress=report_progress,
                )
                size += portion.size

    def is_hashed(self, discovered_files: DiscoveredFiles) -> bool:
        """Return whether the hashes of all files are stored."""
        stored_hashes = load_hashes(self.session.store.folder / MEMO)
        return all(item.key in stored_hashes for host in discovered_files.files.hosts for item in host.snapshots)

    def is_cached(self, discovered_files: DiscoveredFiles) -> bool:
        """Return whether the events are cached, as far as that is known without reading a file."""
        if not self.is_hashed(discovered_files):
            return False
        files, hashes = discovered_files.hashing.join()
        entries_dir = self.session.store.get_path("ingest", compute_content_key(hashes, files))
        return self.find_cached(replace(discovered_files, files=files), entries_dir) is not None

    def get_folder(self, discovered_files: DiscoveredFiles, entries_dir: Path) -> Path:
        """Return the folder of events, ingested now unless it is cached; one process at a time ingests."""
        if entry := self.find_cached(discovered_files, entries_dir):
            return entry
        store = self.session.store
        with store.lock_folder(
            entries_dir, lambda: self.session.notice(f"waiting for another assay that reads {discovered_files.run.id}")
        ):
            return self.find_cached(discovered_files, entries_dir) or self.ingest(discovered_files, entries_dir)

    def find_cached(self, discovered_files: DiscoveredFiles, entries_dir: Path) -> Path | None:
        """Return the folder of events in the cache, or None."""
        for entry in sorted(entries_dir.iterdir()) if entries_dir.is_dir() else ():
            is_complete = is_sealed(entry) and has_required_events(
                entry, discovered_files.source, discovered_files.events, discovered_files.required_fields
            )
            if is_complete and _has_current_file_names(entry, discovered_files.files):
                self.report_progress(discovered_files, discovered_files.files.size)
                mark_used(entry)
                return entry
        return None

    def ingest(self, discovered_files: DiscoveredFiles, entries_dir: Path) -> Path:
        """Ingest the events into a new folder and return it."""
        store = self.session.store
        fields = json.dumps({name: sorted(names) for name, names in sorted(discovered_files.required_fields.items())})
        names = json.dumps(list_file_names(discovered_files.files))
        key = hashlib.sha256((fields + names).encode()).hexdigest()[:16]
        definition_hash = hash_definitions(
            discovered_files.source, discovered_files.events, discovered_files.required_fields
        )
        place = entries_dir / f"{definition_hash[:16]}-{key}"
        self.begin_reading(discovered_files)
        self.ingested.add((discovered_files.run.id, discovered_files.source.name))
        quarantine_path = get_quarantine_path(
            store.folder, discovered_files.run.directory, discovered_files.source.name
        )
        with prefix_run_name(discovered_files.run, discovered_files.source), _keep_quarantine(store, quarantine_path):
            while True:
                try:
                    ingest(
                        discovered_files.source,
                        discovered_files.events,
                        discovered_files.required_fields,
                        discovered_files.files,
                        place,
                        share=min(self.folders, MAX_CONCURRENT),
                        progress=lambda done, _total: self.report_progress(discovered_files, done),
                        cache=store.folder,
                    )
                except AbsentFileError as error:  # such as a log with malformed lines, whose texts are stored
                    self.fetch_file(discovered_files.run, error.path)
                else:
                    return place

    def fetch_file(self, run: NamedRun, path: Path) -> None:
        """Fetch a log that only has a placeholder here."""
        from assay.remote.mirror import fetch_absent_file

        fetch_absent_file(run.address, run.directory, path, self.session.progress)

    def report_progress(self, discovered_files: DiscoveredFiles, done: int) -> None:
        """Report how much of all files has been read."""
        self.bytes_read[discovered_files.run.id, discovered_files.source.name] = done
        self.session.progress(self.label, sum(self.bytes_read.values()), self.size)


def _has_current_file_names(entry: Path, files: RunFiles) -> bool:
    """Return whether the notes of an entry, if it has any, use the current file names."""
    from assay.engine.mount import read_facts

    has_notes = read_notes(entry) or any(log.quarantined for log in read_facts(entry).logs)
    return not has_notes or has_same_file_names(entry, files)


@contextmanager
def _keep_quarantine(store: Store, place: Path) -> Iterator[None]:
    """Move the quarantine of a run that exceeds its limit to a path; remove the one of the last attempt first."""
    with store.convert_write_errors():
        place.unlink(missing_ok=True)
    try:
        yield
    except QuarantineLimitError as error:
        with store.convert_write_errors():
            raise error.move_table(place) from None


@contextmanager
def prefix_run_name(run: NamedRun, source: Source) -> Iterator[None]:
    """Prefix the problems of a run's raw data with the name of the run.

    Raises UnrecognisedSourcesError if the source's files have well-formed records, but none is an event.
    """
    try:
        yield
    except AssayError as error:
        problems = tuple(
            item if item.code in CACHE_CODES else replace(item, message=f"run {run.id}: {item.message}")
            for item in error.diagnostics
        )  # fmt: skip
        if isinstance(error, NothingRecognisedError) and error.has_other_records:
            raise UnrecognisedSourcesError({(run.id, source.name): problems[0]}) from None
        raise AssayError(problems, error.status) from None
