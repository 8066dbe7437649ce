"""Averages: tables of series, and the mean over time of the mean of all lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import chosen
from assay.lang.model.article import Article, Block, Part


@dataclass(frozen=True, slots=True)
class Averages(Block):
    """A table of series in one unit: their label filters, and the mean over time of the mean of all lines; with a
    `choice` over the time of its row only."""

    member = "averages"
    rank = 110

    title: str
    series: tuple[str, ...]
    choice: str = ""

    def check(self, checker: Checker, where: str, article: Article, _part: Part) -> None:
        where = f"table `{self.title}` of {where}"
        choice = chosen(checker, where, article, self.choice)
        if choice and not choice.begin:
            checker.report(
                "choice-time",
                f"{where} averages over the time of choice `{choice.name}`, which has no time",
                choice.name,
                hint="give the choice `begin` and `end`",
            )
        known = {series.name: series for series in checker.package.series}
        if not self.series:
            checker.report("averages-series", f"{where} has no series", self.title)
        for name in self.series:
            if name not in known:
                message = f"unknown series `{name}` in {where}"
                checker.report_missing("unknown-series", message, name, known, within=(self.title,))
        units = {known[name].unit.name: name for name in reversed(self.series) if name in known}
        if len(units) > 1:
            checker.report(
                "averages-unit",
                f"the series of {where} have different units",
                self.title,
                expected="one unit",
                found=", ".join(
                    f"`{name}` in {unit}" for unit, name in sorted(units.items(), key=lambda pair: pair[1])
                ),
            )

    def read_series(self) -> Iterable[str]:
        return self.series
