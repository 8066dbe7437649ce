"""The Dhall evaluator ends with the command that it works for, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.spec.dhall_adapter import available
from tests.support.commands import assay

pytestmark = pytest.mark.skipif(
    not available() or not Path("/proc/self/stat").exists(), reason="no evaluator in a process of its own, or no /proc"
)
TITLE = '"How {others} serves requests, beside {base}."'
#: 3 squared 24 times: hours of work
ENDLESS = "let t = \\(n : Natural) -> n * n in Natural/show (" + "t (" * 24 + "3" + ")" * 25
WAIT = 30


def children(parent: int) -> Iterator[int]:
    """Yield the processes that a process has started."""
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields and int(fields[1]) == parent and fields[0] != "Z":
            yield int(entry.name)


def wait_for(condition: Callable[[], bool], seconds: float = WAIT) -> bool:
    """Return whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_killed_command_leaves_no_evaluator(tmp_path: Path) -> None:
    assert assay("init", "w", within=tmp_path).status == 0
    reports = tmp_path / "w" / "specs" / "service" / "reports.dhall"
    text = reports.read_text(encoding="utf-8")
    assert TITLE in text
    reports.write_text(text.replace(TITLE, ENDLESS), encoding="utf-8")
    command = [sys.executable, "-m", "assay", "--cache", str(tmp_path / "cache"), "check"]
    started = subprocess.Popen(command, cwd=tmp_path / "w", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    evaluators: list[int] = []
    assert wait_for(lambda: evaluators.extend(children(started.pid)) or any(map(is_busy, evaluators)))
    os.kill(started.pid, signal.SIGKILL)
    started.communicate()
    assert wait_for(lambda: not any(map(is_there, evaluators)), 5)


def is_there(process: int) -> bool:
    """Return whether a process still runs."""
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_busy(process: int) -> bool:
    """Return whether a process has used a second of a processor: it evaluates."""
    try:
        fields = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return int(fields[11]) + int(fields[12]) > os.sysconf("SC_CLK_TCK")
