"""Timelines of runs: figures of a series over time, with a line for each run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.model.package import Relation
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.lang.series_wording import LINES
from assay.util.diagnostics import suggest_names


@dataclass(frozen=True, slots=True)
class RunTimeline(Block):
    """A figure of a series over the time of runs, a line each.

    `over` merges the lines of the series: `mean`, `sum`, `least`, `greatest`; empty if it has one line.
    """

    appears_as = "figure"

    title: str
    series: str
    over: str
    template: str

    def check(self, checker: Checker, _owner: str, report: Report, part: Part) -> None:
        """Report an unknown series, and what a timeline of runs cannot draw of it."""
        series_by_name = {series.name: series for series in checker.package.series}
        owner = f"timeline `{self.title}` of report `{report.name}`"
        within = (report.name, part.title)
        series = series_by_name.get(self.series)
        if series is None:
            checker.report_unlisted("series", self.series, f"in {owner}", list(series_by_name), within=within)
        elif self.over not in LINES:
            checker.report(
                "timeline-lines",
                f"unknown aggregation `{self.over}` of the lines of `{series.name}` in {owner}",
                self.over,
                hint=suggest_names(self.over, list(LINES)[1:]),
                within=within,
            )
        else:
            self._check_lines(checker, owner, series, within)

    def _check_lines(self, checker: Checker, owner: str, series: Series, within: tuple[str, ...]) -> None:
        """Check that a series without a reduction has one value at an instant of a run."""
        windows = next((item for item in checker.package.relations if item.name == series.windows), None)
        key = windows.key if isinstance(windows, Relation) else ()
        if not self.over and (series.by or key):
            checker.report(
                "timeline-lines",
                f"{owner} has one line for each run, but series `{series.name}` has more",
                self.title,
                expected="a series without labels, whose windows have no key",
                found=f"a line for each {', '.join((*key, *series.by))}",
                hint="reduce its lines: `timelineOfMean`, `timelineOfSum`, `timelineOfLeast` or `timelineOfGreatest`",
                within=within,
            )

    def read_series(self) -> Iterable[str]:
        return [self.series]

    def list_templates(self, _suffix: str) -> Iterable[str]:
        """Return the chart template, which has no marks: phases of runs begin at different times."""
        return [self.template]

    def locate(self, part: str) -> tuple[str, str]:
        """Return the part and the title: a figure has no section of its own."""
        return part, self.title

    def locate_series(self, part: str, series: str) -> Iterator[tuple[str, str]]:
        if series == self.series:
            yield self.locate(part)
