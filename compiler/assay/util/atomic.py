"""Write files and folders atomically: they appear complete or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from assay.util.checksums import is_sealed
from assay.util.locks import acquire_lock
from assay.util.scratch import get_process_folder


def write_file(root: Path, target: Path, content: bytes | str) -> None:
    """Write a file below `root`, through the temporary folder of the process.  Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=get_process_folder(root))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        create_parents(root, target)
        try:
            Path(temporary).replace(target)
        except IsADirectoryError:
            discard(root, target)
            Path(temporary).replace(target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # the error of a full disk names no file
            error.filename = str(target)
        raise


def replace_durably(temporary: Path, target: Path) -> None:
    """Rename a file so that `target` is complete even after a loss of power, the old or the new.  Raises OSError."""
    sync(temporary)
    temporary.replace(target)
    with contextlib.suppress(OSError):  # of a file system that does not sync folders
        sync(target.parent)


def sync(path: Path) -> None:
    """Let the disk write a file, or the names in a folder.  Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def install(root: Path, temporary: Path, target: Path, *, replaces_sealed: bool = False) -> None:
    """Move a temporary folder to `target`, replacing a damaged file or folder of its name.  Raises OSError.

    A complete folder that another process or thread has put there stays, since it may be in use, and has the same
    content.  With `replaces_sealed`, it is replaced: the caller knows that the content differs.
    """
    create_parents(root, target)
    while True:
        try:
            temporary.replace(target)  # fails if the target is a folder with files
        except OSError:
            if not os.path.lexists(target):
                raise
            if replaces_sealed:
                discard(root, target)
            elif is_sealed(target) or not _discard_damaged(root, target):
                return
        else:
            return


def _discard_damaged(root: Path, target: Path) -> bool:
    """Remove a folder that is not sealed; return False if another process has replaced it by a sealed one meanwhile."""
    with acquire_lock(get_process_folder(root).parent):
        if is_sealed(target):
            return False
        discard(root, target)
        return True


def create_parents(root: Path, target: Path) -> None:
    """Create the folders above `target`, replacing anything below `root` that is not a folder.  Raises OSError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        for folder in reversed([item for item in target.parents if item.is_relative_to(root) and item != root]):
            if os.path.lexists(folder) and not folder.is_dir():
                discard(root, folder)
        target.parent.mkdir(parents=True, exist_ok=True)


def link(file: Path, target: Path) -> None:
    """Make a hard link of a file, or a copy where the file system has no hard links.  Raises OSError."""
    try:
        target.hardlink_to(file)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(file, target)


def discard(root: Path, target: Path) -> None:
    """Remove a file or folder atomically: move it to a temporary folder, then delete it."""
    trash = Path(tempfile.mkdtemp(dir=get_process_folder(root)))
    try:
        target.replace(trash / "gone")
    except FileNotFoundError:
        pass
    finally:
        shutil.rmtree(trash, ignore_errors=True)
