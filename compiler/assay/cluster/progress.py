"""Report the progress of tasks on workers: hosts and bytes, of each worker and of all."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from assay.app.stages import log_facts
from assay.cluster.task import COMPUTE, READ, VERIFY, Outcome, Task
from assay.util.progress import Progress

#: kind of task -> how the labels of bytes begin, and the label of hosts
LABELS = {
    READ: ("reading on", "hosts read"),
    COMPUTE: ("computing on", "hosts computed"),
    VERIFY: ("verifying on", "hosts verified"),
}
MOST_SHOWN = 16  # workers with a line of their own on a terminal


class TaskProgress:
    """The progress of tasks of one kind. On a terminal it has lines; the log has a line for each outcome."""

    def __init__(self, progress: Progress, tasks: Sequence[Task]) -> None:
        self._progress = progress
        self._work, self._hosts_label = LABELS[tasks[0].kind if tasks else READ]
        self._tasks = {task.name: task for task in tasks}
        self._size = sum(task.size for task in tasks)
        self._hosts = sum(task.hosts for task in tasks)
        self._sizes: Counter[str] = Counter()
        self._hosts_done = 0
        self._start = time.perf_counter()
        if tasks:
            progress(f"{self._work} workers", 0, self._size)

    def add(self, outcome: Outcome) -> None:
        """Count an outcome, and report the progress."""
        task = self._tasks[outcome.task]
        self._sizes[outcome.worker] += task.size
        self._hosts_done += task.hosts
        size = self._sizes.total()
        self._progress(f"{self._work} workers", size, self._size)
        self._progress(self._hosts_label, self._hosts_done, self._hosts)
        if len(self._sizes) <= MOST_SHOWN:
            self._progress(f"{self._work} {outcome.worker}", self._sizes[outcome.worker], self._size)
        rate = size / max(time.perf_counter() - self._start, 1e-3)
        log_facts(
            "task",
            task=task.name,
            run=task.run,
            worker=outcome.worker,
            hosts=task.hosts,
            bytes=task.size,
            seconds=outcome.seconds,
            processor_seconds=outcome.processor_seconds,
            hosts_done=self._hosts_done,
            hosts_total=self._hosts,
            bytes_done=size,
            bytes_total=self._size,
            bytes_per_second=round(rate),
            seconds_left=round((self._size - size) / rate, 1) if rate else None,
        )
