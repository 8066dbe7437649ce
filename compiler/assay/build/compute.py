"""From runs to results: ingest, then execution of the plan, runs side by side."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from assay import ingest
from assay.build.absent import absent_events
from assay.build.runs import NamedRun
from assay.build.session import Session
from assay.build.sources import needed_source
from assay.engine.execute import Job, connect, execute
from assay.engine.graph import Node, nodes
from assay.engine.mount import Facts, HostLog, constants_file, facts, mount
from assay.engine.results import RunResults
from assay.plan.steps import Applied, Plan, plan
from assay.spec.diagnostics import AssayError
from assay.spec.model import Metric, Report, Source
from assay.spec.normal_form import Checked
from assay.sql.events import event_table, scan
from assay.sql.expressions import places
from assay.sql.program import Statement, compile_plan

T = TypeVar("T")
SIDE_BY_SIDE = 2  # runs that are read at a time


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run whose raw data is in place: files, constants, hashes of the content, of how records are recognised and of
    each file, the folder of its events, what that tells."""

    run: NamedRun
    files: ingest.RunFiles
    constants: Mapping[str, object]
    raw: str
    recognition: str
    hashes: tuple[ingest.FileHash, ...]
    events: Path
    facts: Facts

    @property
    def logs(self) -> tuple[HostLog, ...]:
        """The hosts' logs."""
        return self.facts.logs


@dataclass(frozen=True, slots=True)
class Computed:
    """A run with its results, and what its logs do not tell."""

    prepared: Prepared
    results: RunResults
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Computation:
    """What was worked out: the plan, its statements in order, and every run's results."""

    plan: Plan
    graph: tuple[Node, ...]
    runs: tuple[Computed, ...]


def _nothing() -> None:
    """What most who ask do when there is work."""


def compute(
    session: Session,
    checked: Checked,
    runs: Sequence[NamedRun],
    metrics: Sequence[Metric],
    applied: Sequence[Applied],
    relations: Sequence[str] = (),
    at_work: Callable[[], None] = _nothing,
) -> Computation:
    """The results of runs: metrics and one-row relations.  `at_work` is called when anything is not in the cache.

    Raises AssayError with the problems of every run.
    """
    made = plan(checked.package, metrics, applied, relations)
    with ThreadPoolExecutor(max_workers=1) as reader:
        reading = reader.submit(prepare, session, checked, runs, made.wanted, metrics, at_work)
        graph = nodes(compiled(checked, made))
        prepared = reading.result()
    jobs = [_job(item, made, graph, relations) for item in prepared]
    results = _execute(session, checked, jobs, prepared, at_work)
    computed = (
        Computed(item, found, absent_events(checked, made, found, item.facts.events))
        for item, found in zip(prepared, results, strict=True)
    )
    return Computation(made, graph, tuple(computed))


def compiled(checked: Checked, made: Plan) -> tuple[Statement, ...]:
    """The statements of a plan, with places (`$name`) for constants; files are relative to an ingested folder."""
    names = [item.name for source in checked.package.sources for item in source.constants]
    tables = {name: event_table(scan(f"events/{name}/*.parquet"), fields) for name, fields in made.wanted.items()}
    return compile_plan(made, checked, places(names), tables)


def report_metrics(checked: Checked, report: Report) -> tuple[Metric, ...]:
    """Every metric that a report shows or lists, each once, in the package's order."""
    named = {name for section in report.sections for name in section.metrics}
    named |= {chart.metric for chart in report.charts} | set(report.also)
    named |= {name for group in report.dictionary for name in group.metrics}
    return tuple(metric for metric in checked.package.metrics if metric.id in named)


def _job(prepared: Prepared, made: Plan, graph: tuple[Node, ...], relations: Sequence[str]) -> Job:
    return Job(prepared.run.id, made, graph, prepared.constants, prepared.raw, prepared.recognition, tuple(relations))


def _execute(
    session: Session, checked: Checked, jobs: Sequence[Job], prepared: Sequence[Prepared], at_work: Callable[[], None]
) -> list[RunResults]:
    cores = os.cpu_count() or 1
    side_by_side = min(len(jobs), cores)
    threads = session.threads or max(1, cores // side_by_side)
    spill = session.store.folder / "spill"
    done = 0
    total = sum(len(job.graph) for job in jobs)

    def tell(_name: str) -> None:
        nonlocal done
        if not done:
            at_work()
        done += 1
        session.progress("working out results", done, total)

    def one(index: int) -> RunResults:
        with connect(threads, spill, side_by_side) as connection:
            mount(connection, prepared[index].events)
            return execute(jobs[index], checked, session.store, connection, tell)

    with ThreadPoolExecutor(max_workers=side_by_side) as pool:
        pending = [pool.submit(one, index) for index in range(len(jobs))]
    return _gathered(pending)


def _gathered(pending: Sequence[Future[T]]) -> list[T]:
    """What all runs came to, or one error with the problems of all."""
    found, problems = [], []
    for item in pending:
        try:
            found.append(item.result())
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return found


def prepare(
    session: Session,
    checked: Checked,
    runs: Sequence[NamedRun],
    wanted: Mapping[str, frozenset[str]],
    metrics: Sequence[Metric] = (),
    at_work: Callable[[], None] = _nothing,
) -> tuple[Prepared, ...]:
    """Every run with its events ingested, unless the cache has them; AssayError with the problems of every run.

    `metrics` are those that want the events, for the message when no run has them.  `at_work` is called when logs are
    to be read.
    """
    source = needed_source(checked, metrics, wanted, runs)
    problems: list[AssayError] = []
    found = []
    for run in runs:
        try:
            found.append((run, ingest.find_run(source, run.directory), ingest.read_constants(source, run.directory)))
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    reading = _Reading(session, sum(files.size for _run, files, _constants in found), len(found))
    # A run's reading is not parallel all the time, so another one's goes on beside it.
    with ThreadPoolExecutor(max_workers=min(len(found), SIDE_BY_SIDE)) as pool:
        pending = [
            pool.submit(_ingested, reading, checked, source, run, files, constants, wanted, at_work)
            for run, files, constants in found
        ]
    return tuple(_gathered(pending))


@dataclass(slots=True)
class _Reading:
    """Runs being read: how much of them is, of all; a lock on what hashes are remembered, and one on each set of
    logs, which several runs may have."""

    session: Session
    size: int
    runs: int
    done: dict[str, int] = field(default_factory=dict)
    memo: threading.Lock = field(default_factory=threading.Lock)
    locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))

    def progress(self, run: str) -> Callable[[int, int], None]:
        """What is told of one of the runs."""

        def tell(done: int, _total: int) -> None:
            self.done[run] = done
            what = f"reading {run}" if self.runs == 1 else f"reading {self.runs} runs"
            self.session.progress(what, sum(self.done.values()), self.size)

        return tell


def _ingested(
    reading: _Reading,
    checked: Checked,
    source: Source,
    run: NamedRun,
    files: ingest.RunFiles,
    constants: Mapping[str, object],
    wanted: Mapping[str, frozenset[str]],
    at_work: Callable[[], None],
) -> Prepared:
    store = reading.session.store
    with reading.memo:
        hashes = ingest.file_hashes(files, store.folder / "files.json")
    raw = ingest.content_key(hashes, files)
    with reading.locks[raw]:
        place = _read(reading, checked, source, run, files, constants, wanted, at_work, store.place("ingest", raw))
    recognition = ingest.recognition_hash(source, checked.package.events)
    return Prepared(run, files, constants, raw, recognition, hashes, place, facts(place))


def _read(
    reading: _Reading,
    checked: Checked,
    source: Source,
    run: NamedRun,
    files: ingest.RunFiles,
    constants: Mapping[str, object],
    wanted: Mapping[str, frozenset[str]],
    at_work: Callable[[], None],
    held: Path,
) -> Path:
    """The folder of a run's events, read now unless `held` has it."""
    events = checked.package.events
    tell = reading.progress(run.id)
    for entry in sorted(held.iterdir()) if held.is_dir() else ():
        if ingest.covers(entry, source, events, wanted):
            tell(files.size, files.size)
            return entry
    key = hashlib.sha256(json.dumps({n: sorted(f) for n, f in sorted(wanted.items())}).encode()).hexdigest()[:16]
    place = held / f"{ingest.definitions_hash(source, events, wanted)[:16]}-{key}"

    at_work()
    with _naming(run):
        ingest.ingest(source, events, wanted, files, place, share=min(reading.runs, SIDE_BY_SIDE), progress=tell)
    constants_file(place, constants)
    return place


@contextmanager
def _naming(run: NamedRun) -> Iterator[None]:
    """Problems of a run's logs, with the name of the run."""
    try:
        yield
    except AssayError as error:
        named = (replace(item, message=f"run {run.id}: {item.message}") for item in error.diagnostics)
        raise AssayError(tuple(named), error.status) from None
