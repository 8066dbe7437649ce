"""Pivots: tables with a row for each value of one column of a grain, and a column for each value of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_row_columns, find_choice
from assay.lang.model.article import Article, Block, Part, RowRequest
from assay.lang.model.package import Package

NUMBERS = ("integer", "unsigned", "huge", "real")


@dataclass(frozen=True, slots=True)
class Pivot(Block):
    """A table with a row for each value of a grain's column `down`, a column for each of `across`, cells of a metric.

    Where several rows of the grain meet in a cell, the one that comes first in `first` counts.  With a metric `due`, a
    cell that falls short of it by more than `tolerance` percent is marked.  With `diagonals`, cells with equal products
    of `down` and `across` are distinguished and listed.  The cell of the row of a `choice` is bold.
    """

    member = "pivots"
    rank = 40

    title: str
    grain: str
    down: str
    across: str
    metric: str
    first: str
    due: str
    tolerance: int
    diagonals: bool
    choice: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that identify the row behind a cell."""
        return (self.down, self.across, self.first)

    def check(self, checker: Checker, owner: str, article: Article, part: Part) -> None:
        within = (article.name, part.title, self.title)
        has_columns = check_row_columns(checker, owner, self.grain, self.columns, self.read_metrics(), within)
        choice = find_choice(checker, owner, article, self.choice, self.grain)
        if choice and not {self.down, self.across} <= set(choice.keys):
            checker.report(
                "choice-keys",
                f"{owner} shows a chosen cell, but its row and column are not the keys of choice `{choice.name}`",
                choice.name,
                expected=f"{self.down}, {self.across}",
                found=", ".join(choice.keys) or "no keys",
            )
        if has_columns and self.diagonals:
            self._check_diagonals(checker, owner)

    def _check_diagonals(self, checker: Checker, owner: str) -> None:
        grain = next(item for item in checker.package.grains if item.name == self.grain)
        types = {column.name: column.type for column in grain.columns}
        for name in (self.down, self.across):
            if types[name] not in NUMBERS:
                checker.report(
                    "diagonals", f"column `{name}` in the diagonals of {owner} is not a number", name,
                    found=types[name],
                )  # fmt: skip

    def read_metrics(self) -> tuple[str, ...]:
        """Return the metric of the cells, and the one that is due."""
        return (self.metric, *([self.due] if self.due else []))

    def read_rows(self, _package: Package) -> Iterator[RowRequest]:
        yield RowRequest(self.grain, self.columns, self.read_metrics())
