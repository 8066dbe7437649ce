"""What a command does, stage by stage, with what each takes, for whoever wants to know (`--verbose`).

What seconds and memory a stage takes differs from build to build, so it goes to the log and into no output.
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
def stage(name: str, **facts: object) -> Iterator[Facts]:
    """A stage: when it ends well, one line of log with its facts, to which the block may add, and what it took.

    `seconds` of the wall; `processor_seconds` of this process, other stages that run at the same time among them;
    `peak_mib` of this process so far.
    """
    if not LOG.isEnabledFor(logging.INFO):
        yield facts
        return
    wall, processor = time.perf_counter(), time.process_time()
    yield facts
    facts["seconds"] = round(time.perf_counter() - wall, 3)
    facts["processor_seconds"] = round(time.process_time() - processor, 3)
    facts["peak_mib"] = peak_mib()
    LOG.info("%s", name, extra={"stage": name, "facts": facts})


def peak_mib() -> int:
    """The most memory that this process held so far, in MiB; 0 where the system does not tell."""
    with contextlib.suppress(OSError, StopIteration):
        # Not getrusage, where it can be had: that counts what the process which started this one held.
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) // 2**10
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 2**20 if sys.platform == "darwin" else peak // 2**10
