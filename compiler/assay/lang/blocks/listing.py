"""Listings: tables of the rows of a grain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_row_columns
from assay.lang.model.headings import Heading, list_column_headings, list_metric_headings
from assay.lang.model.package import Grain, Metric, Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Listing(Block):
    """A table of the rows of a grain: columns `keys`, then what metrics measure on each row.

    With `rejected`, these are the rows that filters reject.  If `most` names one of its metrics, pages print only the
    rows of which it is greatest.  With `files`, all rows are in files, and pages may print fewer.
    """

    title: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    rejected: bool = False
    most: str = ""
    files: bool = False

    @property
    def file_name(self) -> str:
        """The name of its files, from its title: words in lower case, joined with hyphens; empty without files."""
        return re.sub(r"[^\w]+", "-", self.title.lower()).strip("-_") if self.files else ""

    def check(self, checker: Checker, owner: str, report: Report, _part: Part) -> None:
        """Report columns and metrics that its rows lack, an unknown `most`, and a file name that is taken."""
        self._check_file_name(checker, report)
        grains = {grain.name: grain for grain in checker.package.grains}
        metrics = {metric.id: metric for metric in checker.package.metrics}
        grain = grains.get(self.grain)
        finer = [
            name
            for name in self.metrics
            if grain and name in metrics and metrics[name].grain in grains and _is_finer(grains, grain, metrics[name])
        ]
        own_metrics = tuple(name for name in self.metrics if name not in finer)
        check_row_columns(checker, owner, self.grain, self.keys, own_metrics, (self.title,))
        if self.most and self.most not in self.metrics:
            checker.report_unknown("metric", self.most, f"in listing `{self.title}` of {owner}", self.metrics)

    def _check_file_name(self, checker: Checker, report: Report) -> None:
        """Check that no earlier listing of the report has the same files."""
        listings = [block for block in report.blocks if isinstance(block, Listing) and block.file_name]
        same = [item for item in listings if item.file_name == self.file_name]
        if same and self is not same[0]:
            checker.report(
                "duplicate-listing",
                f"the listings `{same[0].title}` and `{self.title}` of report `{report.name}` have the same file name",
                self.title,
                found=self.file_name,
                hint="give them titles that differ in letters or digits",
                within=(report.name,),
            )

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def list_headings(self, package: Package) -> Iterator[Heading]:
        yield from list_column_headings(package, self.grain, self.keys)
        yield from list_metric_headings(package, self.metrics, "column")

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        """Yield its rows; those in files have the key of their grain, too."""
        grain_keys = (grain.key for grain in package.grains if grain.name == self.grain and self.files)
        keys = tuple(dict.fromkeys((*self.keys, *(name for key in grain_keys for name in key))))
        yield RowRequest(self.grain, keys, self.metrics, self.files, self.file_name, self.rejected)


def _is_finer(grains: dict[str, Grain], grain: Grain, metric: Metric) -> bool:
    """Return whether the rows of a metric's grain belong to those of another grain, whose key they have as columns.

    If the metric is reduced, it must have one value for each of these rows.
    """
    if formula.is_formula(metric) or metric.grain == grain.name:
        return False
    columns = {column.name: column.type for column in grains[metric.grain].columns}
    key_types = {column.name: column.type for column in grain.columns if column.name in grain.key}
    has_key = all(columns.get(name) == kind for name, kind in key_types.items())
    return has_key and (metric.reduction is None or set(metric.reduction.by) == set(grain.key))
