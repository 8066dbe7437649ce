"""Read the prose of reports from a workspace, and store it with builds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.lang.workspace import Workspace, get_positions
from assay.report.formatted_text import name_anchor
from assay.report.prose import Prose, ProseScope, read_prose_file
from assay.util.diagnostics import AssayError, Diagnostic, Span, fail, raise_all, suggest_nearest

#: The file of a build with the prose of its report: text by file, as JSON.
KEPT = "prose.json"
#: the names that a build gives to edited observations, and the begin of those that it gives to texts of an author
OBSERVATIONS, AUTHOR_TEXTS = "observations.md", "texts/"

Texts = Mapping[str, str]
"""The texts of prose files, by the names that the report uses."""


def read_prose(workspace: Workspace, checked: CheckedPackage, report: Report) -> Mapping[str, Prose]:
    """Read the prose of a report, by file. Raises AssayError with all problems in it."""
    problems: list[Diagnostic] = []
    prose_by_file: dict[str, Prose] = {}
    anchors = [name_anchor(part.title) for part in report.parts]
    groups = [group.name for group in report.groups]
    for name in dict.fromkeys(file for part in report.parts for file in part.prose_files):
        display_name, path = f"specs/{checked.package.system}/{name}", workspace.specs / checked.package.system / name
        if not workspace.contains_path(path):
            problems.append(Diagnostic("prose", "a link points outside the workspace", Span(display_name)))
            continue
        if not path.exists():
            problems.append(_create_missing_problem(workspace, checked, report, name, display_name))
            continue
        needs_group = any(name in part.prose_files and not part.group for part in report.parts if groups)
        scope = ProseScope(checked, report.choices, anchors, groups, needs_group, report.compared_metrics)
        prose_by_file[name] = read_prose_file(path, display_name, scope, problems)
    raise_all(problems)
    return prose_by_file


def _create_missing_problem(
    workspace: Workspace, checked: CheckedPackage, report: Report, name: str, display_name: str
) -> Diagnostic:
    """Return the problem of a missing prose file, at the line of the specs that names it."""
    system = checked.package.system
    span, excerpt = get_positions(workspace, system)(name)
    prose_path = workspace.specs / system / name
    stems = [path.stem for path in prose_path.parent.glob(f"*{prose_path.suffix}")]
    return Diagnostic(
        "prose",
        f"report `{report.name}` has prose that does not exist: `{name}`",
        span,
        excerpt,
        expected=f"the file {display_name}",
        hint=suggest_nearest(prose_path.stem, stems),
    )


def get_texts(prose: Mapping[str, Prose]) -> dict[str, str]:
    """Return the texts of prose by file."""
    return {name: item.text for name, item in sorted(prose.items())}


def read_texts_by_report(workspace: Workspace, checked: CheckedPackage) -> dict[str, Texts]:
    """Return the texts of the prose of every report. Raises AssayError with all distinct problems."""
    texts: dict[str, Texts] = {}
    problems: list[Diagnostic] = []
    for report in checked.package.reports:
        try:
            texts[report.name] = get_texts(read_prose(workspace, checked, report))
        except AssayError as error:
            problems += error.diagnostics
    raise_all(dict.fromkeys(problems))
    return texts


def read_unchecked_texts(workspace: Workspace, checked: CheckedPackage) -> dict[str, Texts]:
    """Return the texts of the prose of every report, unchecked; unreadable files have empty texts."""

    def read_text(name: str) -> str:
        path = workspace.specs / checked.package.system / name
        try:
            return path.read_text(encoding="utf-8") if workspace.contains_path(path) else ""
        except (OSError, ValueError):
            return ""

    return {
        report.name: {file: read_text(file) for part in report.parts for file in part.prose_files}
        for report in checked.package.reports
    }


def write_prose_texts(prose: Mapping[str, Prose], folder: Path) -> None:
    """Store the prose of a report in the folder of its build."""
    text = json.dumps(get_texts(prose), ensure_ascii=False, indent=1, sort_keys=True)
    (folder / KEPT).write_text(text + "\n", encoding="utf-8")


def read_stored_texts(folder: Path) -> Texts | None:
    """Return the prose that a build stored, or None. Raises AssayError if the file has another format."""
    path = folder / KEPT
    if not path.is_file():
        return None
    try:
        texts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise fail("prose", f"the prose of the build cannot be read: {error}", span=Span(str(path))) from None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise fail("prose", "the prose of the build is not what a build writes: text by file", span=Span(str(path)))
    return texts
