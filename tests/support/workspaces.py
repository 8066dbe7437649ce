"""Create workspaces: copies of specs and queries with changed texts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from assay.lang.positions import Place
from tests.support.laboratory import ROOT

#: file of the workspace, a text in it, and the replacement of its first occurrence
Edit = tuple[str, str, str]


class NoPositions:
    """Positions of a package without sources: no word has a place."""

    def __call__(self, word: str, skipped: int = 0, within: Sequence[str] = ()) -> Place:  # noqa: ARG002
        return None, ""

    def find_field(self, word: str, name: str) -> Place:  # noqa: ARG002
        return None, ""

    def find_declaration(self, word: str) -> Place:  # noqa: ARG002
        return None, ""


NO_POSITIONS = NoPositions()


def copy_workspace(target: Path, *edits: Edit) -> Path:
    """Copy specs and queries, without goldens and templates, and apply edits."""
    for name in ("specs", "queries"):
        shutil.copytree(ROOT / name, target / name)
    for file, text, replacement in edits:
        edit_file(target / file, text, replacement)
    return target


def edit_file(file: Path, text: str, replacement: str) -> None:
    """Replace the first occurrence of a text in a file."""
    content = file.read_text(encoding="utf-8")
    assert text in content, f"{file} has no {text!r}"
    file.write_text(content.replace(text, replacement, 1), encoding="utf-8")
