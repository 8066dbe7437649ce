"""Packages that today's checks refuse, read as far as that goes: what was published once can be compared still."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.lang import normal_form, workspace
from assay.lang.model.package import Package
from assay.lang.normal_form import CheckedPackage
from assay.lang.workspace import Workspace
from assay.util.diagnostics import AssayError, Diagnostic

if TYPE_CHECKING:
    from assay.lang.sources import SourceFile


@dataclass(frozen=True, slots=True)
class Read:
    """A package; `refused` is what checks have against it (nothing: it has passed them)."""

    checked: CheckedPackage
    refused: tuple[Diagnostic, ...] = ()


def load(found: Workspace, system: str, cache: Path | None) -> Read:
    """A system's package, checked where it passes; else out of its committed normal form, where that is of its sources,
    or out of its Dhall, with all worked out as of a checked one.

    Raises AssayError, with what the checks say, where even that does not go.
    """
    try:
        return Read(workspace.load(found, system, cache))
    except AssayError as error:
        with suppress(AssayError, OSError):
            files = workspace.scan(found, system)
            for package in (_committed, _evaluated):
                checked = _resolved(package, found, system, files)
                if checked:
                    return Read(checked, error.diagnostics)
        raise


def _resolved(
    made: Callable[[Workspace, str, Sequence[SourceFile], str], Package | None],
    found: Workspace,
    system: str,
    files: Sequence[SourceFile],
) -> CheckedPackage | None:
    """What a reader makes of the files of a system, its units and definitions worked out; None where it cannot be."""
    from assay.lang.sources import hash_sources

    sources = hash_sources(files)
    try:
        package = made(found, system, files, sources)
        return normal_form.resolve(package, sources) if package and package.system == system else None
    except Exception:  # nothing has checked it: whatever comes of that, it cannot be read
        return None


def _committed(found: Workspace, system: str, _files: Sequence[SourceFile], sources: str) -> Package | None:
    """The package of the committed normal form, where that is of these sources."""
    place = found.normal_form(system)
    text = place.read_text(encoding="utf-8") if place.is_file() else ""
    return normal_form.load(text, str(place)).package if normal_form.header(text) == sources else None


def _evaluated(found: Workspace, system: str, files: Sequence[SourceFile], _sources: str) -> Package:
    """The package that the Dhall yields."""
    from assay.lang import decode

    root = found.specs / system / workspace.ROOT_FILE
    data: Any = workspace.evaluate_data(found, system, files)
    return decode.package(data, str(root), lenient=True)
