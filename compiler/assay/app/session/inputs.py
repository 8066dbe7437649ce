"""Hash the inputs of a command by the marks of their files, so that an unchanged command need not run again.

The inputs are the files of the runs, the specs, queries, templates and Assay itself, and the versions of tools. A file
counts as unchanged if its size, times of change and inode are unchanged; its content is not read.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.app.session.selection import MARK, is_file
from assay.app.session.session import Session
from assay.lang.workspace import SOURCES, get_shipped_workspace
from assay.provenance.versions import get_versions
from assay.runs.model import NamedRun
from assay.util.checksums import SETTLED
from assay.util.program import find_code_folders

Mark = tuple[str, int, int, int, int]


def hash_inputs(
    session: Session,
    runs: Sequence[NamedRun],
    filters: Sequence[str],
    texts: Iterable[Path] = (),
    tools: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """Return one hash of the versions of tools and the marks of files.

    `filters` may name files; `texts` are other files. The hash is empty if a run is remote, if a file cannot be read,
    or if it changed so recently that its mark does not prove its content.
    """
    if not all(run.is_here for run in runs):
        return ""
    current_time = time.time_ns()
    roots = dict.fromkeys((session.workspace.root, get_shipped_workspace().root))
    source_paths = [path for root in roots for part in SOURCES if (path := root / part).exists()]
    input_paths = [*find_code_folders().values(), *source_paths, *(run.directory for run in runs)]
    input_paths += [Path(text.removeprefix(MARK)) for text in filters if is_file(text)]
    input_paths += texts
    try:
        marks = [mark for path in input_paths for mark in _iter_marks(path)]
    except OSError:
        return ""
    if any(current_time - max(change_times) < SETTLED for _, _, *change_times, _ in marks):
        return ""
    return hashlib.sha256(json.dumps([get_versions(), tools or {}, marks]).encode()).hexdigest()


def _iter_marks(path: Path) -> Iterator[Mark]:
    """Yield path, size, times of change (ns) and inode of every file below a folder, or of a single file.

    Raises OSError, also for links to folders, which may form a loop, and for anything but files and folders.
    """
    status = path.stat()
    if stat.S_ISREG(status.st_mode):
        yield str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        return
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            if entry.is_symlink() and entry.is_dir():
                raise OSError(f"a link to a folder: {entry.path}")
            if entry.name != "__pycache__":
                yield from _iter_marks(Path(entry.path))
