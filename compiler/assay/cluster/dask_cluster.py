"""A cluster of Dask (`distributed`): `--on dask://HOST:PORT` is the address of its scheduler.

Workers need the package `assay` and the shared storage. Dask sends them functions by pickle: whoever reaches the
scheduler can run code on the workers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from assay.cluster.cluster import MOST_ATTEMPTS
from assay.cluster.settings import ClusterSettings
from assay.cluster.task import Outcome, Task
from assay.cluster.worker import MachineFailedError, run_remotely
from assay.util.diagnostics import INTERNAL, USAGE, fail
from assay.util.progress import Notice

TIMEOUT = 10  # seconds in which the scheduler must answer
POLL = 0.05  # seconds between two looks at the tasks


def open_cluster(settings: ClusterSettings, notice: Notice) -> DaskCluster:  # noqa: ARG001  # it has nothing to say
    """Connect to a scheduler. Raises AssayError (usage) if Dask is not installed, or nothing answers."""
    try:
        from distributed import Client
    except ImportError:
        raise fail("no-package", "the cluster requires the package `distributed`",
                   hint="run pip install 'assay[dask]'", status=USAGE) from None  # fmt: skip
    address = settings.on.removeprefix("dask://")
    try:
        client: Any = Client(f"tcp://{address}", timeout=TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        message = f"no scheduler of Dask answers at {address}"
        hint = "start one with `dask scheduler`, and workers with `dask worker`"
        raise fail("cluster", message, found=str(error).split("\n")[0], hint=hint, status=USAGE) from None
    return DaskCluster(client)


class DaskCluster:
    """Runs tasks on the workers of a scheduler."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._is_cancelled = threading.Event()

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Submit all tasks, and yield the outcomes as they come."""
        data = [task.to_json() for task in tasks]
        futures = self._client.map(run_remotely, data, pure=False, retries=MOST_ATTEMPTS - 1)
        pending = set(futures)
        try:
            while pending:
                if self._is_cancelled.is_set():
                    raise fail("cancelled", "the build was cancelled")
                finished = {future for future in pending if future.done()}
                for future in finished:
                    yield _get_outcome(future)
                pending -= finished
                if not finished:
                    self._is_cancelled.wait(POLL)
        finally:
            self._client.cancel(futures)

    def cancel(self) -> None:
        """Stop waiting; the tasks are then cancelled."""
        self._is_cancelled.set()

    def close(self) -> None:
        """Disconnect."""
        self._client.close()


def _get_outcome(future: Any) -> Outcome:
    """Return the outcome of a future that is done. Raises AssayError if workers died of its task."""
    error = future.exception()
    if error is None:
        return Outcome.from_json(future.result())
    if isinstance(error, MachineFailedError):
        return Outcome.from_json(error.args[0])
    raise fail(
        "cluster-task",
        f"a task fails on the workers: {type(error).__name__}: {str(error)[:500]}",
        hint="check the logs and the memory of the workers, and that `import assay` works there",
        status=INTERNAL,
    )
