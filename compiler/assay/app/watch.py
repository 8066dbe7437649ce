"""What a report is made of, and whether it has changed since the report was last made."""

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

#: names of what editors keep beside files that they have open
BESIDE = re.compile(r"\..*|.*~|#.*#|4913")
COARSE = 20_000_000  # ns by which the clock of a file system may be behind


class Watched:
    """The files of a workspace, and those of runs as a user names them, that reports of a system are made of."""

    def __init__(self, system: str, runs: Sequence[str]) -> None:
        self._system = system
        self._runs = runs
        self._seen: Stamps | None = None
        self._seen_at = 0
        self._elsewhere: Stamps = {}
        self._lock = threading.Lock()  # who looks elsewhere does it while somebody else waits for changes

    def places(self, workspace: Workspace) -> list[Path]:
        """Where all files are that a build reads, as far as that is known."""
        return [*self._folders(workspace), *_directories(self._runs), *map(Path, self._elsewhere)]

    def changed(self, workspace: Workspace) -> bool:
        """Whether anything has changed since this was last asked."""
        with self._lock:
            began = time.time_ns()
            now = self._now(workspace)
            if now == self._seen:
                return False
            self._seen, self._seen_at = now, began
            return True

    def look_elsewhere(self, workspace: Workspace) -> None:
        """Find what specs take from other folders of the workspace; what of it has changed since `changed` was asked is
        a change."""
        try:
            files = [item.path for item in workspaces.scan(workspace, self._system)]
        except (AssayError, OSError):
            return  # the build has told what is wrong, or the next one will
        with self._lock:
            seen = self._seen or {}
            others = [path for path in files if str(path) not in seen and path.is_relative_to(workspace.root)]
            found = stamp_files(others)
            self._elsewhere |= found
            settled = self._seen_at - COARSE
            self._seen = seen | {name: mark for name, mark in found.items() if max(mark[1:3]) < settled}

    def _now(self, workspace: Workspace) -> Stamps:
        elsewhere = stamp_files([Path(name) for name in self._elsewhere])
        own = stamp_files(self._folders(workspace), lambda name: bool(BESIDE.fullmatch(name)))
        return own | stamp_files(_directories(self._runs)) | elsewhere

    @staticmethod
    def _folders(workspace: Workspace) -> list[Path]:
        return [workspace.root / name for name in SOURCES]


def _directories(runs: Sequence[str]) -> list[Path]:
    """The directories or archives of runs; none while what the user has named is no run."""
    try:
        return [run.directory for run in named_runs(runs)]
    except AssayError:
        return []
