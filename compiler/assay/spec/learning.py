"""Learning, while nothing changes, what makes the next evaluation of specs faster, in a process of its own.

    python -m assay.spec.learning WORKSPACE SYSTEM CACHE

It takes no time from builds, has what they leave of the processor, and can be ended at any moment: what it has
learned by then is in the cache.  What cannot be learned is left: the next build evaluates it, and says what is wrong.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from assay.spec import workspace
from assay.spec.diagnostics import AssayError
from assay.spec.workspace import Workspace

BEHIND = 10  # by so much its turn on the processor comes later than that of others


class Learner:
    """The process, when there is one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, root: Path, system: str, cache: Path) -> None:
        """Let it learn of a system of the workspace `root` all that there is to learn."""
        self.stop()
        if self._process:
            self._process.communicate()
        given = [str(root.absolute()), system, str(cache.absolute())]
        command = [sys.executable, "-P", "-m", "assay.spec.learning", *given]
        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)

    @property
    def runs(self) -> bool:
        """Whether it has more to do."""
        if self._process and self._process.poll() is not None:
            self._process.communicate()
            self._process = None
        return self._process is not None

    def stop(self) -> None:
        """Tell it to end; without waiting."""
        if self.runs and self._process:
            self._process.terminate()


def learn(root: Path, system: str, cache: Path) -> None:
    """Learn of one file after the other, while there is something to learn."""
    found = Workspace(root)
    with contextlib.suppress(AssayError, OSError):
        while workspace.unlearned(found, system, cache) and workspace.learn(found, system, cache):
            pass


def _end(_signal: int, _frame: object) -> None:
    sys.exit(0)  # through all blocks that clear up


def _end_with_input() -> None:
    """End when the input does: whoever started this is gone."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Learn, until there is nothing left or somebody ends it."""
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with_input, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):  # a system that has no such order
        os.nice(BEHIND)
    root, system, cache = sys.argv[1:]
    learn(Path(root), system, Path(cache))


if __name__ == "__main__":
    main()
