"""Verdicts: tables that judge further runs by the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_excluded_choices, check_row_columns, find_choice
from assay.lang.model.headings import Heading, list_column_headings, list_metric_headings
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report

#: the heading of the column of metrics
METRIC_HEADING = "Metric"


@dataclass(frozen=True, slots=True)
class Verdict(Block):
    """A table that judges further runs by the first: what metrics measure on the rows of a grain that agree in `keys`.

    A change for the worse of more than `tolerance` percent fails; of a metric that is not better in any direction, any
    change.  `scenario` is its name in the table of results; with a `choice` only its rows are judged.  Rows of a run
    that agree are repeats: their mean is judged, and the column `first` tells them apart.  The rows of the choices
    `without` are not judged.  In a part without a group, `group` is the group whose runs are judged.  Without a grain
    nothing is judged: the scenario only has its rows in the table of results.
    """

    appears_as = "verdict"

    title: str
    scenario: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    tolerance: int
    choice: str
    first: str
    without: tuple[str, ...] = ()
    group: str = ""

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        if not self.grain and not self.metrics:
            return
        within = (report.name, part.title, self.title)
        check_row_columns(checker, owner, self.grain, (*self.keys, self.first), self.metrics, within)
        find_choice(checker, owner, report, self.choice, self.grain)
        check_excluded_choices(checker, owner, report, self.without, self.grain)

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def list_headings(self, package: Package) -> Iterator[Heading]:
        """Yield the headings of the columns, of which the table has one more, and of the metrics, which are rows."""
        yield Heading("column", METRIC_HEADING, self.title)
        yield from list_column_headings(package, self.grain, self.keys)
        yield from list_metric_headings(package, self.metrics)

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        """Yield the rows that are compared, with the key of their grain."""
        if not self.grain:
            return
        key = next((grain.key for grain in package.grains if grain.name == self.grain), ())
        yield RowRequest(self.grain, tuple(dict.fromkeys((*self.keys, self.first, *key))), self.metrics)

    def list_choices(self) -> Iterable[str]:
        """Return the choice that is judged, and those that are not."""
        return [*([self.choice] if self.choice else []), *self.without]

    def has_verdict_on(self, metric: str) -> bool:
        return metric in self.metrics
