"""Run the command line with a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tests.support.commands import build_environment
from tests.support.laboratory import ROOT


def run_on_terminal(
    words: Sequence[str | Path], stream: Literal["stdout", "stderr"], **variables: str
) -> tuple[int, str]:
    """Return the exit status of `assay WORDS`, and what it writes to a stream that is a terminal."""
    main_descriptor, terminal_descriptor = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: terminal_descriptor}
    command = [sys.executable, "-m", "assay", *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, env=build_environment(**variables), **streams) as process:
        os.close(terminal_descriptor)
        output = b""
        while True:
            try:
                part = os.read(main_descriptor, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            output += part
    os.close(main_descriptor)
    return process.returncode, output.decode()
