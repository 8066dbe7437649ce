"""Where a metric or series is shown: reports with section and label, articles, histories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.report.figures import row_label
from assay.spec.article_model import Article, Part
from assay.spec.model import Metric, Package, Series
from assay.spec.report_model import Report


@dataclass(frozen=True, slots=True)
class Shown:
    """A place of a report: `kind` is table, chart, dictionary, history, figure or verdict; its section and label."""

    report: str
    kind: str
    section: str
    label: str


def shown(package: Package, item: Metric | Series) -> tuple[Shown, ...]:
    """Every place that shows a metric or series, report by report."""
    found: list[Shown] = []
    if isinstance(item, Metric):
        label = row_label(item.name, item.unit.symbol)
        for report in package.reports:
            found += [Shown(f"{package.system}/{report.name}", *place, label) for place in _of_report(report, item.id)]
        for history in package.histories:
            name = f"{package.system}/{history.name}"
            found += [Shown(name, "history", part.title, label) for part in history.sections if item.id in part.metrics]
        for article in package.articles:
            name = f"{package.system}/{article.name}"
            found += [Shown(name, *place, label) for place in _of_article(article, item.id)]
    else:
        found += list(_timelines(package, item))
    return tuple(dict.fromkeys(found))


def _of_report(report: Report, metric: str) -> Iterator[tuple[str, str]]:
    yield from (("table", section.title) for section in report.sections if metric in section.metrics)
    yield from (("chart", "") for chart in report.charts if chart.metric == metric)
    yield from (("dictionary", group.title) for group in report.dictionary if metric in group.metrics)


def _of_article(article: Article, metric: str) -> Iterator[tuple[str, str]]:
    for part in article.parts:
        yield from ((kind, f"{part.title}/{title}") for kind, title in _of_part(part, metric))


def _of_part(part: Part, metric: str) -> Iterator[tuple[str, str]]:
    yield from (("table", item.title) for item in part.listings if metric in item.metrics)
    yield from (("table", item.title) for item in part.pivots if metric in (item.metric, item.due))
    yield from (("figure", item.title) for item in part.scatters if metric in (item.x, item.y))
    yield from (("verdict", item.title) for item in part.verdicts if metric in item.metrics)


def _timelines(package: Package, series: Series) -> Iterator[Shown]:
    for article in package.articles:
        for part in article.parts:
            for item in part.timelines:
                if item.series == series.name:
                    label = row_label(item.title, series.unit.symbol)
                    yield Shown(f"{package.system}/{article.name}", "figure", part.title, label)
