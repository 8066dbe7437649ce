"""Ingest the files of runs, or find their events in the cache."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.app.session.cache_filler import DiscoveredFiles
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
from assay.lang.model.package import Source
from assay.lang.model.source_kinds import JSON_LINES
from assay.runs.model import NamedRun, Part
from assay.util.checksums import is_sealed
from assay.util.diagnostics import AssayError, Diagnostic


class UnrecognisedSourcesError(AssayError):
    """Files of some sources of runs have records, but none is an event.

    `problems` has the problem of each of them, by the id of the run and the name of the source.
    """

    def __init__(self, problems: Mapping[tuple[str, str], Diagnostic]) -> None:
        super().__init__(tuple(problems.values()))
        self.problems = problems


@dataclass(slots=True)
class Ingester:
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


CACHE_CODES = ("cache", "disk-full")  # codes of problems of the cache, not of the run
MAX_CONCURRENT = 2  # folders that are ingested at a time
SLOW = 2**28  # bytes of JSON lines from which reading them without the scanner takes noticeably longer
