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


def write_rows_of_requests(place: Path, sql: str) -> None:
    """Give the grain of the starter the rows of a query of its own over `request_received`."""
    query = place / "queries" / "service" / "requests.sql"
    query.parent.mkdir(parents=True, exist_ok=True)
    query.write_text(sql, encoding="utf-8")
    package = place / "specs" / "service" / "package.dhall"
    fields = "{ sql = ../../queries/service/requests.sql as Text, uses = [ e.received.name ] }"
    if fields not in package.read_text(encoding="utf-8"):
        edit_file(package, "[ request.relation ]", f"[ request.relation // {fields} ]")
