"""Let a process of a build on workers fail at a chosen moment, as if its machine did.

`python -m tests.support.faults` is the command line of assay with small portions, so that all stages occur in a small
run. Workers of Dask preload this file. The environment says what fails: the first process that gets there.
"""

from __future__ import annotations

import dataclasses
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.engine import portion_plan
from assay.util import checksums
from assay_cluster import coordinator, worker
from assay_cluster.task import Outcome, Task

VARIABLE = "ASSAY_TEST_FAULT"
KEY_ROWS = 150


@dataclasses.dataclass(frozen=True)
class Fault:
    """What fails: a `victim` (worker or coordinator), in a stage, at its start, end, or in the middle of writing.

    `action` is kill, hang, sleep, or disk-full. The first process that creates the file `flag` fails.
    """

    victim: str
    stage: str
    moment: str
    action: str
    flag: str

    def strike(self) -> None:
        """Fail, unless another process has."""
        try:
            descriptor = os.open(self.flag, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return
        os.write(descriptor, str(os.getpid()).encode())
        os.close(descriptor)
        if self.action == "disk-full":
            resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        elif self.action == "sleep":
            time.sleep(3600)
        else:
            os.kill(os.getpid(), signal.SIGSTOP if self.action == "hang" else signal.SIGKILL)


def list_settings(fault: Fault | None) -> dict[str, str]:
    """Return the environment of a process that may fail."""
    return {VARIABLE: json.dumps(dataclasses.asdict(fault))} if fault else {}


def install_in_worker(fault: Fault) -> None:
    """Let this process fail in a task of the stage."""
    run_task, seal, struck = worker.run_task, checksums.seal, list[str]()

    def run_and_fail(task: Task, *rest: Any) -> Outcome:
        is_struck = task.name.endswith(f"-{fault.stage}")
        struck[:] = [task.name] if is_struck else []
        if is_struck and fault.moment == "start":
            fault.strike()
        outcome = run_task(task, *rest)
        if is_struck and fault.moment == "end":
            fault.strike()
        return outcome

    def seal_and_fail(folder: Path, name: str, checks_ends_only: bool = False) -> None:
        if struck and fault.moment == "write":
            fault.strike()
        seal(folder, name, checks_ends_only)

    worker.run_task = run_and_fail  # type: ignore[attr-defined]
    checksums.seal = seal_and_fail


def install_in_coordinator(fault: Fault) -> None:
    """Let this process fail when the first task of the stage is done."""
    map_tasks: Callable[..., Iterator[Outcome]] = coordinator.ClusterFiller._map

    def map_and_fail(self: Any, session: Any, tasks: Sequence[Task]) -> Iterator[Outcome]:
        for outcome in map_tasks(self, session, tasks):
            if outcome.task.endswith(f"-{fault.stage}"):
                fault.strike()
            yield outcome

    coordinator.ClusterFiller._map = map_and_fail  # type: ignore[method-assign]


if text := os.environ.get(VARIABLE):
    installed_fault = Fault(**json.loads(text))
    (install_in_worker if installed_fault.victim == "worker" else install_in_coordinator)(installed_fault)

if __name__ == "__main__":
    from assay.__main__ import main

    portion_plan.KEY_ROWS = KEY_ROWS
    sys.argv[0] = "assay"
    main()
