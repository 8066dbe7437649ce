"""Run commands of Assay whose output pages need: builds and the catalogue.

They run in processes of their own, so that a spec that exhausts a limit does not end the server, and an interrupt ends
both at once. One runs at a time, since each uses all cores.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import assay
from assay.app.build.watch import WatchedFiles
from assay.lang.workspace import Workspace

MOST_OUTPUTS = 30  # folders that are kept; a further one replaces the oldest
RETRY_DELAY = 5.0  # seconds after which a failed command may run again without a change of its inputs
GRACE = 0.5  # seconds for a process to clean up after an interrupt


@dataclass(slots=True)
class Output:
    """The folder of a command's output; `problem` is what a failed command printed."""

    folder: Path
    watched_files: WatchedFiles
    finished: threading.Event = field(default_factory=threading.Event)
    problem: str = ""
    end_time: float = 0.0


class CommandRunner:
    """Runs commands, and has their output until their inputs change; `root` is a folder for it."""

    def __init__(self, workspace: Workspace, cache: Path, root: Path) -> None:
        self._workspace = workspace
        self._cache = cache
        self._root = root
        self._outputs: dict[tuple[str, ...], Output] = {}
        self._lock = threading.Lock()  # on the outputs
        self._turn = threading.Lock()  # of the running command
        self._process: subprocess.Popen[str] | None = None
        self._is_stopped = False

    def find(self, command: Sequence[str]) -> Output | None:
        """Return the output of a command that ran; None if it has not run."""
        return self._outputs.get(tuple(command))

    def request(self, command: Sequence[str], system: str = "", runs: Sequence[str] = ()) -> Output:
        """Return the output of a command, which may be unfinished; start the command if its inputs have changed.

        The command gets `-o` with the folder. `system` and `runs` are what it reads.
        """
        key = tuple(command)
        with self._lock:
            output = self._outputs.get(key)
            if output and not self._is_due(output):
                return output
            if output:
                output = Output(output.folder, output.watched_files)
            else:
                self._remove_oldest()
                output = Output(self._root / f"{time.monotonic_ns()}", WatchedFiles(system, runs))
                output.watched_files.has_changed(self._workspace)
            self._outputs[key] = output
        threading.Thread(target=self._run, args=[key, output], daemon=True).start()
        return output

    def _is_due(self, output: Output) -> bool:
        """Return whether a command has to run again."""
        if not output.finished.is_set():
            return False
        is_failed_long_ago = bool(output.problem) and time.monotonic() - output.end_time > RETRY_DELAY
        return output.watched_files.has_changed(self._workspace) or is_failed_long_ago

    def _remove_oldest(self) -> None:
        finished_keys = [key for key, item in self._outputs.items() if item.finished.is_set()]
        if len(self._outputs) >= MOST_OUTPUTS and finished_keys:
            shutil.rmtree(self._outputs.pop(finished_keys[0]).folder, ignore_errors=True)

    def _run(self, command: tuple[str, ...], output: Output) -> None:
        with self._turn:
            output.watched_files.find_imported_files(self._workspace)
            output.problem = "" if self._is_stopped else self._run_process([*command[:1], "-o", str(output.folder),
                                                                           *command[1:]])  # fmt: skip
        output.end_time = time.monotonic()
        output.finished.set()

    def _run_process(self, arguments: Sequence[str]) -> str:
        """Run a command; return what it printed if it failed, else nothing."""
        package = str(Path(assay.__file__).parent.parent)
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        line = [sys.executable, "-m", "assay", "--cache", str(self._cache), *arguments]
        try:
            process = subprocess.Popen(
                line, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                encoding="utf-8", errors="replace",
            )  # fmt: skip
        except OSError as error:
            return f"the command cannot be started: {error}"
        self._process = process
        if self._is_stopped:
            process.kill()
        text, _ = process.communicate()
        if not process.returncode:
            return ""
        return text.strip() or f"the command ended with status {process.returncode}"

    def stop(self) -> None:
        """End the running command, and start no other one."""
        self._is_stopped = True
        process = self._process
        if process and process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
            process.kill()
