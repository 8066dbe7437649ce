"""Sections: tables of metrics, a column for each run or phase."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.reports import check_compared_metrics
from assay.lang.model import report as report_model
from assay.lang.model.headings import Heading, list_metric_headings
from assay.lang.model.package import Package
from assay.lang.model.parts import Part


@dataclass(frozen=True, slots=True)
class Section(report_model.Section):
    """A section in a part of a report: a column for each run, or each phase of it, with differences from the first."""

    compares_averages = True

    def check(self, checker: Checker, owner: str, report: report_model.Report, part: Part) -> None:
        check_compared_metrics(checker, owner, self.metrics, (report.name, part.title))

    def list_headings(self, package: Package) -> Iterable[Heading]:
        return list_metric_headings(package, self.metrics)

    def read_metrics(self) -> Iterable[str]:
        return self.metrics
