"""Lock a results folder, so that its changes happen one after the other, and no reader sees a part of one.

The lock is on the folder `runs`: the results folder itself may be locked as an output or as a cache.
"""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from assay.registry.model import RUNS
from assay.util.atomic import replace_durably
from assay.util.locks import acquire, acquire_lock, release
from assay.util.os_errors import build_write_error

HINT = "choose another folder with --results"
_locked = threading.local()  # folders: those that this thread has locked


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Let nobody else read or change a results folder, from reading what a change depends on to its last file.

    The folder is created. A thread may lock a folder that it has locked. Raises AssayError if it cannot be created.
    """
    if _is_locked(folder):
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(acquire_lock(folder / RUNS))
        except OSError as error:
            raise build_write_error("output", "results folder", folder, error, HINT) from None
        stack.enter_context(_remember_locked(folder))
        yield


@contextmanager
def share_folder(folder: Path) -> Iterator[None]:
    """Let nobody change a results folder while it is read, and wait for changes. Nothing is created."""
    descriptor = None
    if not _is_locked(folder):
        with suppress(OSError):  # no such folder, or one that cannot be opened: who reads it says so
            descriptor = acquire(folder / RUNS, is_shared=True)
    try:
        yield
    finally:
        release(*([] if descriptor is None else [descriptor]))


def _is_locked(folder: Path) -> bool:
    return folder.absolute() in getattr(_locked, "folders", ())


@contextmanager
def _remember_locked(folder: Path) -> Iterator[None]:
    before: frozenset[Path] = getattr(_locked, "folders", frozenset())
    _locked.folders = before | {folder.absolute()}
    try:
        yield
    finally:
        _locked.folders = before


def write_files(folder: Path, contents: Mapping[Path, bytes | Callable[[Path], None]]) -> None:
    """Write files of a results folder that is locked: none of them before the content of all is on the disk.

    A content is bytes, or writes a file of a name. Raises AssayError if the folder cannot be written.
    """
    assert _is_locked(folder)
    temporaries = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in contents}
    try:
        try:
            for path, content in contents.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                for leftover in path.parent.glob(f"{glob.escape(f'.{path.name}.')}*"):  # of a process that was killed
                    leftover.unlink(missing_ok=True)
                if isinstance(content, bytes):
                    temporaries[path].write_bytes(content)
                else:
                    content(temporaries[path])
            for path, temporary in temporaries.items():
                replace_durably(temporary, path)
        finally:
            for temporary in temporaries.values():
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise build_write_error("output", "results folder", folder, error, HINT) from None
