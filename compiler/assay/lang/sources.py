"""Read the spec files of a system, confined to the workspace, and evaluate them.

Imports are relative paths that stay inside the workspace.  A name that the workspace does not have is looked up among
the shipped files: the two are one tree, with the workspace on top.  Other imports (the environment, the network,
absolute and home paths) are refused with their position.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import assay_dhall
from assay.util.diagnostics import AssayError, Diagnostic, Span, fail, format_excerpt
from assay_dhall.collect import collect_files

_LOCK = threading.Lock()
_EVALUATORS: dict[tuple[Path, ...], assay_dhall.Evaluator] = {}
#: `S.Column`, as the evaluator prints types
_COLUMN_TYPE = "{ doc : Text, name : Text, type : Text, unit : { name : Text, symbol : Text } }"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that evaluation reads; `name` is its path relative to the workspace, with `/`."""

    name: str
    path: Path = field(compare=False)
    is_code: bool
    sha256: str
    content: bytes = field(repr=False)

    @property
    def text(self) -> str:
        """Return the content as text; bytes that are not UTF-8 are replaced (Dhall files have none)."""
        return self.content.decode("utf-8", errors="replace")


class _SourcesPolicy(assay_dhall.FolderPolicy):
    """Reads only sources that were read before, so that the evaluated content is the hashed content."""

    def __init__(self, folders: Sequence[Path], contents: Mapping[str, bytes]) -> None:
        super().__init__(folders)
        self._contents = contents

    def read(self, name: str) -> bytes:
        if name not in self._contents:
            raise assay_dhall.ImportRefusedError(f"the file `{name}` does not exist", is_absent=True)
        return self._contents[name]


def read_sources(root_file: Path, workspace: Path, shipped: Path | None = None) -> tuple[SourceFile, ...]:
    """Return every file that the evaluation of `root_file` reads, sorted by name.

    Raises `AssayError` with all problems at once: refused, missing and unreadable imports, cycles, files that are not
    expressions, too much text.
    """
    policy = assay_dhall.FolderPolicy(_list_folders(workspace, shipped))
    name = get_root_name(root_file, workspace, shipped)
    with _LOCK:
        evaluator = _get_evaluator(policy)
        try:
            files = collect_files(evaluator, name)
        except assay_dhall.DhallError as error:
            raise AssayError(tuple(convert_problem(problem, policy) for problem in error.problems)) from None
    return tuple(
        SourceFile(
            item.name,
            policy.find(item.name) or policy.folders[0] / item.name,
            item.mode == "Code",
            hashlib.sha256(item.content).hexdigest(),
            item.content,
        )
        for item in files
    )


def evaluate_sources(
    root: str, files: Sequence[SourceFile], workspace: Path, shipped: Path | None = None
) -> assay_dhall.Evaluation:
    """Evaluate the file named `root` among sources that `read_sources` returned; raise `AssayError`.

    Files that did not change since the last evaluation in this process are not evaluated again.
    """
    folders = _list_folders(workspace, shipped)
    policy = _SourcesPolicy(folders, {file.name: file.content for file in files})
    with _LOCK:
        evaluator = _get_evaluator(policy)
        try:
            return evaluator.evaluate_name(root)
        except assay_dhall.DhallError as error:
            reader = assay_dhall.FolderPolicy(folders)
            raise AssayError(tuple(convert_problem(problem, reader) for problem in error.problems)) from None


def convert_data(evaluated: assay_dhall.Evaluation, workspace: Path, shipped: Path | None = None) -> object:
    """Return a value as plain data (see `assay_dhall.to_data`); raise `AssayError` for functions and types."""
    try:
        return assay_dhall.to_data(evaluated.value, tags=True)
    except assay_dhall.DhallError as error:
        policy = assay_dhall.FolderPolicy(_list_folders(workspace, shipped))
        raise AssayError(tuple(convert_problem(problem, policy) for problem in error.problems)) from None


def evaluate_file(root_file: Path, workspace: Path, shipped: Path | None = None) -> object:
    """Return the value of a Dhall file as plain data, the same in every process; raise `AssayError`."""
    files = read_sources(root_file, workspace, shipped)
    evaluated = evaluate_sources(get_root_name(root_file, workspace, shipped), files, workspace, shipped)
    return convert_data(evaluated, workspace, shipped)


def hash_sources(files: Iterable[SourceFile]) -> str:
    """Return the SHA-256 of the lines `<sha256>  <name>` sorted by name, which is what `sha256sum` prints."""
    lines = (f"{file.sha256}  {file.name}\n" for file in sorted(files, key=lambda file: file.name))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def get_root_name(root_file: Path, workspace: Path, shipped: Path | None = None) -> str:
    """Return the name of the root file relative to the workspace, or to the shipped files when it is one of them."""
    policy = assay_dhall.FolderPolicy(_list_folders(workspace, shipped))
    for candidate in (root_file, workspace / root_file):
        try:
            return policy.get_name(candidate)
        except assay_dhall.ImportRefusedError:
            continue
    hint = "only files of the workspace can be evaluated"
    raise fail("dhall-import", f"`{root_file.name}` is not in the workspace", hint=hint)


def convert_problem(problem: assay_dhall.Problem, policy: assay_dhall.FolderPolicy) -> Diagnostic:
    """Return a problem of the evaluator as Assay reports it, with an excerpt of its file."""
    span, excerpt = None, ""
    if problem_span := problem.span:
        path = policy.find(problem_span.file)
        lines = _read_lines(path) if path else []
        span, excerpt = convert_span(problem_span, lines)
    hint = "; ".join(filter(None, (_find_reference_hint(problem), problem.hint)))
    return Diagnostic(
        f"dhall-{problem.code}", problem.message, span, excerpt, problem.expected, problem.found, hint, problem.notes
    )  # fmt: skip


def _find_reference_hint(problem: assay_dhall.Problem) -> str:
    """Return the hint for a name in quotes where a definition is needed; empty for other problems."""
    if problem.found != "Text" or not problem.expected.startswith("{"):
        return ""
    if problem.expected == _COLUMN_TYPE:
        return "write the column, not its name: `S.grain.columnOf` of the field, or the column of the relation"
    return "write the definition, not its name in quotes"


def convert_span(dhall_span: assay_dhall.Span, lines: Sequence[str]) -> tuple[Span, str]:
    """Return a span, cut to its first line, and an excerpt of that line."""
    line = lines[dhall_span.line - 1] if dhall_span.line <= len(lines) else ""
    end = dhall_span.end_column if dhall_span.end_line == dhall_span.line else len(line.rstrip()) + 1
    length = max(1, end - dhall_span.column)
    return Span(dhall_span.file, dhall_span.line, dhall_span.column, length), format_excerpt(
        lines, dhall_span.line, dhall_span.column, length
    ) if line else ""


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _list_folders(workspace: Path, shipped: Path | None) -> tuple[Path, ...]:
    return (workspace,) if shipped is None or shipped == workspace else (workspace, shipped)


def _get_evaluator(policy: assay_dhall.FolderPolicy) -> assay_dhall.Evaluator:
    """Return the evaluator of these folders, which caches evaluated files."""
    evaluator = _EVALUATORS.setdefault(policy.folders, assay_dhall.Evaluator())
    evaluator.policy = policy
    return evaluator
