"""Test what a terminal shows while workers read and compute."""

from __future__ import annotations

import pytest

from assay_cluster.progress import TaskProgress
from assay_cluster.task import COMPUTE, READ, Outcome, Requirements, Task

REQUIREMENTS = Requirements({}, "", "service", "", "", "", "")


@pytest.mark.parametrize(
    ("kind", "work", "hosts"), [(READ, "reading on", "hosts read"), (COMPUTE, "computing on", "hosts computed")]
)
def test_progress_has_lines_of_bytes_hosts_and_workers(kind: str, work: str, hosts: str) -> None:
    lines: list[tuple[str, int, int]] = []
    tasks = [Task(f"{number}", kind, "a", number, 100 * number, REQUIREMENTS, {}) for number in (1, 2, 3)]
    progress = TaskProgress(lambda *line: lines.append(line), tasks)
    for task, worker in (("2", "x"), ("1", "y"), ("3", "x")):
        progress.add(Outcome(task, worker))
    assert lines == [
        (f"{work} workers", 0, 600),
        *((f"{work} workers", 200, 600), (hosts, 2, 6), (f"{work} x", 200, 600)),
        *((f"{work} workers", 300, 600), (hosts, 3, 6), (f"{work} y", 100, 600)),
        *((f"{work} workers", 600, 600), (hosts, 6, 6), (f"{work} x", 500, 600)),
    ]


def test_progress_of_whole_runs_counts_tasks() -> None:
    lines: list[tuple[str, int, int]] = []
    tasks = [Task(f"{number}", COMPUTE, "a", 0, 0, REQUIREMENTS, {}) for number in (1, 2)]
    progress = TaskProgress(lambda *line: lines.append(line), tasks)
    progress.add(Outcome("2", "x"))
    assert lines == [("tasks for whole runs", 0, 2), ("tasks for whole runs", 1, 2)]


def test_only_some_of_many_workers_have_lines() -> None:
    lines: list[str] = []
    tasks = [Task(f"{number}", READ, "a", 1, 1, REQUIREMENTS, {}) for number in range(40)]
    progress = TaskProgress(lambda label, _done, _total: lines.append(label), tasks)
    for task in tasks:
        progress.add(Outcome(task.name, f"w{task.name}"))
    assert len({label for label in lines if label.startswith("reading on w") and label != "reading on workers"}) == 16
