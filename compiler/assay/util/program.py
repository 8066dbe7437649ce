"""Find the code of Assay: the core, and the packages beside it that come with it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("assay", "assay_cluster", "assay_dhall", "assay_propose")


def find_code_folders() -> dict[str, Path]:
    """Return the folders of the installed packages by their names, without importing any."""
    specs = {name: find_spec(name) for name in PACKAGES}
    return {name: Path(spec.origin).parent for name, spec in specs.items() if spec and spec.origin}


def iter_code_files() -> Iterator[tuple[str, Path]]:
    """Yield the modules of these packages, sorted, each with its path within them; a checkout also has tests."""
    for name, folder in find_code_folders().items():
        for path in sorted(folder.rglob("*.py")):
            inner = path.relative_to(folder)
            if inner.parts[0] != "tests":
                yield f"{name}/{inner.as_posix()}", path


@functools.cache
def hash_program() -> str:
    """Return the hash of these modules."""
    digest = hashlib.sha256()
    for name, path in iter_code_files():
        digest.update(f"{name}\n".encode() + path.read_bytes())
    return digest.hexdigest()
