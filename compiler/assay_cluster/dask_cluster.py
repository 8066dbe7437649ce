"""A cluster of Dask (`distributed`): `--on dask://HOST:PORT` is the address of its scheduler.

Workers need the package `assay` and the shared storage. Dask sends them functions by pickle: whoever reaches the
scheduler can run code on the workers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.app.session.cluster_settings import ClusterSettings
from assay.util.diagnostics import INTERNAL, USAGE, fail
from assay.util.progress import Notice
from assay_cluster.cluster import MOST_ATTEMPTS, Watch
from assay_cluster.task import Outcome, Task
from assay_cluster.worker import MachineFailedError, run_remotely

TIMEOUT = 10  # seconds in which the scheduler must answer
POLL = 0.05  # seconds between two looks at the tasks


def open_cluster(settings: ClusterSettings, notice: Notice) -> DaskCluster:
    """Connect to a scheduler. Raises AssayError (usage) if Dask is not installed, or nothing answers."""
    try:
        from distributed import Client
    except ImportError:
        raise fail("no-package", "the cluster requires the package `distributed`",
                   hint="run pip install 'assay[dask]'", status=USAGE) from None  # fmt: skip
    address = settings.on.removeprefix("dask://").rstrip("/")
    try:
        client: Any = Client(address, timeout=TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, RuntimeError, TypeError, ValueError) as error:  # the middle ones for settings of TLS
        message = f"no scheduler of Dask answers at {address}"
        hint = "start one with `dask scheduler`, and workers with `dask worker`"
        raise fail("cluster", message, found=str(error).split("\n")[0], hint=hint, status=USAGE) from None
    text = f"waiting for workers: run `dask worker {address}` on machines that share the cache"
    return DaskCluster(client, Watch(notice, text))


class DaskCluster:
    """Runs tasks on the workers of a scheduler."""

    def __init__(self, client: Any, watch: Watch) -> None:
        self._client = client
        self._watch = watch
        self._is_cancelled = threading.Event()
        self._failed_workers: set[str] = set()  # addresses; such a worker would fail fast, and so get all tasks

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Submit all tasks, and yield the outcomes as they come."""
        pending = {self._submit(task, 1): (task, 1) for task in tasks}
        try:
            while pending:
                if self._is_cancelled.is_set():
                    raise fail("cancelled", "the build was cancelled")
                finished = [future for future in pending if future.done()]
                for future in finished:
                    task, attempt = pending.pop(future)
                    outcome = self._get_outcome(future)
                    if outcome.is_retryable and attempt < MOST_ATTEMPTS and self._list_workers():
                        pending[self._submit(task, attempt + 1)] = task, attempt + 1
                    else:
                        yield outcome
                if not finished:
                    self._watch.check(self._list_workers)
                    self._is_cancelled.wait(POLL)
        finally:
            self._client.cancel(list(pending))

    def _submit(self, task: Task, attempt: int) -> Any:
        """Submit a task to the workers whose machines have not failed; return its future."""
        key = f"assay-{task.name}.{attempt}-{task.requirements.token}"
        workers = self._list_workers() if self._failed_workers else None
        return self._client.submit(run_on_worker, task.to_json(), key=key, pure=False, workers=workers)

    def _list_workers(self) -> list[str]:
        """Return the addresses of the workers whose machines have not failed."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        return [address for address in workers if address not in self._failed_workers]

    def cancel(self) -> None:
        """Stop waiting; the tasks are then cancelled."""
        self._is_cancelled.set()

    def close(self) -> None:
        """Disconnect."""
        self._client.close()

    def _get_outcome(self, future: Any) -> Outcome:
        """Return the outcome of a future that is done. Raises AssayError if workers died of its task."""
        error = future.exception()
        if error is None:
            return Outcome.from_json(future.result())
        if isinstance(error, MachineFailedError):
            data, address = error.args
            self._failed_workers.add(address)
            return Outcome.from_json(data)
        raise fail(
            "cluster-task",
            f"a task fails on the workers: {type(error).__name__}: {str(error)[:500]}",
            hint="check the logs and the memory of the workers, and that `import assay` works there",
            status=INTERNAL,
        )


def run_on_worker(data: Mapping[str, Any]) -> dict[str, Any]:
    """Run a task in a worker of Dask. Raises MachineFailedError with the outcome, and the address of the worker."""
    from distributed import get_worker

    try:
        return run_remotely(data)
    except MachineFailedError as error:
        raise MachineFailedError(*error.args, get_worker().address) from None
