"""`assay work`: take tasks of a queue, run them, and write their outcomes, until there is nothing to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from assay.app.session import Session
from assay.app.stages import log_stage
from assay.cluster.folder_queue import POLL, ClaimedTask, Heartbeat, QueueWorker, raise_machine_problem
from assay.cluster.task import Outcome
from assay.cluster.worker import run_task


def work_on_queue(
    queue: Path, open_session: Callable[[], Session], *, once: bool = False, idle_seconds: float | None = None
) -> int:
    """Run tasks of a queue, and return their number.

    Ends after one task with `once`, and after `idle_seconds` without one. `open_session` opens a session with the
    current specs. Raises AssayError if this machine fails, or lacks what a task requires.
    """
    with closing(QueueWorker(queue)) as worker, ExitStack() as sessions:
        return _work(worker, sessions, open_session, once=once, idle_seconds=idle_seconds)


def _work(
    worker: QueueWorker,
    sessions: ExitStack,
    open_session: Callable[[], Session],
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
            time.sleep(POLL)
            continue
        if session is None or claimed.build != build:  # specs may have changed between builds
            sessions.close()
            session, build = sessions.enter_context(closing(open_session())), claimed.build
        outcome = _run_claimed(worker, claimed, session)
        raise_machine_problem(outcome)
        count += 1
        if once:
            return count
        idle_since = time.monotonic()


def _run_claimed(worker: QueueWorker, claimed: ClaimedTask, session: Session) -> Outcome:
    """Run a claimed task, keep the claim alive meanwhile, and write the outcome."""
    task = claimed.task
    heartbeat = Heartbeat(claimed.path, claimed.lease)
    try:
        with log_stage("task", task=task.name, run=task.run, hosts=task.hosts, bytes=task.size):
            outcome = run_task(task, session)
    except BaseException:
        heartbeat.stop()
        worker.release(claimed)
        raise
    heartbeat.stop()
    worker.finish(claimed, outcome)
    return outcome
