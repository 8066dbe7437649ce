"""Timelines: figures of a series over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_has_time, find_choice
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Timeline(Block):
    """A figure of a series: a line for each value of the label `line`, over the seconds of a window.

    With `mean` it also shows the mean of all lines, with `alone` only the mean; with `stacked`, lines are layers.  With
    a `choice` it shows only the time of its row, in seconds from its beginning.
    """

    appears_as = "figure"

    series: str
    title: str
    line: str
    mean: bool
    alone: bool
    stacked: bool
    choice: str
    template: str

    def check(self, checker: Checker, owner: str, report: Report, _part: Part) -> None:
        self.check_series(checker, owner)
        check_has_time(checker, owner, find_choice(checker, owner, report, self.choice))
        if self.stacked and self.mean:
            checker.report(
                "stacked-mean",
                f"{owner} has both `mean` and `stacked` for series `{self.series}`",
                self.series,
                hint="remove `mean` or `stacked`",
            )

    def check_series(self, checker: Checker, owner: str) -> None:
        """Report an unknown series, or an unknown label of it."""
        series = next((item for item in checker.package.series if item.name == self.series), None)
        if series is None:
            series_names = [item.name for item in checker.package.series]
            checker.report_unlisted("series", self.series, f"in {owner}", series_names, within=(self.title,))
        elif not self.alone and self.line not in series.by:
            checker.report_unknown(
                "label", self.line, f"of series `{series.name}` in {owner}", series.by, word=self.line or series.name
            )

    def read_series(self) -> Iterable[str]:
        return [self.series]

    def list_templates(self, suffix: str) -> Iterable[str]:
        """Return the chart template; with marks where phases begin."""
        return [self.template + suffix]

    def locate(self, part: str) -> tuple[str, str]:
        """Return the part, and the title or the series: a figure has no section of its own."""
        return part, self.title or self.series

    def locate_series(self, part: str, series: str) -> Iterator[tuple[str, str]]:
        if series == self.series:
            yield self.locate(part)
