"""The file of a build that holds the specs which it was made of."""

from __future__ import annotations

from pathlib import Path

from assay.lang import workspace
from assay.lang.normal_form import CheckedPackage

#: what a build keeps of the specs that it was made of: the normal form of the system's package, as JSON
SPECS = "specs.json"


def write_specs(checked: CheckedPackage, folder: Path, cache: Path) -> None:
    """Keep the package that a build is made of in its folder; what a cache has of it need not be written anew."""
    (folder / SPECS).write_text(workspace.text(checked, cache), encoding="utf-8")
