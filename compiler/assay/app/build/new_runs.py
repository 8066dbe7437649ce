"""Find runs that appear in a folder, or below an address on object storage."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.remote.address import check_address, get_archive_suffix, get_run_name, is_address
from assay.remote.object_store import open_storage
from assay.util.diagnostics import USAGE, fail
from assay.util.file_changes import stamp_files
from assay.util.numbers import split_numbers

SECOND = 1e9  # ns


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run in a watched place: its name, its place, when it last changed (seconds), and the hash of its listing."""

    name: str
    place: str
    changed: float
    fingerprint: str


@dataclass(frozen=True, slots=True)
class WatchedPlace:
    """A folder or address in which runs appear.

    A run is complete if it has the file `marker`; without a marker, if nothing in it has changed for `settle` seconds.
    """

    place: str
    settle: float
    marker: str = ""

    def list_complete(self) -> list[NewRun]:
        """Return the complete runs, oldest first. Raises AssayError if the place cannot be read."""
        latest = time.time() - self.settle
        runs = [run for run in self._list_runs() if self.marker or run.changed <= latest]
        return sorted(runs, key=lambda run: (run.changed, split_numbers(run.name)))

    def _list_runs(self) -> Iterator[NewRun]:
        if is_address(self.place):
            address = check_address(self.place)
            for name, (changed, fingerprint) in open_storage(address).list_folders(self.marker).items():
                yield NewRun(name, f"{address}/{name}", changed, fingerprint)
            return
        folder = Path(self.place)
        try:
            items = sorted(folder.iterdir())
        except OSError as error:
            raise fail("no-folder", f"the folder of runs cannot be read: {folder}", found=error.strerror or str(error),
                       expected="a folder whose folders are runs", status=USAGE) from None  # fmt: skip
        for item in items:
            if not item.name.startswith(".") and self._is_run(item):
                yield _stamp_run(item)

    def _is_run(self, item: Path) -> bool:
        """Return whether an item of the folder is a run with files: a folder, or an archive, which needs no marker."""
        if not item.is_dir():
            return item.is_file() and bool(get_archive_suffix(item.name)) and not self.marker
        return not self.marker or (item / self.marker).is_file()


def _stamp_run(item: Path) -> NewRun:
    """Return a local run. It changes when its files do in any way: a copy may keep times of modification."""
    stamps = stamp_files([item])
    changed = max((stamp[2] for stamp in stamps.values()), default=math.inf)
    text = repr([(str(Path(name).relative_to(item)), *stamp[:2]) for name, stamp in sorted(stamps.items())])
    return NewRun(get_run_name(item.name), str(item), changed / SECOND, hashlib.sha256(text.encode()).hexdigest())
