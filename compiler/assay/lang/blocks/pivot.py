"""Pivots: tables with a row for each value of one column of a grain, and a column for each value of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_excluded_choices, check_row_columns, find_choice
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report

NUMBERS = ("integer", "unsigned", "huge", "real")


@dataclass(frozen=True, slots=True)
class Pivot(Block):
    """A table with a row for each value of a grain's column `down`, a column for each of `across`, cells of a metric.

    Rows of the grain that meet in a cell are repeats: their mean is shown, and the column `first` tells them apart.
    Rows of the choices `without` are left out.  With a metric `due`, a cell that falls short of it by more than
    `tolerance` percent is marked.  With `diagonals`, cells with equal products of `down` and `across` are distinguished
    and listed.  The cell of the row of a `choice` is bold.
    """

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
    without: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that identify the row behind a cell."""
        return (self.down, self.across, self.first)

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        """Report unknown names, a choice whose keys lack a column of the cells, and diagonals of texts."""
        within = (report.name, part.title, self.title)
        has_columns = check_row_columns(checker, owner, self.grain, self.columns, self.read_metrics(), within)
        choice = find_choice(checker, owner, report, self.choice, self.grain)
        check_excluded_choices(checker, owner, report, self.without, self.grain)
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

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        """Yield the rows of the cells, with the key of their grain if some are left out."""
        key = next((grain.key for grain in package.grains if self.without and grain.name == self.grain), ())
        yield RowRequest(self.grain, tuple(dict.fromkeys((*self.columns, *key))), self.read_metrics())

    def list_choices(self) -> Iterable[str]:
        """Return the choice whose cell is bold, and those that are left out."""
        return [*([self.choice] if self.choice else []), *self.without]
