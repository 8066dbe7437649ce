"""A cluster without an engine: a folder on shared storage, from which workers on any machine take tasks.

In the folder of the queue, each coordinator has a folder `build-*`, in which all changes are renames:

    tasks/NAME.ATTEMPT.json             waiting
    claims/NAME.ATTEMPT.WORKER.json     taken; its worker renews the time of change, else another worker takes it
    results/NAME.json                   done
    failures/NAME.ATTEMPT.WORKER.json   the outcome of a worker whose machine failed or refused
    coordinator                         its time of change says that the coordinator lives

Files are JSON. Times are those of the file server, so clocks of machines need not agree.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.app.session.cluster_settings import ClusterSettings
from assay.util.atomic import sync
from assay.util.diagnostics import INTERNAL, USAGE, AssayError, Diagnostic, fail
from assay.util.escape import escape_text
from assay.util.os_errors import convert_os_error
from assay.util.progress import Notice, ignore
from assay_cluster.cluster import MOST_ATTEMPTS, PATIENCE, parse_folder
from assay_cluster.queue_files import (
    FOREIGN_HINT,
    NEW_PREFIX,
    TAKEN,
    WAITING,
    ForeignFiles,
    QueueFile,
    is_alive,
    list_files,
    read_file,
    touch,
    write_file,
)
from assay_cluster.task import Outcome, Task, encode, name_worker

BUILD_PREFIX, GONE_PREFIX = "build-", "gone-"
TASKS, CLAIMS, RESULTS, FAILURES, WORKERS = "tasks", "claims", "results", "failures", "workers"
COORDINATOR, SETTINGS = "coordinator", "build.json"
POLL = 0.1  # seconds between two looks at the folder


def open_cluster(settings: ClusterSettings, notice: Notice) -> FolderQueue:
    """Open a queue for a build. Raises AssayError (usage) if its folder cannot be written."""
    return FolderQueue(parse_folder(settings.on), settings.lease, notice)


class Heartbeat:
    """Renews the time of change of a file, several times a lease, until it is stopped or the file is gone.

    In the latter case it calls `on_gone`.
    """

    def __init__(self, path: Path, lease: float, on_gone: Callable[[], None] = lambda: None) -> None:
        self.is_gone = False
        self._path = path
        self._on_gone = on_gone
        self._period = lease / 4
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stopped.wait(self._period):
            try:
                touch(self._path)
            except FileNotFoundError:
                self.is_gone = True
                self._on_gone()
                return
            except OSError:  # storage that fails for a while
                continue

    def stop(self) -> None:
        """Stop."""
        self._stopped.set()
        self._thread.join()


class FolderQueue:
    """The queue of one build, as its coordinator sees it."""

    def __init__(self, queue: Path, lease: float, notice: Notice) -> None:
        self._queue = queue
        self._lease = lease
        self._notice = notice
        self._is_cancelled = threading.Event()
        self._noticed: set[str] = set()
        self._foreign = ForeignFiles(notice)
        self._failures: list[Outcome] = []  # of workers whose machines failed
        try:
            queue.mkdir(parents=True, exist_ok=True)
            (queue / WORKERS).mkdir(exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=NEW_PREFIX, dir=queue))
            for name in (TASKS, CLAIMS, RESULTS, FAILURES):
                (folder / name).mkdir()
            write_file(folder / SETTINGS, encode({"lease": lease, "coordinator": name_worker()}))
            write_file(folder / COORDINATOR, b"")
            now = touch(folder / COORDINATOR)
            sync(folder)
            folder.chmod(0o755)  # mkdtemp creates a folder that workers of other users cannot read
            suffix = folder.name.removeprefix(NEW_PREFIX)  # two builds may begin within a millisecond
            self._folder = folder.rename(queue / f"{BUILD_PREFIX}{name_worker()}-{int(now * 1000)}-{suffix}")
            sync(queue)
        except OSError as error:
            raise fail(
                "cluster",
                f"the folder of the queue cannot be written: {queue}",
                found=error.strerror or str(error),
                hint="create it on storage that all machines share, or check its permissions",
                status=USAGE,
            ) from None
        self._remove_dead_builds(now)
        self._heartbeat = Heartbeat(self._folder / COORDINATOR, lease)

    def _remove_dead_builds(self, now: float) -> None:
        """Remove the builds of coordinators that no longer live."""
        for folder in self._queue.glob(f"{BUILD_PREFIX}*"):
            if not is_alive(folder / COORDINATOR, now, self._lease):
                _remove_folder(folder)

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Write the tasks into the folder, and yield the outcomes as workers write them."""
        for task in tasks:
            write_file(self._folder / TASKS / f"{task.name}.1.json", encode(task.to_json()))
        waiting = {task.name for task in tasks}
        last_sign = time.monotonic()
        while waiting:
            if self._is_cancelled.is_set():
                raise fail("cancelled", "the build was cancelled")
            results = [name for name in map(_get_task, list_files(self._folder / RESULTS)) if name in waiting]
            for name in results:
                waiting.remove(name)
                yield self._read_result(name)
            self._check_failures()
            now = self._renew()
            if results or self._has_workers(now):
                last_sign = time.monotonic()
            elif time.monotonic() - last_sign > PATIENCE:
                if len(self._failures) >= MOST_ATTEMPTS:
                    self._failures[-1].raise_problems()
                self._notice_once(f"waiting for workers: run `assay work {self._queue}` on machines that share it")
            self._check_attempts(now, waiting)
            self._is_cancelled.wait(POLL)

    def _read_result(self, name: str) -> Outcome:
        """Return the outcome of a task. Raises AssayError if its file has none, or that of another task."""
        path = self._folder / RESULTS / f"{name}.json"
        outcome = read_file(path, Outcome)
        if outcome.task != name:
            raise fail("queue-file", f"a file of the queue is the result of another task: {path}",
                       expected=name, found=outcome.task, hint=FOREIGN_HINT)  # fmt: skip
        return outcome

    def _renew(self) -> float:
        """Show workers that the coordinator lives; return the time. Raises AssayError if the folder is gone."""
        try:
            return touch(self._folder / COORDINATOR)
        except OSError as error:
            if self._is_cancelled.is_set():
                raise fail("cancelled", "the build was cancelled") from None
            message = f"the folder of this build in the queue cannot be read: {self._folder}"
            cause = error.strerror or str(error)
            raise fail("cluster", message, found=cause, hint="check the storage, then build again") from None

    def _notice_once(self, text: str) -> None:
        if text not in self._noticed:
            self._noticed.add(text)
            self._notice(text)

    def _has_workers(self, now: float) -> bool:
        return any(is_alive(path, now, self._lease) for path in list_files(self._queue / WORKERS))

    def _check_failures(self) -> None:
        """Report the problems of workers. Raises AssayError if a task failed on too many machines."""
        for file in self._foreign.list_named(self._folder / FAILURES, TAKEN):
            if file.path.name in self._noticed:
                continue
            self._noticed.add(file.path.name)
            try:
                outcome = read_file(file.path, Outcome)
            except AssayError as error:
                self._foreign.report(file.path, error.diagnostics[0].found)
                continue
            if outcome.is_retryable:
                self._failures.append(outcome)
                if file.attempt >= MOST_ATTEMPTS:
                    outcome.raise_problems()
            problems = "; ".join(map(_format_problem, outcome.problems))
            self._notice_once(f"the worker {outcome.worker} stopped: {problems}")

    def _check_attempts(self, now: float, waiting: Collection[str]) -> None:
        """Raise AssayError if a task was taken too often without a result."""
        for file in self._foreign.list_named(self._folder / CLAIMS, TAKEN):
            if file.attempt < MOST_ATTEMPTS or file.task not in waiting or is_alive(file.path, now, self._lease):
                continue
            if (self._folder / RESULTS / f"{file.task}.json").exists():
                continue
            raise fail(
                "cluster-task",
                f"{MOST_ATTEMPTS} workers took the task {file.task} and no longer answer, "
                f"the last one was {escape_text(file.worker)}",
                hint="check the memory of their machines, and the logs of the workers",
                status=INTERNAL,
            )

    def cancel(self) -> None:
        """Stop waiting: workers find no further task, as the folder of the build is gone."""
        self._is_cancelled.set()
        _remove_folder(self._folder)

    def close(self) -> None:
        """Remove the folder of the build."""
        self._heartbeat.stop()
        _remove_folder(self._folder)


def _format_problem(problem: Diagnostic) -> str:
    """Return a problem as one line."""
    values = f" (expected {problem.expected}, found {problem.found})" if problem.expected and problem.found else ""
    return f"{problem.message}{values}: {problem.hint}"


def _remove_folder(folder: Path) -> None:
    """Remove a folder of the queue; for workers it is gone at once."""
    gone = folder.with_name(f"{GONE_PREFIX}{folder.name}")
    with contextlib.suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _get_task(path: Path) -> str:
    """Return the task of a result; nothing for another file."""
    return path.stem if path.suffix == ".json" else ""


@dataclass(frozen=True, slots=True)
class ClaimedTask:
    """A task that this worker has taken: its file among the claims, its attempt, and the lease of its build."""

    task: Task
    path: Path
    attempt: int
    lease: float

    @property
    def build(self) -> Path:
        """The folder of the build."""
        return self.path.parent.parent


class QueueWorker:
    """A worker of a queue: takes tasks, one at a time."""

    def __init__(self, queue: Path, notice: Notice = ignore) -> None:
        """Announce the worker. Raises AssayError (usage) if the folder cannot be written."""
        self._queue = queue
        self._name = name_worker()
        self._file = queue / WORKERS / f"{self._name}.json"
        self._foreign = ForeignFiles(notice)
        self._announce()

    def _announce(self) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_file(self._file, b"{}")
        except OSError as error:
            message = f"the folder of the queue cannot be written: {self._queue}"
            hint = "pass the folder of --on folder:DIR, on storage that all machines share"
            cause = error.strerror or str(error)
            raise fail("cluster", message, found=cause, hint=hint, status=USAGE) from None

    def close(self) -> None:
        """Leave the queue."""
        with contextlib.suppress(OSError):
            self._file.unlink()

    def take(self) -> ClaimedTask | None:
        """Take a task that waits, or that another worker no longer works on; None if there is none.

        Files that are no tasks are passed over; a task that cannot be read has failed.
        """
        try:
            now = touch(self._file)
        except OSError:  # somebody cleaned the folder
            self._announce()
            return None
        for build in sorted(self._queue.glob(f"{BUILD_PREFIX}*")):
            lease = self._foreign.read_lease(build / SETTINGS)
            if lease is None or not is_alive(build / COORDINATOR, now, lease):
                continue
            waiting = self._foreign.list_named(build / TASKS, WAITING)
            for file in (*waiting, *self._list_abandoned(build, now, lease)):
                if claimed := self._claim(build, file, lease):
                    return claimed
        return None

    def _list_abandoned(self, build: Path, now: float, lease: float) -> list[QueueFile]:
        """Return the claims of workers that no longer live, if further workers may try."""
        claims = self._foreign.list_named(build / CLAIMS, TAKEN)
        return [file for file in claims if file.attempt < MOST_ATTEMPTS and not is_alive(file.path, now, lease)]

    def _claim(self, build: Path, file: QueueFile, lease: float) -> ClaimedTask | None:
        """Take the task of a file; None if another worker was faster, if it is done, or if it cannot be read."""
        attempt = file.attempt + bool(file.worker)
        target = build / CLAIMS / f"{file.task}.{attempt}.{self._name}.json"
        try:
            if (build / RESULTS / f"{file.task}.json").exists():
                file.path.unlink()
                return None
            touch(file.path)  # before the rename, so that the claim is never older than the lease
            file.path.rename(target)
        except OSError:
            return None
        try:
            return ClaimedTask(_read_task(target, file.task), target, attempt, lease)
        except AssayError as error:
            self._foreign.report(file.path, error.diagnostics[0].found)
            outcome = Outcome(file.task, self._name, problems=error.diagnostics, status=error.status)
            self._write_result(build, outcome, target)
            return None

    def release(self, claimed: ClaimedTask) -> None:
        """Let a task that this worker has not finished wait for another one."""
        with contextlib.suppress(OSError):
            self._return(claimed, claimed.attempt)

    def _return(self, claimed: ClaimedTask, attempt: int) -> None:
        claimed.path.rename(claimed.build / TASKS / f"{claimed.task.name}.{attempt}.json")

    def finish(self, claimed: ClaimedTask, outcome: Outcome) -> None:
        """Write the outcome of a task. A task that failed on this machine waits for another worker.

        Nothing happens if the coordinator has ended or cancelled the build. Raises AssayError if the folder cannot be
        written.
        """
        if not outcome.is_retryable and outcome.status != USAGE:
            self._write_result(claimed.build, outcome, claimed.path)
            return
        with self._convert_write_errors(claimed.build):
            write_file(claimed.build / FAILURES / claimed.path.name, encode(outcome.to_json()))
            if outcome.status == USAGE:  # a refusal is no attempt
                self._return(claimed, claimed.attempt)
            elif claimed.attempt < MOST_ATTEMPTS:
                self._return(claimed, claimed.attempt + 1)

    def _write_result(self, build: Path, outcome: Outcome, claim: Path) -> None:
        with self._convert_write_errors(build):
            write_file(build / RESULTS / f"{outcome.task}.json", encode(outcome.to_json()))
        with contextlib.suppress(OSError):  # a folder, which is removed with that of the build
            claim.unlink()

    @contextmanager
    def _convert_write_errors(self, build: Path) -> Iterator[None]:
        """Report a build that cannot be written, unless it is gone. Raises AssayError if the disk fails."""
        try:
            yield
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
            if build.is_dir():
                self._foreign.report(build, f"it cannot be written: {error.strerror or error}")
        except OSError as error:
            raise convert_os_error(error) from None


def _read_task(path: Path, name: str) -> Task:
    """Return the task of a file. Raises AssayError if it has none, or another one."""
    task = read_file(path, Task)
    if task.name != name:
        raise fail("queue-file", f"a file of the queue is another task: {path}", expected=name, found=task.name,
                   hint=FOREIGN_HINT)  # fmt: skip
    return task


def raise_machine_problem(outcome: Outcome) -> None:
    """Raise AssayError if a worker should end: its machine failed, or lacks what a task requires."""
    if outcome.is_retryable or outcome.status == USAGE:
        raise AssayError(outcome.problems, outcome.status)
