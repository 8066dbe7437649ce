"""Test the progress bar: files, bytes and rate, one bar for all runs."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO

SHOWN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize(
    ("cases", "expected"), [(["plain"], "reading run, 3 files"), (["plain", "tie-hosts"], "reading 2 runs, 6 files")]
)
def test_terminal_shows_files_bytes_and_time_left(tmp_path: Path, cases: list[str], expected: str) -> None:
    runs = [f"{name}={CARDANO / 'tiny' / name / 'run'}" if len(cases) > 1 else str(CARDANO / "tiny" / name / "run")
            for name in cases]  # fmt: skip
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "assay", "ingest", "--system", "cardano", *runs, "--cache", str(tmp_path)]
    env = {**os.environ, "COLUMNS": "110", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=env) as process:
        os.close(theirs)
        output = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            output += part
    os.close(ours)
    assert process.returncode == 0
    lines = [line for line in re.split(r"[\r\n]+", SHOWN.sub("", output.decode())) if "reading" in line]
    assert {re.sub(r" *[━╸╺].*", "", line).strip() for line in lines} == {expected}
    assert re.search(r"(\d+)/\1 MB(, \d+ MB/s)? +\d:\d\d:\d\d", lines[-1])
