"""Define what a cluster is: something that runs tasks on workers. Open one by its address."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from assay.app.session.cluster_settings import ClusterSettings
from assay.util.diagnostics import USAGE, fail
from assay.util.progress import Notice
from assay_cluster.task import Outcome, Task

MOST_ATTEMPTS = 3  # workers that try a task, if their machines fail or they no longer answer
PATIENCE = 5.0  # seconds without a worker, or without a first task, after which the user gets a notice


class Cluster(Protocol):
    """Runs tasks on workers."""

    def map(self, tasks: Sequence[Task], /) -> Iterator[Outcome]:
        """Run tasks on workers, and yield their outcomes as they come, one for each task.

        Another worker runs the task of a worker that died, hangs, or whose machine failed. Raises AssayError if
        workers do so too often, and after `cancel`.
        """

    def cancel(self) -> None:
        """Stop waiting, from another thread: no worker starts a further task."""

    def close(self) -> None:
        """Leave the cluster."""


#: scheme of an address -> the module with its `open_cluster`
MODULES = {"folder": "folder_queue", "dask": "dask_cluster", "ray": "ray_cluster"}
EXPECTED = "folder:DIR, dask://HOST:PORT or ray://HOST:PORT"
HOST_AND_PORT = re.compile(r"//[^/\s:][^/\s]*:\d+/?")


def open_cluster(settings: ClusterSettings, notice: Notice) -> Cluster:
    """Open the cluster of an address. Raises AssayError (usage) for an invalid one, and if nothing answers there."""
    scheme, colon, place = settings.on.partition(":")
    module = MODULES.get(scheme) if colon else None
    is_complete = place.strip("/") if scheme == "folder" else HOST_AND_PORT.fullmatch(place)
    if module is None or not is_complete:
        message = f"invalid address of a cluster: `{settings.on}`"
        raise fail("cluster", message, expected=EXPECTED, status=USAGE)
    cluster: Cluster = import_module(f"{__package__}.{module}").open_cluster(settings, notice)
    return cluster


def parse_folder(address: str) -> Path:
    """Return the folder of an address `folder:DIR`."""
    return Path(address.removeprefix("folder:").removeprefix("//"))


class Watch:
    """Gives the user one notice if a build waits for workers, or a worker for tasks."""

    def __init__(self, notice: Notice, text: str) -> None:
        self._notice = notice
        self._text = text
        self._last_sign = time.monotonic()
        self._is_noticed = False

    def check(self, is_alive: Callable[[], object]) -> None:
        """Look whether the other side lives, after a while without a sign of it."""
        if self._is_noticed or time.monotonic() - self._last_sign <= PATIENCE:
            return
        if is_alive():
            self._last_sign = time.monotonic()
        else:
            self._is_noticed = True
            self._notice(self._text)
