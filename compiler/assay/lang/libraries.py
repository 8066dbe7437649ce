"""The schema and the Prelude below `specs/`: what specs import, and no system.

They come with Assay. A workspace that has copies of its own, so that other Dhall tools find them, uses these; after an
upgrade they may differ from what the code expects.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.util.diagnostics import Diagnostic

LIBRARIES = ("schema", "Prelude")
SHOWN = 5  # files that a message names


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
    except OSError:  # whoever needs the file reports that it cannot be read
        return False


def warn_of_differences(root: Path, shipped: Path) -> tuple[Diagnostic, ...]:
    """Return a warning when a workspace's libraries differ from the shipped ones."""
    names = list_differing_files(root, shipped)
    if not names:
        return ()
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    message = "the schema in the workspace is not the one of this version of Assay"
    hint = "`assay init --update-schema DIR` writes the one of this version into the workspace DIR"
    return (Diagnostic("schema-differs", message, found=f"other contents of {listed}", hint=hint, severity="warning"),)


def write_libraries(root: Path, shipped: Path) -> list[str]:
    """Write the shipped libraries into a workspace; return names of files that are new or changed.

    Files that are not shipped stay. Raises OSError.
    """
    written = []
    for name in list_library_files(shipped):
        place = root / name
        if place.is_file() and place.read_bytes() == (shipped / name).read_bytes():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f".{place.name}.new")
        shutil.copyfile(shipped / name, beside)
        beside.replace(place)
        written.append(name)
    return written
