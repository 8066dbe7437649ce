"""Trends: plots of metrics over publications."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.reports import check_compared_metrics
from assay.lang.model.parts import Block, Part
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Trends(Block):
    """A plot of each metric over publications, and a table of the breaks in these plots."""

    appears_as = "figure"
    may_name_grains = True
    is_of_publications = True
    needs_records = False
    title: str
    doc: str
    metrics: tuple[str, ...]
    template: str

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        """Report unknown metrics."""
        check_compared_metrics(checker, owner, self.metrics, (report.name, part.title))

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def list_templates(self, _suffix: str) -> Iterable[str]:
        """Return the chart template: plots over publications have no phases."""
        return [self.template]
