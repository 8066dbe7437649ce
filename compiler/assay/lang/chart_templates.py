"""What reports, editions, histories and articles ask of the stages that show them: styles and chart templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang.model.article import Article
from assay.lang.model.package import Package

#: the ending of a timeline's template that has marks where phases begin
MARKED = "-marked"


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """What one of them asks for: number styles, names of chart templates."""

    what: str
    styles: tuple[str, ...]
    templates: tuple[str, ...]


def of_package(package: Package) -> Iterator[ChartRequest]:
    """What each report, edition, history and article of a package asks for."""
    for report in package.reports:
        yield ChartRequest(f"report `{report.name}`", (report.style,), tuple(chart.template for chart in report.charts))
        for edition in report.editions:
            what = f"edition `{edition.name}` of report `{report.name}`"
            yield ChartRequest(what, (edition.style,), tuple(chart.template for chart in edition.charts))
    for history in package.histories:
        yield ChartRequest(f"history `{history.name}`", (), (history.template,))
    for article in package.articles:
        yield ChartRequest(f"article `{article.name}`", (article.style,), tuple(_templates(article)))


def _templates(article: Article) -> Iterator[str]:
    marked = MARKED if article.phases else ""
    for block in article.blocks:
        yield from block.list_templates(marked)
