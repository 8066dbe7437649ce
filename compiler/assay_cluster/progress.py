"""Report the progress of tasks on workers: hosts and bytes, of each worker and of all, or tasks for whole runs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from assay.app.session.stages import log_facts
from assay.util.progress import Progress
from assay_cluster.task import COMPUTE, READ, VERIFY, Outcome, Task

#: kind of task -> how the labels of bytes begin, and the label of hosts
LABELS = {
    READ: ("reading on", "hosts read"),
    COMPUTE: ("computing on", "hosts computed"),
    VERIFY: ("verifying on", "hosts verified"),
}
WHOLE_LABEL = "tasks for whole runs"
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
        self._tasks_done = 0
        self._start = time.perf_counter()
        if tasks:
            self._show_sum()

    def add(self, outcome: Outcome) -> None:
        """Count an outcome, and report the progress."""
        task = self._tasks[outcome.task]
        self._sizes[outcome.worker] += task.size
        self._hosts_done += task.hosts
        self._tasks_done += 1
        size = self._sizes.total()
        self._show_sum()
        if self._size:
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
            tasks_done=self._tasks_done,
            tasks_total=len(self._tasks),
            hosts_done=self._hosts_done,
            hosts_total=self._hosts,
            bytes_done=size,
            bytes_total=self._size,
            bytes_per_second=round(rate),
            seconds_left=round((self._size - size) / rate, 1) if rate else None,
        )

    def _show_sum(self) -> None:
        if self._size:
            self._progress(f"{self._work} workers", self._sizes.total(), self._size)
        else:
            self._progress(WHOLE_LABEL, self._tasks_done, len(self._tasks))
