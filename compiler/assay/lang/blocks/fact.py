"""Facts: constants of the runs, in one table of a part."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.article import Article, Block, Part
from assay.util.diagnostics import did_you_mean


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

    def check(self, checker: Checker, where: str, article: Article, part: Part) -> None:
        known = scopes.collect_constants(checker.package)
        if self.constant not in known:
            checker.report(
                "unknown-constant",
                f"unknown constant `{self.constant}` in {where}",
                self.constant,
                hint=did_you_mean(self.constant, known),
                within=(article.name, part.title),
            )
