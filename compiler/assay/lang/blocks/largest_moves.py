"""Largest moves: a table of the largest changes in publications."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class LargestMoves(Block):
    """A table of at most `limit` changes, the largest of each metric and workload, of a report over publications."""

    is_of_publications = True
    needs_records = False
    title: str
    limit: int

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        """Report a limit of 0."""
        if not self.limit:
            message, within = f"`{self.title}` of {owner} shows no rows", (report.name, part.title)
            checker.report("limit", message, self.title, expected="a `limit` of at least 1", within=within)
