"""Run the command line in this process or in a new one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.cli.errors import run
from assay.cli.main import cli
from tests.support.cases import format_options, load_named_filters
from tests.support.laboratory import DATE, ROOT

#: the filters that the reference reports were built with
MODEL = tuple(f"--filter={item}" for item in format_options(load_named_filters("model")))


SUMMARY = re.compile(r"^(.*; )?\d+\.\d s\n\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A finished command: its exit status and output.

    `summary` is the line that ends a build. It has a time, so it is neither compared nor part of `err`.
    """

    status: int
    out: str
    err: str
    summary: str = field(default="", compare=False)

    def parse_json(self) -> Any:
        """Parse the output as JSON."""
        return json.loads(self.out)


def run_assay(*arguments: str | Path, cwd: Path = ROOT, merge_stderr: bool = False) -> CommandResult:
    """Run a command in this process, in a folder; `merge_stderr` merges stderr into stdout, in order."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    err = out if merge_stderr else err
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(cli, [str(item) for item in arguments])
    out_text, err_text = _read_text(out), "" if merge_stderr else _read_text(err)
    return _create_result(status, out_text, err_text)


def _create_result(status: int, out: str, err: str) -> CommandResult:
    match = SUMMARY.search(err)
    return CommandResult(status, out, SUMMARY.sub("", err), match[0].rstrip() if match else "")


def _read_text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def build_environment(**variables: str) -> dict[str, str]:
    """Return environment variables for a process that runs the compiler of this repository."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **variables}


def run_assay_process(
    *arguments: str | Path,
    cwd: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> CommandResult:
    """Run a command in a new process with additional environment variables."""
    command = [python, "-m", "assay", *map(str, arguments)]
    env = build_environment(**(environment or {}))
    result = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return _create_result(result.returncode, result.stdout, result.stderr)


def build(
    runs: Sequence[str],
    out: Path,
    cache: Path,
    *options: str | Path,
    report: str = "cardano/comparison",
    cwd: Path = ROOT,
) -> CommandResult:
    """Run `assay build` over runs (`NAME=DIR`) with the date of the reference reports."""
    run_options = [item for run_ in runs for item in ("--run", run_)]
    return run_assay("build", report, *run_options, "-o", out, "--cache", cache, "--date", DATE, *options, cwd=cwd)
