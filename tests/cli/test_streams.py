"""Test commands with closed, full or unread streams, interrupts, and without memory."""

from __future__ import annotations

import functools
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import click
import duckdb
import pytest

from assay.cli.errors import run
from tests.support.commands import build_environment
from tests.support.laboratory import ROOT

LIST = ("list", "metrics", "--system", "cometbft")
HELP = ("--help",)
WRONG = ("list", "metrics", "--system", "none")


@functools.cache
def run_usual(arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a command with normal streams."""
    return run_in_shell(arguments, "")


def run_in_shell(arguments: tuple[str, ...], streams: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command with streams redirected by a shell."""
    command = shlex.join([sys.executable, "-m", "assay", *arguments])
    env = build_environment()
    line = f"{before} {command} {streams}"
    return subprocess.run(["bash", "-c", line], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_or_full_stream_changes_no_status_or_output(streams: str) -> None:
    actual, wrong_command = run_in_shell(LIST, streams), run_in_shell(WRONG, streams)
    assert (actual.returncode, wrong_command.returncode) == (0, run_usual(WRONG).returncode)
    assert actual.stdout == ("" if " >" in f" {streams}" else run_usual(LIST).stdout)
    assert wrong_command.stderr == ("" if "2>" in streams else run_usual(WRONG).stderr)


@pytest.mark.parametrize(("words", "status"), [(LIST, 0), (HELP, 0), (WRONG, 2), (("spec-diff", "HEAD", "nowhere"), 2)])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_closed_output_does_not_change_the_status(words: tuple[str, ...], status: int, stream: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writing}
    env = build_environment()
    result = subprocess.run([sys.executable, "-m", "assay", *words], cwd=ROOT, env=env, check=False, **streams)  # type: ignore[call-overload]
    os.close(writing)
    assert result.returncode == status


def test_full_stdout_error_names_the_cause() -> None:
    result = run_in_shell(LIST, ">/dev/full")
    assert (result.returncode, result.stderr) == (
        1,
        "error[output]: stdout cannot be written: No space left on device\n",
    )


def test_interrupt_during_import_is_reported_as_usual(tmp_path: Path) -> None:
    # It waits for the interrupt, which could otherwise arrive where Python ignores errors, between two imports.
    (tmp_path / "click.py").write_text(f"import os, time\nos.kill(os.getpid(), {signal.SIGINT:d})\ntime.sleep(60)\n")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'compiler'}"}
    result = subprocess.run([sys.executable, "-m", "assay", *HELP], env=env, capture_output=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"interrupted\n")


@pytest.mark.parametrize(
    "moment",
    ["class Lost:\n    def __del__(self):\n        interrupt()\nLost()\ntime.sleep(60)",
     "import atexit\natexit.register(interrupt)\nraise KeyboardInterrupt"],
    ids=["where errors are passed over", "and another, at the end"],
)  # fmt: skip
def test_interrupt_is_never_lost_and_has_no_traceback(tmp_path: Path, moment: str) -> None:
    (tmp_path / "rich").mkdir()  # a command imports it to print a table
    begin = f"import os, time\ndef interrupt():\n    os.kill(os.getpid(), {signal.SIGINT:d})\n    time.sleep(0)\n"
    (tmp_path / "rich" / "__init__.py").write_text(f"{begin}{moment}\n", encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'compiler'}"}
    command = [sys.executable, "-m", "assay", *LIST]
    result = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (130, "")
    assert set(result.stderr.split("\n")) == {"", "interrupted"}, result.stderr


def test_interrupt_of_engine_is_reported_as_usual(capsys: pytest.CaptureFixture[str]) -> None:
    @click.group()
    def group() -> None:
        pass

    @group.command("long")
    def run_long_query() -> None:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with duckdb.connect() as connection:
            connection.execute("SELECT sum(a.range * b.range) FROM range(20000) AS a, range(20000) AS b").fetchall()

    assert run(group, ["long"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted"


def test_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    (tmp_path / "rich").mkdir()
    text = f"import os\nos.kill(os.getpid(), {signal.SIGINT:d})\nraise ValueError('rich was loaded')\n"
    (tmp_path / "rich" / "__init__.py").write_text(text, encoding="utf-8")
    line = f"trap '' INT; {shlex.join([sys.executable, '-m', 'assay', *LIST])}"
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'compiler'}"}
    result = subprocess.run(["bash", "-c", line], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert "ValueError: rich was loaded" in result.stderr


def test_out_of_memory_is_not_reported_as_a_bug() -> None:
    result = run_in_shell(("test", "--system", "cometbft"), "", "ulimit -v 1000000;")
    if result.returncode not in (1, 70):
        pytest.skip("it was enough, or the engine ended the process itself")
    assert result.returncode == 1, result.stderr
    assert result.stderr.startswith("error[memory]: memory ran out")
