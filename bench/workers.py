"""Measure builds by 1, 2 and 4 workers on this machine, and the build without workers, of the same run.

    python bench/workers.py                      one run of 24 hosts and 1 GB
    python bench/workers.py --megabytes 3000 --workers 2 --workers 8

Workers take tasks of a folder queue and run before the build starts. Each build starts with an empty cache; its report
must have the bytes of the build without workers. Builds alternate; each column has the build with the least processor
time. Where there are more workers than cores, wall times say little.
"""

import argparse
import compileall
import filecmp
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compare import ASSAY, HERE, REPORT, describe_machine, report_progress
from measure import CommandError, measure
from parts import read_processor_seconds, simulate_runs
from sizes import format_table

READ, VERIFY = "read", "verify"  # stages that are listed apart; all others compute
IDLE = "10"  # seconds without a task after which a worker ends


@dataclass(frozen=True, slots=True)
class Build:
    """Seconds of a build: wall time; processor time of the coordinator, of tasks by kind, of the rest of workers."""

    wall: float
    coordinator: float
    tasks: Counter[str]
    rest: float

    @property
    def total(self) -> float:
        """Return the processor seconds of all processes."""
        return self.coordinator + self.tasks.total() + self.rest


@contextmanager
def run_workers(number: int, work: Path) -> Iterator[None]:
    """Run workers, and wait for their end."""
    command = [ASSAY, "--cache", str(work / "cache"), "work", str(work / "queue"), "--idle-exit", IDLE]
    silent = subprocess.DEVNULL
    workers = [
        subprocess.Popen(command, cwd=HERE.parent, stdin=silent, stdout=silent, stderr=silent) for _ in range(number)
    ]
    time.sleep(2)  # until they have started
    try:
        yield
    finally:
        for worker in workers:
            worker.wait()


def measure_build(run: Path, workers: int, work: Path) -> Build:
    """Measure a build with an empty cache; with 0 workers, without a cluster. Raises CommandError."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    on = ["--on", f"folder:{work / 'queue'}"] if workers else []
    command = [ASSAY, "--cache", str(work / "cache"), "build", REPORT, "--run", str(run), "-o", str(work / "out")]
    before = read_processor_seconds()
    with run_workers(workers, work):
        measurement = measure([*command, *on, "--log-format", "json"], work / "log")
        coordinator = read_processor_seconds() - before
    tasks = read_task_seconds(work / "log")
    rest = read_processor_seconds() - before - coordinator - tasks.total()
    return Build(measurement.seconds, coordinator, tasks, rest)


def read_task_seconds(log: Path) -> Counter[str]:
    """Add up the processor seconds of tasks by their kind: read, verify, compute."""
    seconds: Counter[str] = Counter()
    for text in log.read_text(encoding="utf-8").splitlines():
        line = json.loads(text) if text.startswith("{") else {}
        if line.get("stage") == "task":
            stage = line["task"].rpartition("-")[2]
            seconds[stage if stage in (READ, VERIFY) else "compute"] += line["processor_seconds"]
    return seconds


def name_workers(number: int) -> str:
    """Return the head of a column."""
    return f"{number or 'no'} worker{'' if number == 1 else 's'}"


def list_rows(builds: dict[int, Build]) -> Iterator[list[str]]:
    """Yield the rows of the table; the ratio is to the first build."""
    yield ["processor seconds", *map(name_workers, builds)]
    for stage in (READ, "compute", VERIFY):
        yield [f"tasks: {stage}", *(f"{build.tasks[stage]:.1f}" if number else "" for number, build in builds.items())]
    yield ["workers: start, queue", *(f"{build.rest:.1f}" if number else "" for number, build in builds.items())]
    yield ["the build's command", *(f"{build.coordinator:.1f}" for build in builds.values())]
    yield ["all", *(f"{build.total:.1f}" for build in builds.values())]
    first = next(iter(builds.values()))
    yield ["ratio", *(f"{build.total / first.total:.2f}" for build in builds.values())]
    yield ["wall time, seconds", *(f"{build.wall:.1f}" for build in builds.values())]


def measure_all(run: Path, numbers: Sequence[int], times: int, folder: Path) -> dict[int, Build]:
    """Measure builds in turn; return the cheapest of each number of workers. Raises CommandError."""
    builds: dict[int, Build] = {}
    for turn in range(1, times + 1):
        for number in numbers:
            report_progress(f"{turn}/{times}: {number} workers")
            build = measure_build(run, number, folder / "work")
            compare_reports(folder / "work" / "out", folder / "expected")
            if number not in builds or build.total < builds[number].total:
                builds[number] = build
    report_progress("")
    return builds


def compare_reports(report: Path, expected: Path) -> None:
    """Raise CommandError unless a report has the bytes of the first one."""
    if not expected.exists():
        report.rename(expected)
        return
    names = sorted(str(path.relative_to(expected)) for path in expected.rglob("*") if path.is_file())
    _, different, missing = filecmp.cmpfiles(expected, report, names, shallow=False)
    if different or missing:
        raise CommandError(f"files of {report} differ from {expected}: {', '.join(different + missing)}")


def main() -> int:
    """Print the table; return 1 when a command fails or a report differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, action="append", help="number of workers (repeatable; default 1, 2, 4)")
    parser.add_argument("--hosts", type=int, default=24, help="number of hosts (default 24)")
    parser.add_argument("--megabytes", type=float, default=1000, help="size of the plain logs (default 1000)")
    parser.add_argument("--times", type=int, default=3, help="builds of each kind (default 3)")
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build" / "bench", help="folder of the run")
    options = parser.parse_args()
    compileall.compile_dir(HERE.parent / "compiler", quiet=1)
    (run,) = simulate_runs(options.folder, 1, options.megabytes, options.hosts)
    scratch = options.folder / "workers"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        builds = measure_all(run.absolute(), [0, *(options.workers or [1, 2, 4])], options.times, scratch.absolute())
    except CommandError as failure:
        print(failure, file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(scratch)
    print(f"{options.hosts} hosts, {options.megabytes:.0f} MB, cheapest of {options.times}; {describe_machine()}\n")
    print(format_table(list(list_rows(builds))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
