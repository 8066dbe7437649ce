"""Worst rows: a table of the rows of all runs of which a metric is worst."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.check.reports import check_compared_metrics
from assay.lang.model.headings import Heading, list_column_headings, list_metric_headings
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class WorstRows(Block):
    """A table of at most `limit` rows of all runs: run, key, and the value of a metric, the worst first.

    Of a metric that is better in no direction, the greatest values come first.
    """

    title: str
    metric: str
    limit: int

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        """Report an unknown metric, a formula, which has no rows, and a limit of 0."""
        check_compared_metrics(checker, owner, [self.metric], (report.name, part.title))
        metrics = [item for item in checker.package.metrics if item.id == self.metric]
        if any(map(formula.is_formula, metrics)):
            checker.report(
                "formula",
                f"`{self.title}` of {owner} has the worst rows of `{self.metric}`, which is a formula and has no rows",
                self.metric,
                hint="name a metric that is measured on rows",
                within=(report.name, part.title),
            )
        if not self.limit:
            message, within = f"`{self.title}` of {owner} shows no rows", (report.name, part.title)
            checker.report("limit", message, self.title, expected="a `limit` of at least 1", within=within)

    def list_headings(self, package: Package) -> Iterator[Heading]:
        for request in self.read_rows(package):
            yield from list_column_headings(package, request.grain, request.columns)
            yield from list_metric_headings(package, request.metrics, "column")

    def read_metrics(self) -> Iterable[str]:
        return [self.metric]

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        grains = {grain.name: grain for grain in package.grains}
        for metric in package.metrics:
            if metric.id == self.metric and metric.grain in grains and not formula.is_formula(metric):
                yield RowRequest(metric.grain, grains[metric.grain].key, (metric.id,), are_points=True)
