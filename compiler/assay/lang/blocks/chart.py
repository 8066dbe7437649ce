"""Charts: distributions of a metric, a line for each run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.reports import check_compared_metrics
from assay.lang.model import report as report_model
from assay.lang.model.parts import Part


@dataclass(frozen=True, slots=True)
class Chart(report_model.Chart):
    """A chart in a part of a report."""

    appears_as = "figure"

    def check(self, checker: Checker, owner: str, report: report_model.Report, part: Part) -> None:
        check_compared_metrics(checker, owner, [self.metric], (report.name, part.title))

    def read_metrics(self) -> Iterable[str]:
        return [self.metric]

    def list_templates(self, _suffix: str) -> Iterable[str]:
        """Return the chart template: distributions have no marks."""
        return [self.template]
