"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from assay.util.checksums import is_sealed
from assay.util.scratch import process_dir


def write_file(root: Path, place: Path, content: bytes | str) -> None:
    """Write a file below `root`, by way of its scratch.  Raises OSError."""
    handle, fresh = tempfile.mkstemp(dir=process_dir(root))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        clear_way(root, place)
        try:
            Path(fresh).replace(place)
        except IsADirectoryError:
            discard(root, place)
            Path(fresh).replace(place)
    except BaseException as error:
        Path(fresh).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk says so of no file
            error.filename = str(place)
        raise


def install(root: Path, fresh: Path, place: Path) -> None:
    """Make a folder of the scratch of `root` the one at `place`; what was there goes.  Raises OSError."""
    clear_way(root, place)
    while True:
        try:
            fresh.replace(place)
        except OSError:
            if not os.path.lexists(place):
                raise
            discard(root, place)
        else:
            return


def keep(root: Path, fresh: Path, place: Path) -> None:
    """Make a folder of the scratch of `root` the one at `place`, unless somebody has made a sealed one there meanwhile:
    what is in use stays.  Raises OSError."""
    if not is_sealed(place):
        install(root, fresh, place)


def clear_way(root: Path, place: Path) -> None:
    """Make the folders above `place`, from `root` on, in place of anything else that is there.  Raises OSError."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        for folder in reversed([item for item in place.parents if item.is_relative_to(root) and item != root]):
            if os.path.lexists(folder) and not folder.is_dir():
                discard(root, folder)
        place.parent.mkdir(parents=True, exist_ok=True)


def link(file: Path, place: Path) -> None:
    """Give a file another name, or copy it where the file system knows of no such thing.  Raises OSError."""
    try:
        place.hardlink_to(file)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(file, place)


def discard(root: Path, place: Path) -> None:
    """Remove a file or folder at once, by way of the scratch: whoever is stopped leaves no half of it."""
    aside = Path(tempfile.mkdtemp(dir=process_dir(root)))
    try:
        place.replace(aside / "gone")
    except FileNotFoundError:
        pass
    finally:
        shutil.rmtree(aside, ignore_errors=True)
