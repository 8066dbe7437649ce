"""Define what blocks have in common that a report prints once, wherever a part places them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.lang.model.parts import Block

if TYPE_CHECKING:
    from assay.lang.check.checker import Checker
    from assay.lang.model.parts import Part
    from assay.lang.model.report import Report


class ReportBlock(Block):
    """A block about the whole report, which has a place of its own unless a part shows it."""

    __slots__ = ()
    needs_records = False

    @property
    def title(self) -> str:  # type: ignore[override]
        """The empty text: the block has no title of its own."""
        return ""

    def check(self, checker: Checker, _owner: str, report: Report, part: Part) -> None:
        if sum(type(block) is type(self) for block in report.blocks) > 1:
            checker.report(
                "duplicate-block",
                f"report `{report.name}` has several blocks `{type(self).__name__}`",
                part.title,
                hint="keep one of them",
            )
