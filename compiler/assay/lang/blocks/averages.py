"""Averages: tables of series, and the mean over time of the mean of all lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import find_choice
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Averages(Block):
    """A table of series in one unit: their label filters, and the mean over time of the mean of all lines.

    With a `choice`, only the time of its row counts.
    """

    title: str
    series: tuple[str, ...]
    choice: str = ""

    def check(self, checker: Checker, owner: str, report: Report, _part: Part) -> None:
        """Report unknown series, series in different units, and a choice that is unknown or has no time."""
        owner = f"table `{self.title}` of {owner}"
        choice = find_choice(checker, owner, report, self.choice)
        if choice and not choice.begin:
            checker.report(
                "choice-time",
                f"{owner} averages over the time of choice `{choice.name}`, which has no time",
                choice.name,
                hint="give the choice `begin` and `end`",
            )
        series_by_name = {series.name: series for series in checker.package.series}
        if not self.series:
            checker.report("averages-series", f"{owner} has no series", self.title)
        for name in self.series:
            if name not in series_by_name:
                checker.report_unlisted("series", name, f"in {owner}", series_by_name, within=(self.title,))
        units = {series_by_name[name].unit.name: name for name in reversed(self.series) if name in series_by_name}
        if len(units) > 1:
            checker.report(
                "averages-unit",
                f"the series of {owner} have different units",
                self.title,
                expected="one unit",
                found=", ".join(
                    f"`{name}` in {unit}" for unit, name in sorted(units.items(), key=lambda pair: pair[1])
                ),
            )

    def read_series(self) -> Iterable[str]:
        return self.series
