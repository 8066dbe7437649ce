"""The cache: a folder of results by the hash of all that they were made of.  Entries appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.spec.diagnostics import fail


def default_folder() -> Path:
    """Where caches go when nothing is said: `assay` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "assay"


@dataclass(frozen=True, slots=True)
class Store:
    """A cache folder."""

    folder: Path

    def place(self, kind: str, key: str) -> Path:
        """Where an entry stands, or would."""
        return self.folder / kind / key

    @contextmanager
    def filling(self, kind: str, key: str) -> Iterator[Path]:
        """A fresh folder that becomes the entry when the block ends well, and vanishes when it does not."""
        place = self.place(kind, key)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(prefix=f"{key[:16]}-", dir=place.parent))
        except OSError as error:
            raise fail(
                "cache",
                f"the cache folder cannot be written: {error.strerror}: {self.folder}",
                hint="name another with --cache",
            ) from None
        try:
            yield fresh
            if place.exists():
                shutil.rmtree(place, ignore_errors=True)
            fresh.replace(place)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
