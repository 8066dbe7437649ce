"""`assay work`: take tasks of a queue, run them, and write their outcomes, until there is nothing to do."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import FrameType

from assay.app.session import Session
from assay.app.stages import log_facts, log_stage
from assay.cluster.cluster import Watch
from assay.cluster.folder_queue import POLL, ClaimedTask, Heartbeat, QueueWorker, raise_machine_problem
from assay.cluster.task import Outcome
from assay.cluster.worker import run_task
from assay.util.progress import Notice, ignore_notice

STOP_SIGNAL = signal.SIGUSR1  # not SIGINT, which shells let processes in the background ignore


def work_on_queue(
    queue: Path,
    open_session: Callable[[], Session],
    *,
    once: bool = False,
    idle_seconds: float | None = None,
    notice: Notice = ignore_notice,
) -> int:
    """Run tasks of a queue, and return their number.

    Ends after one task with `once`, and after `idle_seconds` without one. `open_session` opens a session with the
    current specs. A worker that waits for its first task says so in a notice. Raises AssayError if this machine fails,
    or lacks what a task requires.
    """
    with _handle_stops(), closing(QueueWorker(queue)) as worker, ExitStack() as sessions:
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
