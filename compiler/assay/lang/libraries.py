"""List, compare and write the schema and the Prelude below `specs/`, which belong to no system.

They are shipped with Assay.  A workspace may have copies so that other Dhall tools find them; Assay uses these copies.
After an upgrade they may differ from what the code expects.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.util.diagnostics import Diagnostic

LIBRARIES = ("schema", "Prelude")
MAX_LISTED_FILES = 5  # files that a message names


def list_library_files(root: Path) -> Iterator[str]:
    """Yield names of the Dhall files of both libraries of a workspace, relative to it and sorted."""
    for library in LIBRARIES:
        yield from sorted(path.relative_to(root).as_posix() for path in (root / "specs" / library).rglob("*.dhall"))


def list_differing_files(root: Path, shipped: Path) -> list[str]:
    """Return names of shipped library files that a workspace has with another content."""
    return [name for name in list_library_files(shipped) if _is_different(root / name, shipped / name)]


def _is_different(path: Path, shipped: Path) -> bool:
    try:
        return path.is_file() and path.read_bytes() != shipped.read_bytes()
    except OSError:  # the stage that needs the file reports that it cannot be read
        return False


def warn_of_differences(root: Path, shipped: Path) -> tuple[Diagnostic, ...]:
    """Return a warning when a workspace's libraries differ from the shipped ones."""
    names = list_differing_files(root, shipped)
    if not names:
        return ()
    listing = ", ".join(names[:MAX_LISTED_FILES]) + (
        f" and {len(names) - MAX_LISTED_FILES} more" if len(names) > MAX_LISTED_FILES else ""
    )
    message = "the schema in the workspace differs from the schema of this version of Assay"
    hint = "run `assay init --update-schema DIR` to update the schema of the workspace DIR"
    return (Diagnostic("schema-differs", message, found=f"other contents of {listing}", hint=hint, severity="warning"),)


def write_libraries(root: Path, shipped: Path) -> list[str]:
    """Write the shipped libraries into a workspace; return names of files that are new or changed.

    Files that are not shipped stay. Raises OSError.
    """
    changed_files = []
    for name in list_library_files(shipped):
        target = root / name
        if target.is_file() and target.read_bytes() == (shipped / name).read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.new")
        shutil.copyfile(shipped / name, temporary)
        temporary.replace(target)
        changed_files.append(name)
    return changed_files
