"""What imports name, and the policy that decides which of them are read.

The evaluator itself opens no file: it asks a policy, which by default knows only the files inside some folders.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from assay.dhall.errors import suggest
from assay.dhall.syntax import Target


class Refusal(Exception):  # noqa: N818
    """An import that is not read; `recoverable` tells whether the operator `?` may try its other side."""

    def __init__(self, message: str, hint: str = "", recoverable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.recoverable = recoverable


class ImportPolicy(Protocol):
    """Decides which imports are allowed, and reads them; `modes` are the ways in which files may be imported."""

    modes: frozenset[str]

    def name(self, target: Target) -> str:
        """Name a file for messages."""

    def read(self, target: Target, written: str) -> bytes:
        """Give the content, or raise `Refusal`; `written` is the import as it stands in the file."""

    def read_cached(self, sha256: str) -> bytes | None:
        """Give the binary normal form that has a semantic hash, where it is kept."""


def chain(parent: Target | None, child: Target) -> Target:
    """Give what an import names, seen from the file that it is in."""
    if child.kind == "path" and child.prefix in (".", ".."):
        above = ("..",) if child.prefix == ".." else ()
        if parent is None or parent.kind not in ("path", "url"):
            return Target("path", ".", canonicalize((*above, *child.parts)))
        parts = canonicalize((*parent.parts[:-1], *above, *child.parts))
        return Target(parent.kind, parent.prefix, parts)
    if child.kind in ("path", "url"):
        return Target(child.kind, child.prefix, canonicalize(child.parts), child.query)
    return child


def canonicalize(parts: Sequence[str]) -> tuple[str, ...]:
    """Leave out `.`, and each `..` together with the folder before it."""
    canonical: list[str] = []
    for part in parts:
        if part == ".." and canonical and canonical[-1] != "..":
            canonical.pop()
        elif part != ".":
            canonical.append(part)
    return tuple(canonical)


def show_location(target: Target) -> str:
    """Write a target as `as Location` does."""
    if target.kind == "path" and target.parts[:1] == ("..",):
        return "/".join(target.parts)
    return str(target)


_INSIDE = "imports are relative paths to files inside the workspace"
_RELATIVE = "an import is relative to the file that it is in"
MODES = frozenset(("Code", "Text"))


class FolderPolicy:
    """Allows the files inside some folders, and nothing else.

    The folders are laid over each other: a file is taken from the first that has its name. Names are relative, with
    `/`. Symbolic links are followed only where they stay inside. Files are imported as Dhall or `as Text`.
    """

    def __init__(self, *roots: Path, modes: frozenset[str] = MODES) -> None:
        self.modes = modes
        self.roots = tuple(Path(os.path.normpath(root.absolute())) for root in roots)
        self.real = tuple(Path(os.path.realpath(root)) for root in self.roots)

    def find_target(self, path: str | Path) -> Target:
        """Give the target of a file to begin with: a path inside a root, or relative to the first."""
        for candidate in (Path(path).absolute(), self.roots[0] / path):
            normal = Path(os.path.normpath(candidate))
            for root in self.roots:
                if normal.is_relative_to(root):
                    return Target("path", ".", normal.relative_to(root).parts)
        raise Refusal(f"`{Path(path).name}` is not in the workspace", "only files of the workspace can be evaluated")

    def name(self, target: Target) -> str:
        """Name a file by its path relative to the roots."""
        return "/".join(target.parts) if target.kind == "path" and target.prefix == "." else str(target)

    def read_cached(self, sha256: str) -> bytes | None:  # noqa: ARG002
        """Keep no normal forms."""
        return None

    def read(self, target: Target, written: str) -> bytes:
        """Read a file inside the roots."""
        self._refuse_outside(target, written)
        name = self.name(target)
        path = self._find(name)
        if path is None:
            raise Refusal(f"the file `{name}` does not exist", self._hint_missing(name, written), recoverable=True)
        if not any(Path(os.path.realpath(path)).is_relative_to(root) for root in self.real):
            raise Refusal(f"`{name}` is a symbolic link that leads out of the workspace", _INSIDE)
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "not a regular file"
            raise Refusal(f"`{name}` is {kind}", "name a file, for example its `package.dhall`")
        try:
            return path.read_bytes()
        except OSError as error:
            reason = (error.strerror or "error").lower()
            raise Refusal(f"the file `{name}` cannot be read: {reason}") from None

    @staticmethod
    def _refuse_outside(target: Target, written: str) -> None:
        if target.kind == "env":
            raise Refusal(f"the import `{written}` reads the environment", _INSIDE)
        if target.kind == "url":
            raise Refusal(f"the import `{written}` reads from the network", _INSIDE)
        if target.prefix == "~":
            raise Refusal(f"the import `{written}` is in a home folder", _INSIDE)
        if target.prefix == "":
            raise Refusal(f"the import `{written}` is an absolute path", _INSIDE)
        if target.parts[:1] == ("..",):
            raise Refusal(f"the import `{written}` leaves the workspace", _INSIDE)
        if any("\0" in part or "/" in part or part == ".." for part in target.parts):
            raise Refusal(f"the import `{written}` is no path", _INSIDE)

    def _find(self, name: str) -> Path | None:
        paths = (root / name for root in self.roots)
        return next((path for path in paths if os.path.lexists(path)), None)

    def _hint_missing(self, name: str, written: str) -> str:
        outer, dot, selected = name.rpartition(".")
        if dot and outer.endswith(".dhall") and self._find(outer):
            file = written.removesuffix(f".{selected}")
            return f"to select a field of an import, put it in parentheses: `({file}).{selected}`"
        siblings = list(self._list_siblings(name))
        return suggest(posixpath.basename(name), siblings) if siblings else _RELATIVE

    def _list_siblings(self, name: str) -> Iterator[str]:
        for root in self.roots:
            folder = root / posixpath.dirname(name)
            if folder.is_dir():
                yield from (entry.name for entry in folder.iterdir() if entry.is_file())
