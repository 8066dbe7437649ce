"""Which files a specification consists of, found before any is evaluated; confinement to the workspace.

Imports are relative paths that stay inside the workspace.  A name that the workspace does not have is looked
up at the same relative name among the shipped files (the two are one tree, the workspace on top).
Everything else that Dhall can import (the environment, the network, absolute and home paths) is refused with
its place.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay.spec.dhall_scan import ImportRef, Scan, endless, imports, interpolations, scan
from assay.spec.diagnostics import AssayError, Diagnostic, Span, did_you_mean, excerpt_at, fail
from assay.storage.paths import resolve_path

MAX_BYTES = 5_000_000
MAX_FILES = 2000
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Import:
    """A resolved import: the name of the imported file, and where and how the importing file says so."""

    target: str
    line: int
    column: int
    as_text: bool


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that evaluation reads; `name` is its path relative to the workspace, with `/`."""

    name: str
    path: Path = field(compare=False)
    is_code: bool
    sha256: str
    content: bytes = field(repr=False)
    imports: tuple[Import, ...] = field(default=(), repr=False)
    interpolations: tuple[tuple[int, int], ...] = field(default=(), repr=False)  # offsets of `${ here }` in texts

    @property
    def text(self) -> str:
        """The content as text; bytes that are not UTF-8 are replaced (Dhall files have none)."""
        return self.content.decode("utf-8", errors="replace")


def sources(root_file: Path, workspace: Path, shipped: Path | None = None) -> tuple[SourceFile, ...]:
    """Every file that the evaluation of `root_file` can read, sorted by name.

    Raises `AssayError` with all problems at once: refused, missing and unreadable imports, cycles, too much
    text.
    """
    tree = _Tree(workspace, shipped)
    walk = _Walk(tree)
    walk.visit(root_name(root_file, workspace, shipped))
    if walk.problems:
        raise AssayError(tuple(walk.problems))
    return tuple(walk.files[name] for name in sorted(walk.files))


def sources_hash(files: Iterable[SourceFile]) -> str:
    """The SHA-256 of the lines `<sha256>  <name>` sorted by name, which is what `sha256sum` prints."""
    lines = (f"{file.sha256}  {file.name}\n" for file in sorted(files, key=lambda file: file.name))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def root_name(root_file: Path, workspace: Path, shipped: Path | None = None) -> str:
    """The name of the root file relative to the workspace, or to the shipped files when it is one of them."""
    bases = [_absolute(base) for base in (workspace, shipped) if base is not None]
    for candidate in (_absolute(root_file), _absolute(workspace / root_file)):
        for base in bases:
            if candidate.is_relative_to(base):
                return candidate.relative_to(base).as_posix()
    raise fail(
        "dhall-import",
        f"`{root_file.name}` is not in the workspace",
        hint="only files of the workspace can be evaluated",
    )


def _absolute(path: Path) -> Path:
    """The path from the top, without `..`; symbolic links are not followed."""
    return Path(os.path.normpath(path.absolute()))


class _Tree:
    """The workspace laid over the shipped files."""

    def __init__(self, workspace: Path, shipped: Path | None) -> None:
        self.bases = tuple(base for base in (workspace, shipped) if base is not None)
        self.real = tuple(resolve_path(base) for base in self.bases)

    def find(self, name: str) -> Path | None:
        """The file or folder of that name, the workspace's before the shipped one."""
        for base in self.bases:
            path = base / name
            if os.path.lexists(path):
                return path
        return None

    def holds(self, path: Path) -> bool:
        """Whether the file is inside once every symbolic link is followed."""
        real = resolve_path(path)
        return any(real.is_relative_to(base) for base in self.real)

    def siblings(self, name: str) -> Iterator[str]:
        """The names of the files in the folder of `name`."""
        folder = posixpath.dirname(name)
        for base in self.bases:
            if (base / folder).is_dir():
                yield from (entry.name for entry in (base / folder).iterdir() if entry.is_file())


@dataclass(frozen=True, slots=True)
class _Where:
    """The file and the import that led somewhere."""

    path: Path
    name: str
    scanned: Scan
    ref: ImportRef

    def problem(self, message: str, hint: str = "") -> Diagnostic:
        line, column = self.scanned.place(self.ref.start)
        span = Span(self.name, line, column, len(self.ref.text))
        excerpt = excerpt_at(self.path, line, column, len(self.ref.text))
        return Diagnostic("dhall-import", message, span, excerpt, hint=hint)


class _Walk:
    """A depth-first walk over the imports; collects files and problems."""

    def __init__(self, tree: _Tree) -> None:
        self.tree = tree
        self.files: dict[str, SourceFile] = {}
        self.problems: list[Diagnostic] = []
        self.trail: list[str] = []
        self.visited: set[str] = set()
        self.bytes = 0

    def visit(self, name: str, where: _Where | None = None, as_text: bool = False) -> None:
        """Take in a file and everything that it imports."""
        if name in self.trail and not as_text:
            self._report(where, "imports form a cycle: " + _cycle(self.trail, name), _CYCLE_HINT)
            return
        if name in self.visited or (as_text and name in self.files):
            return
        content = self._read(name, where)
        if content is None:
            return
        path = self.tree.find(name) or self.tree.bases[0]
        if as_text:
            self.files[name] = SourceFile(name, path, False, hashlib.sha256(content).hexdigest(), content)
        else:
            self._visit_code(name, path, content)

    def _visit_code(self, name: str, path: Path, content: bytes) -> None:
        self.visited.add(name)
        text = self._decode(name, content)
        scanned = scan(text or "")
        if text is None or not self._is_closed(name, path, scanned):
            return
        self.trail.append(name)
        links = tuple(self._links(name, path, scanned))
        self.trail.pop()
        digest = hashlib.sha256(content).hexdigest()
        self.files[name] = SourceFile(name, path, True, digest, content, links, tuple(interpolations(scanned)))

    def _decode(self, name: str, content: bytes) -> str | None:
        message, line = "", 1
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            message, line = "the file is not UTF-8 text", content.count(b"\n", 0, error.start) + 1
        else:
            if not text.startswith("\ufeff"):
                return text
            message = "the file begins with a byte order mark"
        hint = "save the file in UTF-8 without a byte order mark"
        self.problems.append(Diagnostic("dhall-parse", message, Span(name, line), hint=hint))
        return None

    def _is_closed(self, name: str, path: Path, scanned: Scan) -> bool:
        """Whether every comment and text ends.

        The evaluator reads those that do not in ways of its own, so what is an import could not be known.
        """
        token = endless(scanned)
        if token is None:
            return True
        line, column = scanned.place(token.start)
        span = Span(name, line, column, len(token.text))
        what = "comment" if token.kind == "comment" else "text"
        message, hint = f"the {what} that begins here does not end", _HOW_TO_END[token.text]
        if token.text == "''" and any(item.text == token.text for item in scanned.tokens if item.start < token.start):
            hint += "; if this one is the end of a text, one above it lacks its own"
        excerpt = excerpt_at(path, line, column, len(token.text))
        self.problems.append(Diagnostic("dhall-parse", message, span, excerpt, hint=hint))
        return False

    def _links(self, name: str, path: Path, scanned: Scan) -> Iterator[Import]:
        for ref in imports(scanned):
            where = _Where(path, name, scanned, ref)
            refusal = _refusal(ref)
            target = None if refusal else _resolve(name, ref.parts)
            if refusal:
                self.problems.append(where.problem(*refusal))
            elif target is None:
                self.problems.append(where.problem(f"the import `{ref.text}` leaves the workspace", _INSIDE))
            else:
                line, column = scanned.place(ref.start)
                self.visit(target, where, ref.mode == "Text")
                yield Import(target, line, column, ref.mode == "Text")

    def _read(self, name: str, where: _Where | None) -> bytes | None:
        path = self.tree.find(name)
        if path is None:
            self._report(where, f"the file `{name}` does not exist", self._missing_hint(name, where))
        elif not self.tree.holds(path):
            self._report(where, f"`{name}` is a symbolic link that leads out of the workspace", _INSIDE)
        elif not path.is_file():
            what = "a folder" if path.is_dir() else "not a regular file"
            self._report(where, f"`{name}` is {what}", "name a file, for example its `package.dhall`")
        elif len(self.trail) >= MAX_DEPTH:
            self._report(where, f"imports are nested more than {MAX_DEPTH} files deep", "flatten the imports")
        elif len(self.files) >= MAX_FILES or self.bytes + path.stat().st_size > MAX_BYTES:
            message = f"the specification is larger than {MAX_FILES} files or {MAX_BYTES // 1_000_000} MB"
            self._report(where, message, "data belongs in runs, not in specifications")
        else:
            return self._bytes(path, name, where)
        return None

    def _bytes(self, path: Path, name: str, where: _Where | None) -> bytes | None:
        try:
            content = path.read_bytes()
        except OSError as error:
            reason = (error.strerror or "error").lower()
            self._report(where, f"the file `{name}` cannot be read: {reason}", "")
            return None
        self.bytes += len(content)
        return content

    def _report(self, where: _Where | None, message: str, hint: str) -> None:
        item = where.problem(message, hint) if where else Diagnostic("dhall-import", message, hint=hint)
        if item not in self.problems:
            self.problems.append(item)

    def _missing_hint(self, name: str, where: _Where | None) -> str:
        outer, dot, selected = name.rpartition(".")
        if dot and where and outer.endswith(".dhall") and self.tree.find(outer):
            written = where.ref.text.removesuffix("." + selected)
            return f"to select a field of an import, put it in parentheses: `({written}).{selected}`"
        siblings = list(self.tree.siblings(name))
        return did_you_mean(posixpath.basename(name), siblings) if siblings else _RELATIVE


_INSIDE = "imports are relative paths to files inside the workspace"
_RELATIVE = "an import is relative to the file that it stands in"
_HOW_TO_END = {
    "{-": "a comment ends with `-}`, and so does every comment inside it",
    '"': "a text begins and ends with a quote on one line; one of several lines stands between `''`",
    "''": "a text of several lines ends with `''`",
}
_CYCLE_HINT = "move what both files need into a third one"


def _cycle(trail: list[str], name: str) -> str:
    return " -> ".join([*trail[trail.index(name) :], name])


def _refusal(ref: ImportRef) -> tuple[str, str] | None:
    """Why an import is refused: message and hint; nothing when it is a relative path."""
    if ref.form == "env":
        return f"the import `{ref.text}` reads the environment", _INSIDE
    if ref.form == "http":
        return f"the import `{ref.text}` reads from the network", _INSIDE
    if ref.form == "missing":
        return "the import `missing` can never be resolved", "as the name of a field it needs backticks"
    if ref.parts[0] == "~":
        return f"the import `{ref.text}` is in a home folder", _INSIDE
    if ref.parts[0] == "":
        return f"the import `{ref.text}` is an absolute path", _INSIDE
    if ref.mode not in ("", "Text"):
        return f"`as {ref.mode}` is not supported", "a file is imported as Dhall or `as Text`"
    return None


def _resolve(importer: str, parts: tuple[str, ...]) -> str | None:
    """The name of an imported file; nothing when the path leaves the tree, be it on the way."""
    names = list(Path(importer).parts[:-1])
    for part in parts:
        if part == "..":
            if not names:
                return None
            names.pop()
        elif part not in (".", ""):
            names.append(part)
    return "/".join(names)
