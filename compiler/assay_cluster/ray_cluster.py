"""A cluster of Ray: `--on ray://HOST:PORT` is the address of its head, whose port is usually 6379.

The coordinator runs on a machine of the cluster. Workers need the package `assay` and the shared storage. Ray sends
them functions by pickle: whoever has the token of the cluster can run code on the workers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

from assay.app.session.cluster_settings import ClusterSettings
from assay.util.diagnostics import INTERNAL, USAGE, fail
from assay.util.progress import Notice
from assay_cluster.cluster import MOST_ATTEMPTS, Watch
from assay_cluster.task import Outcome, Task
from assay_cluster.worker import MachineFailedError, run_remotely

POLL = 0.2  # seconds between two checks whether the build was cancelled


def open_cluster(settings: ClusterSettings, notice: Notice) -> RayCluster:
    """Connect to a cluster. Raises AssayError (usage) if Ray is not installed, or nothing answers."""
    try:
        import ray
    except ImportError:
        raise fail("no-package", "the cluster requires the package `ray`",
                   hint="run pip install 'assay[ray]'", status=USAGE) from None  # fmt: skip
    address = settings.on.removeprefix("ray://").rstrip("/")
    try:
        ray.init(address, logging_level="ERROR", log_to_driver=False)
    except (ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
        hint = "start a cluster with `ray start --head`, and set RAY_AUTH_TOKEN to its token"
        message, cause = f"no cluster of Ray answers at {settings.on}", str(error).split("\n")[0]
        raise fail("cluster", message, found=cause, hint=hint, status=USAGE) from None
    text = f"waiting for workers: run `ray start --address={address}` on machines that share the cache"
    return RayCluster(ray, Watch(notice, text))


class RayCluster:
    """Runs tasks on the workers of a cluster."""

    def __init__(self, ray: Any, watch: Watch) -> None:
        self._ray = ray
        self._watch = watch
        self._is_cancelled = threading.Event()

    def map(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Submit all tasks, and yield the outcomes as they come."""
        options = {"max_retries": MOST_ATTEMPTS - 1, "retry_exceptions": [MachineFailedError]}
        function = self._ray.remote(**options)(run_remotely)
        pending = [function.remote(task.to_json()) for task in tasks]
        try:
            while pending:
                if self._is_cancelled.is_set():
                    raise fail("cancelled", "the build was cancelled")
                finished, pending = self._ray.wait(pending, num_returns=1, timeout=POLL)
                if not finished:
                    self._watch.check(lambda: self._ray.cluster_resources().get("CPU"))
                for reference in finished:
                    yield self._get_outcome(reference)
        finally:
            for reference in pending:
                self._ray.cancel(reference)

    def _get_outcome(self, reference: Any) -> Outcome:
        """Return the outcome of a task that is done. Raises AssayError if workers died of it."""
        try:
            return Outcome.from_json(self._ray.get(reference))
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, MachineFailedError):
                return Outcome.from_json(error.cause.args[0])
            cause = error.cause or error
        except self._ray.exceptions.RayError as error:
            cause = error
        raise fail(
            "cluster-task",
            f"a task fails on the workers: {type(cause).__name__}: {str(cause)[:500]}",
            hint="check the logs and the memory of the workers, and that `import assay` works there",
            status=INTERNAL,
        )

    def cancel(self) -> None:
        """Stop waiting; the tasks are then cancelled."""
        self._is_cancelled.set()

    def close(self) -> None:
        """Disconnect."""
        self._ray.shutdown()
