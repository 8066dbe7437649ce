"""Scatters: figures of rows as points, one metric over another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_row_columns
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Scatter(Block):
    """A figure for each value of a grain's column `per`: its rows as points, one metric over another, and the mean.

    `label` are columns of the grain `of` (with the column `per` as its key) that name a figure; figures of several runs
    that agree in the columns `keys` are placed side by side.
    """

    appears_as = "figure"

    title: str
    grain: str
    per: str
    of: str
    label: tuple[str, ...]
    keys: tuple[str, ...]
    x: str
    y: str
    template: str

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        self.check_rows(checker, owner, (report.name, part.title))

    def check_rows(self, checker: Checker, owner: str, enclosing: tuple[str, ...]) -> None:
        """Report unknown names; `enclosing` names the declarations around the scatter."""
        within = (*enclosing, self.title)
        check_row_columns(checker, owner, self.grain, (self.per,), (self.x, self.y), within)
        check_row_columns(checker, owner, self.of, (self.per, *self.label, *self.keys), (), within)
        for grain in checker.package.grains:
            if grain.name == self.of and grain.key != (self.per,):
                checker.report(
                    "scatter-names",
                    f"figures of a scatter in {owner} are named by rows of grain `{self.of}`, several of which may "
                    f"have the same `{self.per}`",
                    self.title,
                    expected=f"a grain with the key {self.per}",
                    found=f"the key {', '.join(grain.key)}",
                    within=within,
                )

    def read_metrics(self) -> Iterable[str]:
        return (self.x, self.y)

    def read_rows(self, _package: Package) -> Iterator[RowRequest]:
        """Yield the points, then the rows that name the figures."""
        yield RowRequest(self.grain, (self.per,), (self.x, self.y), are_points=True)
        yield RowRequest(self.of, tuple(dict.fromkeys((self.per, *self.label, *self.keys))))

    def list_templates(self, _suffix: str) -> Iterable[str]:
        return [self.template]
