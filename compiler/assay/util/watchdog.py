"""The end of a command that cannot go on: a thread reports why, and ends the process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

from assay.util import scratch

#: writes an error where users read it; returns the exit status
Report = Callable[[Exception], int]


def _write(error: Exception) -> int:
    sys.stderr.write(f"{error}\n")
    return 1


_reports: list[Report] = [_write]


def report_by(report: Report) -> None:
    """Let a fatal error be reported so."""
    _reports[:] = [report]


def end(error: Exception) -> None:
    """Report an error, remove what the process has in scratch, and end the process, whatever its other threads do."""
    status = 1
    try:
        status = _reports[0](error)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        scratch.abandon()
    finally:
        os._exit(status)
