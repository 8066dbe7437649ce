"""End a command from a thread: report a fatal error and exit the process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable

from assay.util import scratch

#: writes an error for the user; returns the exit status
Reporter = Callable[[Exception], int]


def _write(error: Exception) -> int:
    sys.stderr.write(f"{error}\n")
    return 1


_reporters: list[Reporter] = [_write]


def set_reporter(reporter: Reporter) -> None:
    """Set the function that reports a fatal error."""
    _reporters[:] = [reporter]


def exit_process(error: Exception) -> None:
    """Report an error, remove the temporary folders of the process, and exit, whatever its other threads do."""
    status = 1
    try:
        status = _reporters[0](error)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        scratch.abandon_folders()
    finally:
        os._exit(status)
