"""The fonts of reports: which they are now, as they can be replaced while somebody watches."""

from __future__ import annotations

import hashlib
from pathlib import Path

from assay.util import digests


def fonts_hash(folder: Path) -> str:
    """A hash of the names and contents of all files of a folder of fonts."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    told = "".join(f"{path.relative_to(folder).as_posix()}\0{digests.sha256(path)}\0" for path in files)
    return hashlib.sha256(told.encode()).hexdigest()
