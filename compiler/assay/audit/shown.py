"""Where a package shows a metric: reports, their parts, and what the metric is called there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.spec.article_model import Article, Part
from assay.spec.model import Package
from assay.spec.report_model import History, Report


@dataclass(frozen=True, slots=True)
class Shown:
    """A place where numbers of a metric are printed: the report, the table or figure in it, the metric's label."""

    report: str
    place: str
    label: str

    def __str__(self) -> str:
        return " / ".join((self.report, self.place, self.label))


def shown(package: Package) -> Mapping[str, tuple[Shown, ...]]:
    """Id of each metric -> the places that print its numbers, in the order of the reports (none: no key)."""
    names = {metric.id: metric.name for metric in package.metrics}
    found: dict[str, list[Shown]] = {}
    for name, place, metric in _places(package):
        item = Shown(f"{package.system}/{name}", place, names.get(metric, metric))
        places = found.setdefault(metric, [])
        if item not in places:
            places.append(item)
    return {metric: tuple(places) for metric, places in found.items()}


def _places(package: Package) -> Iterator[tuple[str, str, str]]:
    """Report, place, metric."""
    for report in package.reports:
        yield from ((report.name, place, metric) for place, metric in _of_report(report))
    for history in package.histories:
        yield from ((history.name, place, metric) for place, metric in _of_history(history))
    for article in package.articles:
        yield from ((article.name, place, metric) for place, metric in _of_article(article))


def _of_report(report: Report) -> Iterator[tuple[str, str]]:
    for section in report.sections:
        yield from ((section.title, metric) for metric in section.metrics)
    yield from (("charts", chart.metric) for chart in report.charts)


def _of_history(history: History) -> Iterator[tuple[str, str]]:
    for section in history.sections:
        yield from ((section.title, metric) for metric in section.metrics)


def _of_article(article: Article) -> Iterator[tuple[str, str]]:
    for part in article.parts:
        yield from ((f"{part.title}: {title}", metric) for title, metric in _of_part(part))


def _of_part(part: Part) -> Iterator[tuple[str, str]]:
    """Title of a table or figure, and a metric in it."""
    for listing in part.listings:
        yield from ((listing.title, metric) for metric in listing.metrics)
    for pivot in part.pivots:
        yield from ((pivot.title, metric) for metric in (pivot.metric, pivot.due) if metric)
    for verdict in part.verdicts:
        yield from ((verdict.title, metric) for metric in verdict.metrics)
    for scatter in part.scatters:
        yield from ((scatter.title, metric) for metric in (scatter.x, scatter.y))
