"""Evaluate specs with Assay's own Dhall evaluator (`assay.dhall`), where the package `dhall` is not installed.

It reads the scanned sources alone, so what is evaluated is exactly what was hashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay import dhall
from assay.dhall.imports import MODES
from assay.spec.diagnostics import AssayError, Diagnostic, Span, excerpt_of
from assay.spec.imports import SourceFile


class ScannedPolicy:
    """Allows imports of scanned sources, by their names in the workspace."""

    modes = MODES

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._contents = {file.name: file.content for file in files}

    def name(self, target: dhall.Target) -> str:
        """Name a file by its path in the workspace."""
        return "/".join(target.parts)

    def read(self, target: dhall.Target, written: str) -> bytes:
        """Return the content of a scanned source; refuse everything else."""
        content = self._contents.get(self.name(target)) if target.kind == "path" and target.prefix == "." else None
        if content is None:
            raise dhall.Refusal(f"the import `{written}` is no file of the workspace")
        return content

    def read_cached(self, sha256: str) -> bytes | None:  # noqa: ARG002
        """Keep no normal forms."""
        return None


def evaluate_scanned(root: str, files: Sequence[SourceFile]) -> object:
    """Return the value of the file named `root` as plain data; raise `AssayError` with all problems of a file."""
    evaluator = dhall.Evaluator(ScannedPolicy(files))
    try:
        return dhall.to_data(evaluator.evaluate_file(dhall.Target("path", ".", tuple(root.split("/")))).value)
    except dhall.DhallError as error:
        texts = {file.name: file.text for file in files}
        raise AssayError(tuple(_convert(item, root, texts) for item in error.diagnostics)) from None


def _convert(problem: dhall.Diagnostic, root: str, texts: Mapping[str, str]) -> Diagnostic:
    """Return a problem as messages of Assay have it."""
    span, excerpt = Span(root), ""
    if at := problem.span:
        same_line = at.end_line == at.line
        lines = texts.get(at.file, "").splitlines()
        width = at.end_column - at.column if same_line else len(lines[at.line - 1]) - at.column + 1 if lines else 1
        span = Span(at.file, at.line, at.column, max(1, width))
        excerpt = excerpt_of(lines, at.line, at.column, max(1, width)) if lines else ""
    return Diagnostic(
        f"dhall-{problem.code}", problem.message, span, excerpt, problem.expected or "", problem.found or "",
        problem.hint, problem.notes,
    )  # fmt: skip
