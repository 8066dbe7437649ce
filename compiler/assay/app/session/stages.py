"""Log each stage of a command with its time and memory (`--verbose`).

Time and memory differ between builds, so they go only to the log, and to no output.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOG = logging.getLogger("assay.stages")
Facts = dict[str, object]


@contextmanager
def log_stage(name: str, **facts: object) -> Iterator[Facts]:
    """Run a stage: if the block succeeds, log one line with its facts, to which the block may add.

    `seconds` is wall time; `processor_seconds` is the processor time of this process, including concurrent stages;
    `peak_mib` is the peak memory of this process so far.
    """
    if not LOG.isEnabledFor(logging.INFO):
        yield facts
        return
    wall, processor = time.perf_counter(), time.process_time()
    yield facts
    facts["seconds"] = round(time.perf_counter() - wall, 3)
    facts["processor_seconds"] = round(time.process_time() - processor, 3)
    facts["peak_mib"] = read_peak_memory()
    LOG.info("%s", name, extra={"stage": name, "facts": facts})


def log_facts(name: str, **facts: object) -> None:
    """Log one line with facts."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("%s", name, extra={"stage": name, "facts": facts})


def read_peak_memory() -> int:
    """Return the peak memory of this process so far in MiB; 0 if the system does not report it."""
    with contextlib.suppress(OSError, StopIteration):
        # Preferred to getrusage, whose peak includes the memory of the parent process.
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) // 2**10
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 2**20 if sys.platform == "darwin" else peak // 2**10
