"""Facts: tables of constants of the runs."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Facts(Block):
    """A table of constants, with a column for each run."""

    needs_records = False
    is_bare = True

    constants: tuple[str, ...]

    @property
    def title(self) -> str:  # type: ignore[override]
        """The empty text: the block has no title of its own."""
        return ""

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        constants = scopes.collect_constants(checker.package)
        for name in self.constants:
            if name not in constants:
                checker.report_unknown("constant", name, f"in {owner}", constants, within=(report.name, part.title))
