"""The raw data of runs in place: files found, constants read, events ingested unless the cache has them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay.app.hashing import Hashing
from assay.app.required_sources import needed_sources
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.app.stages import stage
from assay.engine.pruning import used
from assay.engine.result_cache import Store
from assay.ingest.discovery import RunFiles
from assay.ingest.hashing import FileHash, content_key
from assay.ingest.manifest import (
    covers,
    definitions_hash,
    file_names,
    has_same_file_names,
    read_notes,
    recognition_hash,
)
from assay.ingest.pipeline import ingest
from assay.ingest.quarantine import QuarantineLimitError, place_of
from assay.ingest.run_metadata import duplicate_constant_warnings, read_constants
from assay.lang.model.package import Event, Metric, Source
from assay.lang.normal_form import CheckedPackage
from assay.util.checksums import is_sealed
from assay.util.diagnostics import AssayError
from assay.util.numbers import format_count

if TYPE_CHECKING:
    from assay.engine.mount import Facts, HostLog

T = TypeVar("T")
Wanted = Mapping[str, frozenset[str]]
OF_CACHE = ("cache", "disk-full")  # problems that are not of the run being read
SIDE_BY_SIDE = 2  # folders that are made at a time


@dataclass(frozen=True)
class Part:
    """What a run has of one source: files, hashes of the content, of how records are recognised and of each file, the
    folder of its events."""

    source: Source
    files: RunFiles
    raw: str
    recognition: str
    hashes: tuple[FileHash, ...]
    events: Path

    @cached_property
    def facts(self) -> Facts:
        """What the folder tells."""
        from assay.engine.mount import facts  # loads much, and not everybody asks

        return facts(self.events)


@dataclass(frozen=True, slots=True)
class IngestedRun:
    """A run whose raw data is in place: its constants, what it has of each source that is needed, and what is to be
    known of the constants."""

    run: NamedRun
    constants: Mapping[str, object]
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()

    @property
    def raw(self) -> str:
        """Hash of all raw data."""
        return _joined([part.raw for part in self.parts])

    @property
    def recognition(self) -> str:
        """Hash of how all records are recognised."""
        return _joined([part.recognition for part in self.parts])

    @property
    def hashes(self) -> tuple[FileHash, ...]:
        """The hash of each raw file."""
        return tuple(item for part in self.parts for item in part.hashes)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of its events."""
        return tuple(part.events for part in self.parts)

    @property
    def logs(self) -> tuple[HostLog, ...]:
        """What is held of each host and source."""
        return tuple(log for part in self.parts for log in part.facts.logs)

    @property
    def hosts(self) -> int:
        """How many hosts it has: the most that any source tells of."""
        return max(len(part.facts.logs) for part in self.parts)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many records are each event."""
        return {event: number for part in self.parts for event, number in part.facts.events.items()}


def _joined(hashes: Sequence[str]) -> str:
    """One hash for several; of one itself."""
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("|".join(hashes).encode()).hexdigest()


def ignore_work() -> None:
    """What most who ask do when there is work."""


@dataclass(frozen=True, slots=True)
class _DiscoveredFiles:
    """Files of a run, of a source, what waits for their hashes, and the events that are wanted of them."""

    run: NamedRun
    source: Source
    files: RunFiles
    hashing: Hashing
    events: tuple[Event, ...]
    wanted: Wanted


def prepare(
    session: Session,
    checked: CheckedPackage,
    runs: Sequence[NamedRun],
    wanted: Wanted,
    metrics: Sequence[Metric] = (),
    at_work: Callable[[], None] = ignore_work,
) -> tuple[IngestedRun, ...]:
    """Every run with its events ingested, unless the cache has them; AssayError with the problems of every run.

    `metrics` are those that want the events, for the message when no run has them.  `at_work` is called when raw files
    are to be read.
    """
    runs = here(session, runs, checked.package.sources)
    sources = needed_sources(checked, metrics, wanted, runs)
    found, constants = discover_files(session, checked, sources, runs, wanted)
    reading = _Reading(session, at_work, sum(item.files.size for item in found), len(found), _called(found))
    # The reading of one folder is not parallel all the time, so another one's goes on beside it.
    with ThreadPoolExecutor(max_workers=min(len(found), SIDE_BY_SIDE)) as pool:
        parts = gathered([pool.submit(reading.part, item) for item in found])
    of_run: dict[str, list[Part]] = {run.id: [] for run in runs}
    for item, part in zip(found, parts, strict=True):
        of_run[item.run.id].append(part)
    return tuple(
        IngestedRun(
            run, constants[run.id], tuple(of_run[run.id]), duplicate_constant_notes(checked.package.sources, run)
        )
        for run in runs
    )


def _called(found: Sequence[_DiscoveredFiles]) -> str:
    """What is being read, for who waits."""
    runs = list(dict.fromkeys(item.run.id for item in found))
    files = sum(len(host.files) for item in found for host in item.files.hosts)
    return f"reading {runs[0] if len(runs) == 1 else f'{len(runs)} runs'}, {format_count(files, 'file')}"


def duplicate_constant_notes(sources: Sequence[Source], run: NamedRun) -> tuple[str, ...]:
    """What is to be known of the constants of a run."""
    return tuple(note for source in sources for note in duplicate_constant_warnings(source, run.directory))


def discover_files(
    session: Session, checked: CheckedPackage, sources: Sequence[Source], runs: Sequence[NamedRun], wanted: Wanted
) -> tuple[list[_DiscoveredFiles], dict[str, dict[str, object]]]:
    """The files of every run and source, and the constants of every run: those of all sources of the package."""
    problems: list[AssayError] = []
    found: list[_DiscoveredFiles] = []
    constants: dict[str, dict[str, object]] = {run.id: {} for run in runs}
    every = checked.package.events
    events = {source.name: tuple(item for item in every if item.source == source.name) for source in sources}
    for run in runs:
        try:
            files = [
                (source, *session.hashes.of(run.id, run.directory, source, events[source.name])) for source in sources
            ]
            for source in checked.package.sources:
                constants[run.id] |= read_constants(source, run.directory)
        except AssayError as error:
            problems.append(error)
            continue
        for source, held, hashing in files:
            own = events[source.name]
            asked = {event.name: wanted[event.name] for event in own if event.name in wanted}
            found.append(_DiscoveredFiles(run, source, held, hashing, own, asked))
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return found, constants


def gathered(pending: Sequence[Future[T]]) -> list[T]:
    """What all came to, or one error with the problems of all."""
    found, problems = [], []
    for item in pending:
        try:
            found.append(item.result())
        except AssayError as error:
            problems.append(error)
    if problems:
        said = dict.fromkeys(item for error in problems for item in error.diagnostics)
        raise AssayError(tuple(said), problems[0].status)
    return found


@dataclass(slots=True)
class _Reading:
    """Runs being read: what they are called together, how much of them is read, of all; a lock on each set of files,
    which several runs may have."""

    session: Session
    at_work: Callable[[], None]
    size: int
    folders: int
    what: str
    done: dict[tuple[str, str], int] = field(default_factory=dict)
    fresh: set[tuple[str, str]] = field(default_factory=set)
    locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def part(self, found: _DiscoveredFiles) -> Part:
        """A run's part of one source."""
        store = self.session.store
        size = found.files.size
        files, hashes = found.hashing()
        found = replace(found, files=files)
        raw = content_key(hashes, found.files)
        with self.locks[raw], stage("read", run=found.run.id, source=found.source.name, bytes=size) as said:
            place = self.folder(found, store.place("ingest", raw))
            said["cached"] = (found.run.id, found.source.name) not in self.fresh
        recognition = recognition_hash(found.source, found.events)
        return Part(found.source, found.files, raw, recognition, hashes, place)

    def folder(self, found: _DiscoveredFiles, held: Path) -> Path:
        """The folder of events, made now unless `held` has it; by one process at a time."""
        if entry := self.known(found, held):
            return entry
        store = self.session.store
        with store.alone(held, lambda: self.session.notice(f"waiting for another assay that reads {found.run.id}")):
            return self.known(found, held) or self.ingest(found, held)

    def known(self, found: _DiscoveredFiles, held: Path) -> Path | None:
        """The folder of events that the cache has."""
        for entry in sorted(held.iterdir()) if held.is_dir() else ():
            is_complete = is_sealed(entry) and covers(entry, found.source, found.events, found.wanted)
            if is_complete and _tells_of(entry, found.files):
                self.tell(found, found.files.size)
                used(entry)
                return entry
        return None

    def ingest(self, found: _DiscoveredFiles, held: Path) -> Path:
        """The folder of events, made now."""
        store = self.session.store
        fields = json.dumps({name: sorted(names) for name, names in sorted(found.wanted.items())})
        names = json.dumps(file_names(found.files))
        key = hashlib.sha256((fields + names).encode()).hexdigest()[:16]
        place = held / f"{definitions_hash(found.source, found.events, found.wanted)[:16]}-{key}"
        self.at_work()
        self.fresh.add((found.run.id, found.source.name))
        refused = place_of(store.folder, found.run.directory, found.source.name)
        with _naming(found.run), _keeping(store, refused):
            ingest(
                found.source,
                found.events,
                found.wanted,
                found.files,
                place,
                share=min(self.folders, SIDE_BY_SIDE),
                progress=lambda done, _total: self.tell(found, done),
                cache=store.folder,
            )
        return place

    def tell(self, found: _DiscoveredFiles, done: int) -> None:
        """Say how much is read of all."""
        self.done[found.run.id, found.source.name] = done
        self.session.progress(self.what, sum(self.done.values()), self.size)


def _tells_of(entry: Path, files: RunFiles) -> bool:
    """Whether an entry calls the files of which there is something to be told as they are called now."""
    from assay.engine.mount import facts

    told = read_notes(entry) or any(log.quarantined for log in facts(entry).logs)
    return not told or has_same_file_names(entry, files)


@contextmanager
def _keeping(store: Store, place: Path) -> Iterator[None]:
    """What is kept of a run that is refused stands at a place; what the last attempt left there goes."""
    with store.writing():
        place.unlink(missing_ok=True)
    try:
        yield
    except QuarantineLimitError as error:
        with store.writing():
            raise error.with_table_at(place) from None


@contextmanager
def _naming(run: NamedRun) -> Iterator[None]:
    """Problems of a run's raw data, with the name of the run."""
    try:
        yield
    except AssayError as error:
        named = (
            item if item.code in OF_CACHE else replace(item, message=f"run {run.id}: {item.message}")
            for item in error.diagnostics
        )  # fmt: skip
        raise AssayError(tuple(named), error.status) from None
