"""Detect changes of the files that a report is built from."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from assay.app.outputs import SOURCES
from assay.app.runs import named_runs
from assay.lang import workspace as workspaces
from assay.lang.workspace import Workspace
from assay.util.diagnostics import AssayError
from assay.util.file_changes import Stamps, stamp_files

#: Names of temporary files that editors create next to open files.
BESIDE = re.compile(r"\..*|.*~|#.*#|4913")
COARSE = 20_000_000  # ns by which time stamps of a file system may lag


class Watched:
    """The files that reports of a system are built from: those of a workspace, and runs as a user names them."""

    def __init__(self, system: str, runs: Sequence[str]) -> None:
        self._system = system
        self._runs = runs
        self._seen: Stamps | None = None
        self._seen_at = 0
        self._elsewhere: Stamps = {}
        self._lock = threading.Lock()  # `look_elsewhere` runs while another thread waits for changes

    def places(self, workspace: Workspace) -> list[Path]:
        """Return the known places of all files that a build reads."""
        return [*self._folders(workspace), *_directories(self._runs), *map(Path, self._elsewhere)]

    def changed(self, workspace: Workspace) -> bool:
        """Return whether anything has changed since the last call."""
        with self._lock:
            began = time.time_ns()
            now = self._now(workspace)
            if now == self._seen:
                return False
            self._seen, self._seen_at = now, began
            return True

    def look_elsewhere(self, workspace: Workspace) -> None:
        """Find the files that specs import from other folders of the workspace.

        Those that changed after the last call of `changed` count as changes.
        """
        try:
            files = [item.path for item in workspaces.scan(workspace, self._system)]
        except (AssayError, OSError):
            return  # the build reports the problem
        with self._lock:
            seen = self._seen or {}
            imported = [path for path in files if str(path) not in seen and path.is_relative_to(workspace.root)]
            imported_marks = stamp_files(imported)
            self._elsewhere |= imported_marks
            settled = self._seen_at - COARSE
            self._seen = seen | {name: mark for name, mark in imported_marks.items() if max(mark[1:3]) < settled}

    def _now(self, workspace: Workspace) -> Stamps:
        elsewhere = stamp_files([Path(name) for name in self._elsewhere])
        workspace_marks = stamp_files(self._folders(workspace), lambda name: bool(BESIDE.fullmatch(name)))
        return workspace_marks | stamp_files(_directories(self._runs)) | elsewhere

    @staticmethod
    def _folders(workspace: Workspace) -> list[Path]:
        return [workspace.root / name for name in SOURCES]


def _directories(runs: Sequence[str]) -> list[Path]:
    """Return the directories or archives of runs; none if a run is invalid."""
    try:
        return [run.directory for run in named_runs(runs)]
    except AssayError:
        return []
