"""Listings: tables of the rows of a grain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_row_columns
from assay.lang.model.article import Article, Block, Part, RowRequest
from assay.lang.model.package import Package


@dataclass(frozen=True, slots=True)
class Listing(Block):
    """A table of the rows of a grain: columns `keys`, then what metrics measure on each row."""

    member = "listings"
    rank = 30

    title: str
    grain: str
    keys: tuple[str, ...]
    metrics: tuple[str, ...]

    def check(self, checker: Checker, owner: str, article: Article, part: Part) -> None:
        check_row_columns(checker, owner, self.grain, self.keys, self.metrics, (article.name, part.title, self.title))

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def read_rows(self, _package: Package) -> Iterator[RowRequest]:
        yield RowRequest(self.grain, self.keys, self.metrics)
