"""Cache the names that a shell completes, so that completion neither reads nor decodes unchanged specs.

This module imports little, since a shell waits for it after each press of the tab key.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from assay.lang.source_index import read_unchanged_sources
from assay.lang.workspace import Workspace
from assay.util.atomic import write_file
from assay.util.checksums import seal_text, unseal_text

FOLDER = "names"  # of a cache
FORMAT = 1

Names = list[tuple[str, str]]
"""Names of definitions, each with its documentation."""


def read_names(cache: Path, workspace: Workspace, kinds: Sequence[str], systems: Sequence[str]) -> Names | None:
    """Return the cached names of kinds of definitions in systems; None if specs have changed, or none are cached."""
    path = _find_path(cache, workspace, kinds, systems)
    try:
        text = unseal_text(path.name, path.read_text(encoding="utf-8")) if path else None
        return [(str(name), str(doc)) for name, doc in json.loads(text)] if text else None
    except (OSError, ValueError):
        return None


def write_names(cache: Path, workspace: Workspace, kinds: Sequence[str], systems: Sequence[str], names: Names) -> None:
    """Store names, unless the specs are not in the cache, or it cannot be written."""
    if path := _find_path(cache, workspace, kinds, systems):
        with contextlib.suppress(OSError):
            write_file(cache, path, seal_text(path.name, json.dumps(names)))


def _find_path(cache: Path, workspace: Workspace, kinds: Sequence[str], systems: Sequence[str]) -> Path | None:
    """Return the place of names, under the hash of what they depend on; None if the sources of specs are unknown."""
    sources = [read_unchanged_sources(cache, workspace.root, system) for system in systems]
    if not all(sources):
        return None
    key = hashlib.sha256(json.dumps([FORMAT, sources, [*systems], [*kinds]]).encode()).hexdigest()
    return cache / FOLDER / key
