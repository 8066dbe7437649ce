"""Prose: files of text, which may quote results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report
from assay.util.escape import shorten
from assay.util.os_errors import is_below


@dataclass(frozen=True, slots=True)
class Prose(Block):
    """The text of a file, which is below the folder of the system's specs."""

    needs_records = False
    is_bare = True

    file: str

    @property
    def title(self) -> str:  # type: ignore[override]
        """The empty text: the block has no title of its own."""
        return ""

    def check(self, checker: Checker, _owner: str, report: Report, _part: Part) -> None:
        if not is_below(self.file):
            checker.report(
                "prose-file",
                f"prose `{shorten(self.file)}` of report `{report.name}` cannot be a file of its specs",
                self.file,
                expected="a path relative to the system's folder of specs, such as prose/summary.md",
            )

    def read_prose(self) -> Iterable[str]:
        return (self.file,)
