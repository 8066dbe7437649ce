"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from assay.storage.scratch import own


def put(root: Path, place: Path, content: bytes | str) -> None:
    """Write a file below `root`, by way of its scratch.  Raises OSError."""
    handle, fresh = tempfile.mkstemp(dir=own(root))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        place.parent.mkdir(parents=True, exist_ok=True)
        Path(fresh).replace(place)
    except BaseException as error:
        Path(fresh).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk says so of no file
            error.filename = str(place)
        raise


def install(root: Path, fresh: Path, place: Path) -> None:
    """Make a folder of the scratch of `root` the one at `place`; what was there goes.  Raises OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    while True:
        try:
            fresh.replace(place)
        except OSError:
            if not place.exists():
                raise
            discard(root, place)
        else:
            return


def keep(fresh: Path, place: Path) -> None:
    """Make a folder of the scratch the one at `place`, unless somebody has made one there: what is in use stays."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        fresh.rename(place)
    except OSError:
        if not place.is_dir():
            raise


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
    aside = Path(tempfile.mkdtemp(dir=own(root)))
    try:
        place.replace(aside / "gone")
    except FileNotFoundError:
        pass
    finally:
        shutil.rmtree(aside, ignore_errors=True)
