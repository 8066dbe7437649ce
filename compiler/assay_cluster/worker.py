"""Run tasks in the process of a worker: one task, or those of a queue until there is nothing to do (`assay work`)."""

from __future__ import annotations

import functools
import json
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb  # noqa: F401  # before threads use it: one of them would see it half imported

from assay.app.session.session import Session, open_session
from assay.app.session.stages import log_facts, log_stage
from assay.engine.portions import PORTIONS_KIND, Portion, compute_portion
from assay.engine.result_cache import Store
from assay.engine.table_cache import TABLES_KIND
from assay.ingest.discovery import HostFiles, RunFiles, take_snapshot
from assay.ingest.file_snapshots import FileSnapshot, create_hashed_snapshot
from assay.ingest.pipeline import read_batches
from assay.remote.address import split_address
from assay.remote.object_store import Object, open_storage
from assay.remote.transfer import Transfer
from assay.util.diagnostics import INTERNAL, AssayError, Diagnostic
from assay.util.os_errors import build_memory_error, convert_os_error, is_disk_full_error, is_memory_error
from assay.util.progress import Notice, ignore
from assay.util.scratch import clean_up
from assay_cluster.cluster import Watch
from assay_cluster.entry_storage import EntryStorage, open_entry_storage
from assay_cluster.folder_queue import POLL, ClaimedTask, Heartbeat, QueueWorker, raise_machine_problem
from assay_cluster.listing import read_listing
from assay_cluster.sample import Comparison, verify_sample
from assay_cluster.task import (
    COMPUTE,
    READ,
    READINGS_KIND,
    VERIFY,
    Outcome,
    Task,
    check_task,
    hash_reading,
    name_worker,
)

#: codes of problems of a machine, which another one may not have
MACHINE_CODES = frozenset(
    [
        *("cache", "disk-full", "memory", "sql-memory", "sql-time", "engine", "file", "worker"),
        *("no-server", "run-refused"),
    ]
)
STOP_SIGNAL = signal.SIGUSR1  # not SIGINT, which shells let processes in the background ignore


def run_task(task: Task, session: Session) -> Outcome:
    """Run a task over the cache of a session, and return its outcome. No error escapes, except an interrupt.

    A machine that lacks what the task requires refuses it: the outcome has these problems, with the status of usage.
    """
    wall, processor = time.perf_counter(), time.process_time()
    outcome = Outcome(task.name, name_worker())
    try:
        storage = _open_storage(session.store, session.storage, task.requirements.token)
        check_task(task, session, storage)
        outcome = replace(outcome, body=_WORK[task.kind](task, session, storage))
    except Exception as error:
        problem = _convert_error(error, session.store)
        is_retryable = all(item.code in MACHINE_CODES for item in problem.diagnostics)
        outcome = replace(outcome, problems=problem.diagnostics, status=problem.status, is_retryable=is_retryable)
    seconds, processor_seconds = time.perf_counter() - wall, time.process_time() - processor
    return replace(outcome, seconds=round(seconds, 3), processor_seconds=round(processor_seconds, 3))


@functools.lru_cache(maxsize=1)
def _open_storage(store: Store, address: str, token: str) -> EntryStorage:  # noqa: ARG001  # one for each build
    return open_entry_storage(store, address)


def _convert_error(error: Exception, store: Store) -> AssayError:
    if isinstance(error, AssayError):
        return error
    if is_disk_full_error(error):
        return store.build_full_error()
    if isinstance(error, OSError):
        return convert_os_error(error)
    if is_memory_error(error):
        return build_memory_error(error)
    message = f"the worker failed: {type(error).__name__}: {str(error)[:500]}"
    return AssayError((Diagnostic("worker", message),), INTERNAL)


def _read_logs(task: Task, session: Session, storage: EntryStorage) -> Mapping[str, Any]:
    """Hash and read the logs of some hosts into batches; return the hash of each file in the order of the task.

    The logs are files, or objects of versions that the task names. What was read of such objects is never read again.
    """
    body = task.body
    record = (READINGS_KIND, hash_reading(task))
    if body["address"] and (text := storage.read_text(record)):
        outcome: Mapping[str, Any] = json.loads(text)
        if all(storage.has((kind, key)) for kind, key in outcome["entries"]):
            return outcome
    with _open_logs(body, session) as directory:
        outcome = _read_files(task, session, storage, directory)
    if body["address"]:
        storage.put_text(record, json.dumps(outcome))
    return outcome


@contextmanager
def _open_logs(body: Mapping[str, Any], session: Session) -> Iterator[Path]:
    """Yield the directory of the run, or one with those of its objects that the task reads."""
    if not body["address"]:
        yield Path(body["directory"])
        return
    address, folder = body["address"], session.store.create_folder()
    prefix = split_address(address)[1]
    objects = [
        Object(name, f"{prefix}/{name}", size, version) for _, files in body["hosts"] for name, size, version in files
    ]
    transfer = Transfer(open_storage(address), folder, ignore)
    try:
        transfer.fetch(objects)
        yield transfer.files
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_files(task: Task, session: Session, storage: EntryStorage, directory: Path) -> Mapping[str, Any]:
    body = task.body
    package = session.load_package(task.requirements.system).package
    source = next(item for item in package.sources if item.name == body["source"])
    if body["start_ns"] is not None:
        source = replace(source, start_ns=body["start_ns"])
    hosts = tuple(
        HostFiles(host, tuple(_hash_file(directory / name, size) for name, size, _ in files))
        for host, files in body["hosts"]
    )
    required_fields = {event: frozenset(fields) for event, fields in body["required_fields"].items()}
    events = tuple(item for item in package.events if item.source == source.name)
    files = RunFiles(directory, hosts)
    folders = read_batches(source, events, required_fields, files, session.store.folder, workers=session.threads or 1)
    entries = [(folder.parent.relative_to(session.store.folder).as_posix(), folder.name) for folder in folders]
    storage.push(session.store, entries)
    snapshots = [item for host in hosts for item in host.snapshots]
    return {"files": [[item.size, item.stamp.changed_ns, item.sha256] for item in snapshots], "entries": entries}


def _hash_file(path: Path, size: int) -> FileSnapshot:
    """Return the snapshot of a file with its hash. Of a log that has grown since, only the first bytes are read."""
    snapshot = take_snapshot(path)
    return create_hashed_snapshot(path, replace(snapshot.stamp, size=size))


def _compute_results(task: Task, session: Session, storage: EntryStorage) -> Mapping[str, Any]:
    portion, store = Portion.from_json(task.body), session.store
    if not storage.address:
        compute_portion(portion, store, session.threads or 1)
    elif not storage.has((PORTIONS_KIND, portion.key)):
        folder = store.create_folder()
        try:
            own_store = Store(folder / "cache")
            local_portion = _fetch_inputs(portion, task.body, storage, store, own_store)
            compute_portion(local_portion, own_store, session.threads or 1)
            storage.push(own_store, [(PORTIONS_KIND, portion.key)])
        finally:
            clean_up(folder / "cache")
            shutil.rmtree(folder, ignore_errors=True)
    return {}


def _fetch_inputs(
    portion: Portion, body: Mapping[str, Any], storage: EntryStorage, store: Store, own_store: Store
) -> Portion:
    """Return the portion over folders of events and tables in `own_store`, which have the rows of its hosts."""
    hosts, texts = portion.partition.hosts, [item.text + item.plain_text for item in portion.instructions]
    folders = [own_store.get_path("ingest", str(number)) for number, _ in enumerate(body["event_listings"])]
    with own_store.convert_write_errors():
        for folder, key in zip(folders, body["event_listings"], strict=True):
            read_listing(storage, key).select(texts, hosts).create_folder(storage, store, folder)
        for scan in portion.scans:
            folder, listing = own_store.get_path(TABLES_KIND, scan.key), body["table_listings"][scan.key]
            table = read_listing(storage, listing).select((), () if scan.is_whole else hosts)
            table.create_folder(storage, store, folder)
    scans = tuple(replace(scan, file=None) for scan in portion.scans)  # a folder has only the files of the portion
    return replace(portion, folders=tuple(map(str, folders)), scans=scans)


def _verify_sample(task: Task, session: Session, storage: EntryStorage) -> Mapping[str, Any]:
    comparison = Comparison.from_json(task.body)
    keys = (comparison.sample, *comparison.portions)
    storage.pull(session.store, [(comparison.place, key) for key in keys])
    verify_sample(comparison, session.store)
    return {}


_WORK = {READ: _read_logs, COMPUTE: _compute_results, VERIFY: _verify_sample}


class MachineFailedError(Exception):
    """The machine of a worker failed, so that another one should try. The argument is the outcome as plain data."""


def run_remotely(data: Mapping[str, Any]) -> dict[str, Any]:
    """Run a task of plain data in a process that a cluster started; return the outcome as plain data.

    Raises MachineFailedError.
    """
    task = Task.from_json(data)
    session = _open_remote_session(task.requirements.workspace, task.requirements.cache, task.requirements.token)
    outcome = run_task(task, session)
    if outcome.is_retryable:
        raise MachineFailedError(outcome.to_json())
    return outcome.to_json()


@functools.lru_cache(maxsize=1)
def _open_remote_session(workspace: str, cache: str, token: str) -> Session:  # noqa: ARG001  # one for each build
    return open_session(Path(workspace), cache)


def work_on_queue(
    queue: Path,
    open_session: Callable[[], Session],
    *,
    once: bool = False,
    idle_seconds: float | None = None,
    notice: Notice = ignore,
) -> int:
    """Run tasks of a queue, and return their number.

    Ends after one task with `once`, and after `idle_seconds` without one. `open_session` opens a session with the
    current specs. A worker that waits for its first task says so in a notice. Raises AssayError if this machine fails,
    or lacks what a task requires.
    """
    with _handle_stops(), closing(QueueWorker(queue, notice)) as worker, ExitStack() as sessions:
        watch = Watch(notice, f"waiting for tasks: run `assay build --on folder:{queue.absolute()}`")
        return _work(worker, sessions, open_session, watch, once=once, idle_seconds=idle_seconds)


def _work(
    worker: QueueWorker,
    sessions: ExitStack,
    open_session: Callable[[], Session],
    watch: Watch,
    *,
    once: bool,
    idle_seconds: float | None,
) -> int:
    count, idle_since = 0, time.monotonic()
    session: Session | None = None
    build: Path | None = None
    while True:
        claimed = worker.take()
        if claimed is None:
            if idle_seconds is not None and time.monotonic() - idle_since >= idle_seconds:
                return count
            if not count:
                watch.check(lambda: False)
            time.sleep(POLL)
            continue
        if session is None or claimed.build != build:  # specs may have changed between builds
            sessions.close()
            session, build = sessions.enter_context(closing(open_session())), claimed.build
        outcome = _run_claimed(worker, claimed, session)
        if outcome is None:
            continue
        raise_machine_problem(outcome)
        count += 1
        if once:
            return count
        idle_since = time.monotonic()


def _run_claimed(worker: QueueWorker, claimed: ClaimedTask, session: Session) -> Outcome | None:
    """Run a claimed task, keep the claim alive meanwhile, and write the outcome.

    None if the claim is gone, since the build was cancelled or another worker took the task: then the task is stopped.
    """
    task = claimed.task
    heartbeat = Heartbeat(claimed.path, claimed.lease, _stop_task)
    try:
        with log_stage("task", task=task.name, run=task.run, hosts=task.hosts, bytes=task.size):
            outcome = run_task(task, session)
        heartbeat.stop()
        time.sleep(0)  # a signal that the heartbeat has just sent arrives here
    except StoppedTask:
        outcome = None
    except BaseException:
        heartbeat.stop()
        worker.release(claimed)
        raise
    if outcome is None or (heartbeat.is_gone and outcome.problems):  # the engine reports a signal as an error
        log_facts("stopped", task=task.name)
        return None
    worker.finish(claimed, outcome)
    return outcome


class StoppedTask(BaseException):  # no error, and not to be caught as one
    """The current task is to end, since nobody waits for its outcome."""


def _raise_stopped(_signal: int, _frame: FrameType | None) -> None:
    raise StoppedTask


@contextmanager
def _handle_stops() -> Iterator[None]:
    """Let `_stop_task` stop tasks of the main thread; those of another one, as in tests, run to their end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(STOP_SIGNAL, _raise_stopped)
    try:
        yield
    finally:
        signal.signal(STOP_SIGNAL, previous)


def _stop_task() -> None:
    """Stop the current task. A signal, and to the main thread: it also ends statements and system calls."""
    identity = threading.main_thread().ident
    if signal.getsignal(STOP_SIGNAL) is _raise_stopped and identity is not None:
        signal.pthread_kill(identity, STOP_SIGNAL)
