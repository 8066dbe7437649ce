"""A program that starts commands, warm, one after the other, and kills each after a time, without a warning.

Started as `python -m tests.support.killed PLAN`, where PLAN is a JSON file: `times` (seconds after which each command
is killed) and `command`.  It prints the wait status of each as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# imported by every command, so that a process is killed at work and not while it starts
import duckdb  # noqa: F401
import sqlglot.optimizer  # noqa: F401

import assay.app.build.build_runs
import assay.app.compute.ingest
import assay.cli.main
import assay.report.render.pdf
from assay.cli.errors import run


def run_and_kill(seconds: float, command: Sequence[str]) -> int:
    """Run a command in a new process, kill it, and return its wait status."""
    child = os.fork()
    if not child:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        os.dup2(devnull, 2)
        os._exit(run(assay.cli.main.cli, command))
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(json.dumps([run_and_kill(seconds, plan["command"]) for seconds in plan["times"]]))


if __name__ == "__main__":
    main()
