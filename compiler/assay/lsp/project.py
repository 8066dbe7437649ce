"""Find the problems of specs, where unsaved texts of an editor replace files.

Lines and columns are from 1, columns in characters.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.lang.workspace import ROOT_FILE, Workspace, check_evaluated, find_workspace, get_shipped_workspace
from assay.util.diagnostics import AssayError, Diagnostic, Span
from assay_dhall import DhallError, Evaluation, Evaluator, Module, OverlayPolicy, Problem
from assay_dhall import Span as DhallSpan


@dataclass(frozen=True, slots=True)
class Place:
    """A range in a file; the end is exclusive."""

    path: Path
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with its range, and related ranges."""

    place: Place
    severity: str
    code: str
    message: str
    related: tuple[Place, ...] = ()


class Project:
    """Files that may import each other: of a workspace and the shipped one, or of a folder outside of any."""

    def __init__(self, root: Path, workspace: Workspace | None) -> None:
        self.workspace = workspace
        folders = (
            [root]
            if workspace is None or root == get_shipped_workspace().root
            else [root, get_shipped_workspace().root]
        )
        self.policy = OverlayPolicy(folders)
        self.evaluator = Evaluator(self.policy)
        self._checks: dict[str, tuple[Module, tuple[Finding, ...]]] = {}

    def find_problems(self) -> tuple[Finding, ...]:
        """Return the problems of the open files, and of the systems that read them."""
        open_names = self.policy.list_texts()
        findings: dict[Finding, None] = {}
        reached: set[str] = set()
        for system in self._list_systems():
            root = f"specs/{system}/{ROOT_FILE}"
            problems = self._check_system(system, root)
            names = self._list_read_files(root) | {name for name in open_names if name == root}
            if any(name in names or name.startswith(f"specs/{system}/") for name in open_names):
                findings.update(dict.fromkeys(problems))
                reached |= names
        for name in open_names:
            if name not in reached and name.endswith(".dhall"):
                findings.update(dict.fromkeys(self._evaluate(name)[1]))
        return tuple(findings)

    def convert_span(self, span: DhallSpan) -> Place:
        """Return the place of a span of the evaluator."""
        return Place(self._find_path(span.file), span.line, span.column, span.end_line, span.end_column)

    def _list_systems(self) -> tuple[str, ...]:
        try:
            return self.workspace.list_systems() if self.workspace else ()
        except OSError:
            return ()

    def _list_read_files(self, root: str) -> set[str]:
        """Return the names of the files that the last evaluation of a file read."""
        names: set[str] = set()
        pending = [root]
        while pending:
            module = self.evaluator.modules.get(pending.pop())
            if module is not None and module.name not in names:
                names.add(module.name)
                names.update(name for name, mode, _, _ in module.uses if mode != "Code")
                pending.extend(name for name, mode, _, _ in module.uses if mode == "Code")
        return names

    def _check_system(self, system: str, root: str) -> tuple[Finding, ...]:
        """Return the problems of the files of a system, or, without any, those of its package."""
        evaluated, problems = self._evaluate(root)
        if evaluated is None or self.workspace is None:
            return problems
        cached = self._checks.get(system)
        if cached is None or cached[0] is not evaluated.module:
            findings = tuple(self._convert_diagnostic(item, root) for item in _check(self.workspace, system, evaluated))
            cached = self._checks[system] = evaluated.module, findings
        return cached[1]

    def _evaluate(self, name: str) -> tuple[Evaluation | None, tuple[Finding, ...]]:
        try:
            return self.evaluator.evaluate_name(name), ()
        except DhallError as error:
            return None, tuple(self._convert_problem(problem, name) for problem in error.problems)

    def _convert_problem(self, problem: Problem, root: str) -> Finding:
        place = self.convert_span(problem.span) if problem.span else Place(self._find_path(root), 1, 1, 1, 1)
        related = tuple(self.convert_span(span) for span in problem.related)
        return Finding(place, "error", f"dhall-{problem.code}", _join_message(problem), related)

    def _convert_diagnostic(self, item: Diagnostic, root: str) -> Finding:
        related = tuple(self._convert_diagnostic_span(span) for span in item.related)
        place = self._convert_diagnostic_span(item.span or Span(root))
        return Finding(place, item.severity, item.code, _join_message(item), related)

    def _convert_diagnostic_span(self, span: Span) -> Place:
        line, column = max(span.line, 1), max(span.column, 1)
        return Place(self._find_path(span.file), line, column, line, column + span.length)

    def _find_path(self, name: str) -> Path:
        return self.policy.find(name) or self.policy.folders[0] / name


class Projects:
    """The projects of all files that an editor has open."""

    def __init__(self) -> None:
        self._projects: dict[Path, Project] = {}

    def find_problems(self, texts: Mapping[Path, str]) -> tuple[Finding, ...]:
        """Return the problems of open files, and of all systems that read them."""
        projects = {id(project): project for project in (self.open(path, texts)[0] for path in texts)}
        return tuple(finding for project in projects.values() for finding in project.find_problems())

    def open(self, path: Path, texts: Mapping[Path, str]) -> tuple[Project, str]:
        """Return the project of a file, with the texts of the open files, and the name of the file in it."""
        root, workspace = find_root(path)
        project = self._projects.get(root)
        if project is None or project.workspace != workspace:
            project = self._projects[root] = Project(root, workspace)
        project.policy.set_texts(texts)
        return project, project.policy.get_name(path)


def find_root(path: Path) -> tuple[Path, Workspace | None]:
    """Return the folder whose files a file may import: its workspace, or its own folder when it is in none."""
    path = Path(os.path.normpath(path.absolute()))
    with suppress(AssayError, OSError):  # specs without a system
        workspace = find_workspace(path.parent)
        if path.is_relative_to(workspace.root):
            return workspace.root, workspace
    root = next((folder.parent for folder in path.parents if folder.name == "specs"), None)
    return (root, Workspace(root)) if root else (path.parent, None)


def _check(workspace: Workspace, system: str, evaluated: Evaluation) -> tuple[Diagnostic, ...]:
    try:
        return check_evaluated(workspace, system, evaluated)[1]
    except AssayError as error:
        return error.diagnostics


def _join_message(item: Problem | Diagnostic) -> str:
    """Return the complete text of a problem, as `assay check` prints it below the excerpt."""
    lines = [item.message]
    lines += [f"{name}: {text}" for name, text in (("expected", item.expected), ("found", item.found)) if text]
    lines += [f"note: {note}" for note in item.notes]
    return "\n".join([*lines, f"hint: {item.hint}"] if item.hint else lines)
