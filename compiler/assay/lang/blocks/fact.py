"""Facts: constants of the runs, in one table of a part."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Fact(Block):
    """A constant of the runs; all of a part are rows of one table."""

    member = "facts"
    rank = 100
    needs_records = False
    is_text = True

    constant: str

    def locate(self, part: str) -> tuple[str, str]:
        """Return the part: the table has no title of its own."""
        return part, ""

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        constants = scopes.collect_constants(checker.package)
        if self.constant not in constants:
            checker.report_unknown(
                "constant", self.constant, f"in {owner}", constants, within=(report.name, part.title)
            )
