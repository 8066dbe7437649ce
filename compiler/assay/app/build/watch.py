"""Detect changes of the files that a report is built from."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from assay.app.session.runs import parse_runs
from assay.lang import workspace as workspaces
from assay.lang.workspace import SOURCES, Workspace
from assay.util.diagnostics import AssayError
from assay.util.file_changes import Stamps, stamp_files

#: Names of temporary files that editors create next to open files.
EDITOR_FILE = re.compile(r"\..*|.*~|#.*#|4913")
MAX_LAG = 20_000_000  # ns by which time stamps of a file system may lag
QUIET_TIME = 0.05  # seconds without a change after which files count as written: editors empty a file, then write it
MOST_READINGS = 10  # of files that change all the time, such as logs of a running benchmark


class WatchedFiles:
    """The files that reports of a system are built from: those of a workspace, and runs as a user names them."""

    def __init__(self, system: str, runs: Sequence[str]) -> None:
        self._system = system
        self._runs = runs
        self._stamps: Stamps | None = None
        self._stamp_time = 0
        self._imported_stamps: Stamps = {}
        self._lock = threading.Lock()  # `find_imported_files` runs while another thread waits for changes

    def list_places(self, workspace: Workspace) -> list[Path]:
        """Return the known places of all files that a build reads."""
        return [*self._list_folders(workspace), *_list_directories(self._runs), *map(Path, self._imported_stamps)]

    def has_changed(self, workspace: Workspace) -> bool:
        """Return whether anything has changed since the last call."""
        with self._lock:
            start_time = time.time_ns()
            current_stamps = self._stamp_all_files(workspace)
            if current_stamps == self._stamps:
                return False
            self._stamps, self._stamp_time = current_stamps, start_time
            return True

    def wait_until_quiet(self, workspace: Workspace) -> None:
        """Wait until two readings of the files agree, but not for long."""
        for _ in range(MOST_READINGS):
            time.sleep(QUIET_TIME)
            if not self.has_changed(workspace):
                return

    def find_imported_files(self, workspace: Workspace) -> None:
        """Find the files that specs import from other folders of the workspace.

        Those that changed after the last call of `has_changed` count as changes.
        """
        try:
            files = [item.path for item in workspaces.scan_sources(workspace, self._system)]
        except (AssayError, OSError):
            return  # the build reports the problem
        with self._lock:
            stamps = self._stamps or {}
            imported = [path for path in files if str(path) not in stamps and path.is_relative_to(workspace.root)]
            imported_stamps = stamp_files(imported)
            self._imported_stamps |= imported_stamps
            settled_before = self._stamp_time - MAX_LAG
            self._stamps = stamps | {
                name: stamp for name, stamp in imported_stamps.items() if max(stamp[1:3]) < settled_before
            }

    def _stamp_all_files(self, workspace: Workspace) -> Stamps:
        imported_stamps = stamp_files([Path(name) for name in self._imported_stamps])
        workspace_stamps = stamp_files(self._list_folders(workspace), lambda name: bool(EDITOR_FILE.fullmatch(name)))
        return workspace_stamps | stamp_files(_list_directories(self._runs)) | imported_stamps

    @staticmethod
    def _list_folders(workspace: Workspace) -> list[Path]:
        return [workspace.root / name for name in SOURCES]


def _list_directories(runs: Sequence[str]) -> list[Path]:
    """Return the directories or archives of runs; none if a run is invalid."""
    try:
        return [run.directory for run in parse_runs(runs)]
    except AssayError:
        return []
