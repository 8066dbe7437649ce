"""Runs a command and measures its time and its memory, together with all processes that it starts."""

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
SAMPLE_EVERY = 0.01
#: so many samples are of the processes that were found before them: to look for others takes a tenth of a core
SEARCH_EVERY = 10


class CommandError(Exception):
    """A measured command ended with another status than 0; the text is the end of its stderr."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Wall time, and the largest resident memory of the whole process tree at one instant."""

    seconds: float
    peak: int

    def then(self, other: "Measurement") -> "Measurement":
        """Two commands one after the other, as one."""
        return Measurement(self.seconds + other.seconds, max(self.peak, other.peak))


def measure(command: Sequence[str], errors: Path) -> Measurement:
    """Runs a command to its end; what it writes to stderr goes to the file `errors`.

    The peak is the largest sum of the resident sizes of all its processes, looked at each 10 ms; new ones are
    looked for each 100 ms. Pages that processes share count in each, so it errs upwards. It is never less than
    what the operating system notes as the peak of the largest single process. Without /proc it is the latter.

    Raises CommandError.
    """
    with errors.open("wb") as stderr:
        started = time.perf_counter()
        none = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=none, stdout=none, stderr=stderr)
        watch = TreeWatch(process.pid)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.stop()
    if process.returncode:
        text = errors.read_text(errors="replace")[-2000:].strip()
        raise CommandError(text or f"status {process.returncode}")
    return Measurement(seconds, max(watch.peak, usage.ru_maxrss * MAXRSS_UNIT))


class TreeWatch(threading.Thread):
    """Looks at a process tree's memory again and again; `peak` is the most it saw, in bytes."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.peak = root, 0
        self.done = threading.Event()

    def run(self) -> None:
        for number in itertools.count():
            if self.done.wait(SAMPLE_EVERY):
                break
            if number % SEARCH_EVERY == 0:
                found = list(tree(self.root))
            self.peak = max(self.peak, sum(map(resident, found)))

    def stop(self) -> None:
        self.done.set()
        self.join()


def tree(pid: int) -> Iterator[int]:
    """A process and all its descendants that are alive."""
    yield pid
    for thread in _threads(pid):
        try:
            own = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
        except OSError:  # the thread has ended meanwhile
            continue
        for child in own:
            yield from tree(int(child))


def _threads(pid: int) -> list[str]:
    """The threads of a process; none when it has ended."""
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 -- a Path would list it later, when it may be gone
    except OSError:
        return []


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 when it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
