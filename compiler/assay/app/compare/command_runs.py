"""Run commands that measure something, each into a run folder of its own, base and candidate in alternation."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.util.atomic import write_file
from assay.util.diagnostics import USAGE, AssayError, Span, fail
from assay.util.paths import format_listing, resolve_path

VARIABLE = "ASSAY_RUN"
"""The environment variable with the folder that a command writes its run to."""
BASE, CANDIDATE = "base", "candidate"
_RECORD = "commands.json"
_UNFINISHED = ".part"
_MOST_LINES = 5  # of the output of a command that fails


@dataclass(frozen=True, slots=True)
class MeasuringCommand:
    """A command of the shell that measures one version, such as a commit, in a working directory."""

    text: str
    version: str = ""
    directory: Path | None = None


@dataclass(frozen=True, slots=True)
class CommandRuns:
    """The runs of two commands in a folder: `base-1`, `candidate-1`, `base-2`, ...

    A stop loses only the run that is under way: the same commands go on with the runs that are there. `register` is
    called with the folder of each new run.
    """

    folder: Path
    base: MeasuringCommand
    candidate: MeasuringCommand
    register: Callable[[Path], None] = lambda _run: None

    def open_folder(self) -> None:
        """Create the folder. Raises AssayError (usage) if it has other files, or runs of other commands."""
        record = self.folder / _RECORD
        commands = [{"command": item.text, "version": item.version} for item in (self.base, self.candidate)]
        content = json.dumps(commands, indent=1) + "\n"
        hint = "choose another folder with -o"
        if record.is_file():
            if record.read_text(encoding="utf-8") != content:
                raise fail("command-runs", f"the folder has runs of other commands: {self.folder}", hint=hint,
                           span=Span(str(record)), status=USAGE)  # fmt: skip
            return
        if self.folder.exists() and any(self.folder.iterdir()):
            raise fail("command-runs", f"the folder has files that no command wrote: {self.folder}", status=USAGE,
                       expected="a new or empty folder", found=format_listing(self.folder), hint=hint)  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.folder, record, content)

    def list_missing(self, number: int) -> Iterator[tuple[str, MeasuringCommand]]:
        """Yield the runs of a pair that are not there, base first in odd pairs, so that a steady drift cancels out."""
        order = ((BASE, self.base), (CANDIDATE, self.candidate))
        for role, command in order if number % 2 else order[::-1]:
            if not self.get_run(role, number).is_dir():
                yield role, command

    def get_run(self, role: str, number: int) -> Path:
        """Return the folder of a run, which need not exist."""
        return self.folder / f"{role}-{number}"

    def measure(self, role: str, number: int, command: MeasuringCommand) -> None:
        """Run a command, and register its run. Raises AssayError if it fails or writes nothing."""
        run = self.get_run(role, number)
        unfinished, log = run.with_name(run.name + _UNFINISHED), run.with_name(run.name + ".log")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        environment = {**os.environ, VARIABLE: str(resolve_path(unfinished))}
        with log.open("wb") as file:
            result = subprocess.run(
                command.text, shell=True, check=False, cwd=command.directory, env=environment,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
        if result.returncode:
            raise _build_error(f"the {role} command ended with status {result.returncode}", command, log)
        if not any(unfinished.iterdir()):
            hint = f"it must write its logs to the folder that the variable {VARIABLE} names"
            raise _build_error(f"the {role} command wrote no file of a run", command, log, hint)
        unfinished.rename(run)
        self.register(run)


def _build_error(message: str, command: MeasuringCommand, log: Path, hint: str = "") -> AssayError:
    """Return the error of a command, with the last lines of its output."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_MOST_LINES:]
    return fail("command", f"{message}: {command.text}", span=Span(str(log)), notes=tuple(lines), hint=hint)
