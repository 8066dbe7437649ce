"""Listings: tables of the rows of a grain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.listings import check_listing, list_listing_headings
from assay.lang.model.headings import Heading
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report, RowListing


@dataclass(frozen=True, slots=True)
class Listing(RowListing, Block):
    """A listing in a part of a report."""

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        check_listing(checker, owner, self, (report.name, part.title, self.title))
        if self.rejected:
            checker.report(
                "rejected-rows",
                f"listing `{self.title}` in {owner} has rejected rows, but reports have no filters",
                self.title,
                hint="list them in a report",
            )

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def list_headings(self, package: Package) -> Iterable[Heading]:
        return list_listing_headings(package, self)

    def read_rows(self, _package: Package) -> Iterator[RowRequest]:
        yield RowRequest(self.grain, self.keys, self.metrics)
