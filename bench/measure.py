"""Run a command and measure time and memory of it and all processes that it starts."""

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
# ru_maxrss counts kilobytes on Linux, bytes on macOS.
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
SAMPLE_INTERVAL = 0.01  # seconds
#: samples between two searches for new processes; searching at each sample would take a tenth of a core
SAMPLES_PER_SEARCH = 10


class CommandError(Exception):
    """A measured command failed; the text is the end of its stderr."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Wall time in seconds and peak resident memory of the process tree in bytes."""

    seconds: float
    peak: int

    def add(self, other: "Measurement") -> "Measurement":
        """Combine with the measurement of a command that ran afterwards."""
        return Measurement(self.seconds + other.seconds, max(self.peak, other.peak))


def measure(command: Sequence[str], errors: Path) -> Measurement:
    """Run a command and measure it; its stderr goes to the file `errors`.

    The peak is the largest sum of resident sizes of all its processes, sampled every 10 ms; new processes are
    searched every 100 ms. Shared pages count once per process, so the peak errs upwards. It is at least the peak of
    the largest single process as the operating system reports it; without /proc it equals that.

    Raises CommandError.
    """
    with errors.open("wb") as stderr:
        started = time.perf_counter()
        null = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=null, stdout=null, stderr=stderr)
        sampler = MemorySampler(process.pid)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    sampler.stop()
    if process.returncode:
        text = errors.read_text(errors="replace")[-2000:].strip()
        raise CommandError(text or f"status {process.returncode}")
    return Measurement(seconds, max(sampler.peak, usage.ru_maxrss * MAXRSS_UNIT))


class MemorySampler(threading.Thread):
    """Sample the memory of a process tree; `peak` is the largest sample in bytes."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.peak = root, 0
        self.stopped = threading.Event()

    def run(self) -> None:
        for number in itertools.count():
            if self.stopped.wait(SAMPLE_INTERVAL):
                break
            if number % SAMPLES_PER_SEARCH == 0:
                processes = list(find_processes(self.root))
            self.peak = max(self.peak, sum(map(read_resident, processes)))

    def stop(self) -> None:
        self.stopped.set()
        self.join()


def find_processes(pid: int) -> Iterator[int]:
    """Yield a process and all its living descendants."""
    yield pid
    for thread in _list_threads(pid):
        try:
            children = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
        except OSError:  # the thread has ended
            continue
        for child in children:
            yield from find_processes(int(child))


def _list_threads(pid: int) -> list[str]:
    """List the threads of a process; empty when it has ended."""
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 -- Path.iterdir reads lazily, when the process may have ended
    except OSError:
        return []


def read_resident(pid: int) -> int:
    """Read the resident memory of a process in bytes; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
