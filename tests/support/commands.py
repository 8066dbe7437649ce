"""Run the command line in this process or in a new one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.cli.errors import run
from assay.cli.main import cli
from tests.support.cases import as_options, filters_named
from tests.support.laboratory import DATE, ROOT

#: the filters that the reference reports were built with
MODEL = tuple(f"--filter={item}" for item in as_options(filters_named("model")))


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command: its exit status and output."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Parse the output as JSON."""
        return json.loads(self.out)


def assay(*arguments: str | Path, within: Path = ROOT, together: bool = False) -> Done:
    """Run a command in this process, in a folder; `together` merges stderr into stdout, in order."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    err = out if together else err
    with contextlib.chdir(within), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(cli, [str(item) for item in arguments])
    return Done(status, _text(out), "" if together else _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def source_environment(**variables: str) -> dict[str, str]:
    """Return environment variables for a process that runs the compiler of this repository."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **variables}


def assay_process(
    *arguments: str | Path,
    within: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Done:
    """Run a command in a new process with additional environment variables."""
    command = [python, "-m", "assay", *map(str, arguments)]
    env = source_environment(**(environment or {}))
    done = subprocess.run(command, cwd=within, env=env, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def build(
    runs: Sequence[str],
    out: Path,
    cache: Path,
    *more: str | Path,
    report: str = "cardano/comparison",
    within: Path = ROOT,
) -> Done:
    """Run `assay build` over runs (`NAME=DIR`) with the date of the reference reports."""
    named = [item for run_ in runs for item in ("--run", run_)]
    return assay("build", report, *named, "-o", out, "--cache", cache, "--date", DATE, *more, within=within)
