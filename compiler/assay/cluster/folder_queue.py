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
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.cluster.cluster import MOST_ATTEMPTS, PATIENCE, parse_folder
from assay.cluster.settings import ClusterSettings
from assay.cluster.task import Outcome, Task, encode, name_worker
from assay.util.diagnostics import INTERNAL, USAGE, AssayError, Diagnostic, fail
from assay.util.progress import Notice

BUILD_PREFIX, GONE_PREFIX, NEW_PREFIX = "build-", "gone-", ".new-"
TASKS, CLAIMS, RESULTS, FAILURES, WORKERS = "tasks", "claims", "results", "failures", "workers"
COORDINATOR, SETTINGS = "coordinator", "build.json"
POLL = 0.1  # seconds between two looks at the folder


def open_cluster(settings: ClusterSettings, notice: Notice) -> FolderQueue:
    """Open a queue for a build. Raises AssayError (usage) if its folder cannot be written."""
    return FolderQueue(parse_folder(settings.on), settings.lease, notice)


def write_file(target: Path, content: bytes) -> None:
    """Write a file of the queue, which appears complete. Raises OSError."""
    handle, temporary = tempfile.mkstemp(prefix=NEW_PREFIX, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def touch(path: Path) -> float:
    """Renew the time of change of a file, and return it: the time of the file server. Raises OSError."""
    os.utime(path)
    return path.stat().st_mtime


def list_files(folder: Path) -> list[Path]:
    """Return the complete files of a folder by name; none if it is gone."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return []


def is_alive(path: Path, now: float, lease: float) -> bool:
    """Return whether the time of change of a file was renewed within the lease."""
    try:
        return now - path.stat().st_mtime <= lease
    except OSError:
        return False


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
                os.utime(self._path)
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
            folder.chmod(0o755)  # mkdtemp creates a folder that workers of other users cannot read
            suffix = folder.name.removeprefix(NEW_PREFIX)  # two builds may begin within a millisecond
            self._folder = folder.rename(queue / f"{BUILD_PREFIX}{name_worker()}-{int(now * 1000)}-{suffix}")
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
            results = [path for path in list_files(self._folder / RESULTS) if path.stem in waiting]
            for path in results:
                waiting.remove(path.stem)
                yield Outcome.from_json(json.loads(path.read_bytes()))
            self._check_failures()
            now = self._renew()
            if results or self._has_workers(now):
                last_sign = time.monotonic()
            elif time.monotonic() - last_sign > PATIENCE:
                if len(self._failures) >= MOST_ATTEMPTS:
                    self._failures[-1].raise_problems()
                self._notice_once(f"waiting for workers: run `assay work {self._queue}` on machines that share it")
            self._check_attempts(now)
            self._is_cancelled.wait(POLL)

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
        for path in list_files(self._folder / FAILURES):
            if path.name in self._noticed:
                continue
            self._noticed.add(path.name)
            outcome = Outcome.from_json(json.loads(path.read_bytes()))
            _, attempt, _ = _parse_name(path)
            if outcome.is_retryable:
                self._failures.append(outcome)
                if attempt >= MOST_ATTEMPTS:
                    outcome.raise_problems()
            problems = "; ".join(map(_format_problem, outcome.problems))
            self._notice_once(f"the worker {outcome.worker} stopped: {problems}")

    def _check_attempts(self, now: float) -> None:
        """Raise AssayError if a task was taken too often without a result."""
        for path in list_files(self._folder / CLAIMS):
            name, attempt, worker = _parse_name(path)
            if attempt >= MOST_ATTEMPTS and not is_alive(path, now, self._lease):
                if (self._folder / RESULTS / f"{name}.json").exists():
                    continue
                raise fail(
                    "cluster-task",
                    f"{MOST_ATTEMPTS} workers took the task {name} and no longer answer, the last one was {worker}",
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


def _parse_name(path: Path) -> tuple[str, int, str]:
    """Return task, attempt and worker of a file."""
    name, attempt, *worker = path.name.removesuffix(".json").split(".", 2)
    return name, int(attempt), worker[0] if worker else ""


@dataclass(frozen=True, slots=True)
class ClaimedTask:
    """A task that this worker has taken: its file among the claims, and the lease of its build in seconds."""

    task: Task
    path: Path
    lease: float

    @property
    def build(self) -> Path:
        """The folder of the build."""
        return self.path.parent.parent


class QueueWorker:
    """A worker of a queue: takes tasks, one at a time."""

    def __init__(self, queue: Path) -> None:
        """Announce the worker. Raises AssayError (usage) if the folder cannot be written."""
        self._queue = queue
        self._name = name_worker()
        try:
            (queue / WORKERS).mkdir(parents=True, exist_ok=True)
            self._file = queue / WORKERS / f"{self._name}.json"
            write_file(self._file, b"{}")
        except OSError as error:
            message = f"the folder of the queue cannot be written: {queue}"
            hint = "pass the folder of --on folder:DIR, on storage that all machines share"
            cause = error.strerror or str(error)
            raise fail("cluster", message, found=cause, hint=hint, status=USAGE) from None

    def close(self) -> None:
        """Leave the queue."""
        self._file.unlink(missing_ok=True)

    def take(self) -> ClaimedTask | None:
        """Take a task that waits, or that another worker no longer works on; None if there is none."""
        try:
            now = touch(self._file)
        except FileNotFoundError:  # somebody cleaned the folder
            write_file(self._file, b"{}")
            return None
        for build in sorted(self._queue.glob(f"{BUILD_PREFIX}*")):
            try:
                lease = float(json.loads((build / SETTINGS).read_bytes())["lease"])
            except OSError:
                continue
            if is_alive(build / COORDINATOR, now, lease):
                for path in (*list_files(build / TASKS), *self._list_abandoned(build, now, lease)):
                    if claimed := self._claim(build, path, lease):
                        return claimed
        return None

    def _list_abandoned(self, build: Path, now: float, lease: float) -> list[Path]:
        """Return the claims of workers that no longer live, if further workers may try."""
        return [
            path
            for path in list_files(build / CLAIMS)
            if not is_alive(path, now, lease) and _parse_name(path)[1] < MOST_ATTEMPTS
        ]

    def _claim(self, build: Path, path: Path, lease: float) -> ClaimedTask | None:
        """Take the task of a file; None if another worker was faster, or if it is done."""
        name, attempt, worker = _parse_name(path)
        target = build / CLAIMS / f"{name}.{attempt + bool(worker)}.{self._name}.json"
        try:
            if (build / RESULTS / f"{name}.json").exists():
                path.unlink()
                return None
            os.utime(path)  # before the rename, so that the claim is never older than the lease
            path.rename(target)
            return ClaimedTask(Task.from_json(json.loads(target.read_bytes())), target, lease)
        except OSError:
            return None

    def release(self, claimed: ClaimedTask) -> None:
        """Let a task that this worker has not finished wait for another one."""
        name, attempt, _ = _parse_name(claimed.path)
        with contextlib.suppress(OSError):
            claimed.path.rename(claimed.build / TASKS / f"{name}.{attempt}.json")

    def finish(self, claimed: ClaimedTask, outcome: Outcome) -> None:
        """Write the outcome of a task. A task that failed on this machine waits for another worker.

        Nothing happens if the coordinator has ended or cancelled the build.
        """
        name, attempt, _ = _parse_name(claimed.path)
        with contextlib.suppress(FileNotFoundError):
            if outcome.is_retryable or outcome.status == USAGE:
                write_file(claimed.build / FAILURES / claimed.path.name, encode(outcome.to_json()))
                if outcome.status == USAGE:  # a refusal is no attempt
                    claimed.path.rename(claimed.build / TASKS / f"{name}.{attempt}.json")
                elif attempt < MOST_ATTEMPTS:
                    claimed.path.rename(claimed.build / TASKS / f"{name}.{attempt + 1}.json")
                return
            write_file(claimed.build / RESULTS / f"{name}.json", encode(outcome.to_json()))
            claimed.path.unlink(missing_ok=True)


def raise_machine_problem(outcome: Outcome) -> None:
    """Raise AssayError if a worker should end: its machine failed, or lacks what a task requires."""
    if outcome.is_retryable or outcome.status == USAGE:
        raise AssayError(outcome.problems, outcome.status)
