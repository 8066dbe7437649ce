"""Run a task in the process of a worker."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401  # before threads use it: one of them would see it half imported

from assay.app.session import Session, open_session
from assay.cluster.sample import Comparison, verify_sample
from assay.cluster.task import COMPUTE, READ, VERIFY, Outcome, Task, check_requirements, name_worker
from assay.engine.portions import Portion, compute_portion
from assay.engine.result_cache import Store
from assay.ingest.discovery import HostFiles, RunFiles, take_snapshot
from assay.ingest.file_snapshots import FileSnapshot, create_hashed_snapshot
from assay.ingest.pipeline import read_batches
from assay.util.diagnostics import INTERNAL, AssayError, Diagnostic
from assay.util.os_errors import build_memory_error, convert_os_error, is_disk_full_error, is_memory_error

#: codes of problems of a machine, which another one may not have
MACHINE_CODES = frozenset(["cache", "disk-full", "memory", "sql-memory", "sql-time", "engine", "file", "worker"])


def run_task(task: Task, session: Session) -> Outcome:
    """Run a task over the cache of a session, and return its outcome. No error escapes, except an interrupt.

    A machine that lacks what the task requires refuses it: the outcome has these problems, with the status of usage.
    """
    wall, processor = time.perf_counter(), time.process_time()
    outcome = Outcome(task.name, name_worker())
    try:
        check_requirements(task.requirements, session)
        outcome = replace(outcome, body=_WORK[task.kind](task, session))
    except Exception as error:
        problem = _convert_error(error, session.store)
        is_retryable = all(item.code in MACHINE_CODES for item in problem.diagnostics)
        outcome = replace(outcome, problems=problem.diagnostics, status=problem.status, is_retryable=is_retryable)
    seconds, processor_seconds = time.perf_counter() - wall, time.process_time() - processor
    return replace(outcome, seconds=round(seconds, 3), processor_seconds=round(processor_seconds, 3))


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


def _read_logs(task: Task, session: Session) -> Mapping[str, Any]:
    """Hash and read the logs of some hosts into batches; return the hash of each file in the order of the task."""
    body = task.body
    package = session.load_package(task.requirements.system).package
    source = next(item for item in package.sources if item.name == body["source"])
    if body["start_ns"] is not None:
        source = replace(source, start_ns=body["start_ns"])
    directory = Path(body["directory"])
    hosts = tuple(
        HostFiles(host, tuple(_hash_file(directory / name, size) for name, size in files))
        for host, files in body["hosts"]
    )
    required_fields = {event: frozenset(fields) for event, fields in body["required_fields"].items()}
    events = tuple(item for item in package.events if item.source == source.name)
    files = RunFiles(directory, hosts)
    read_batches(source, events, required_fields, files, session.store.folder, workers=session.threads or 1)
    snapshots = [item for host in hosts for item in host.snapshots]
    return {"files": [[item.size, item.stamp.changed_ns, item.sha256] for item in snapshots]}


def _hash_file(path: Path, size: int) -> FileSnapshot:
    """Return the snapshot of a file with its hash. Of a log that has grown since, only the first bytes are read."""
    snapshot = take_snapshot(path)
    return create_hashed_snapshot(path, replace(snapshot.stamp, size=size))


def _compute_results(task: Task, session: Session) -> Mapping[str, Any]:
    compute_portion(Portion.from_json(task.body), session.store, session.threads or 1)
    return {}


def _verify_sample(task: Task, session: Session) -> Mapping[str, Any]:
    verify_sample(Comparison.from_json(task.body), session.store)
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
    return open_session(Path(workspace), Path(cache))
