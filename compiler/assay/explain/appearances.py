"""Where a metric or series is shown: reports with section and label, articles, histories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.model.article import Article, Part
from assay.lang.model.package import Metric, Package, Series
from assay.lang.model.report import Report
from assay.report.blocks.conclusion_rules import NOT_WORSE
from assay.report.run_results import row_label


@dataclass(frozen=True, slots=True)
class Appearance:
    """A place of a report, its section and label; `kind` is table, chart, dictionary, history, figure, verdict or quote
    (in prose)."""

    report: str
    kind: str
    section: str
    label: str


def list_appearances(package: Package, item: Metric | Series) -> tuple[Appearance, ...]:
    """Every place that shows a metric or series, report by report."""
    found: list[Appearance] = []
    if isinstance(item, Metric):
        label = row_label(item.name, item.unit.symbol)
        for report in package.reports:
            found += [
                Appearance(f"{package.system}/{report.name}", *place, label) for place in _of_report(report, item.id)
            ]
        for history in package.histories:
            name = f"{package.system}/{history.name}"
            found += [
                Appearance(name, "history", part.title, label) for part in history.sections if item.id in part.metrics
            ]
        for article in package.articles:
            name = f"{package.system}/{article.name}"
            found += [Appearance(name, *place, label) for place in _of_article(article, item.id)]
    else:
        found += list(_of_series(package, item))
    return tuple(dict.fromkeys(found))


def judging(package: Package, metric: Metric) -> tuple[Appearance, ...]:
    """The places whose verdicts depend on which direction of a metric is better."""
    label = row_label(metric.name, metric.unit.symbol)
    return tuple(
        Appearance(f"{package.system}/{article.name}", "verdict", f"{part.title}/{title}", label)
        for article in package.articles
        for part in article.parts
        for title in _judged_by(part, metric.id)
    )


def _judged_by(part: Part, metric: str) -> Iterator[str]:
    """The titles of verdicts and conclusions of a part; what must fall, rise or stay does so either way."""
    yield from (item.title for item in part.verdicts if metric in item.metrics)
    for item in part.conclusions:
        if any(rule.metric == metric and rule.kind == NOT_WORSE for rule in item.rules):
            yield item.title


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
    yield from (("figure", item.title) for item in part.grids if any(metric in (of.x, of.y) for of in item.scatters))
    yield from (("verdict", item.title) for item in part.verdicts if metric in item.metrics)
    yield from (("table", item.title) for item in part.class_tables if metric in formula.over(item.value))
    yield from (("table", item.title) for item in part.comparisons if metric in item.metrics)
    yield from (("verdict", item.title) for item in part.conclusions if metric in [rule.metric for rule in item.rules])


def _of_series(package: Package, series: Series) -> Iterator[Appearance]:
    """The figures and tables of a series."""
    for article in package.articles:
        for part in article.parts:
            for kind, section, title in _drawn(part, series.name):
                label = row_label(title or series.name, series.unit.symbol)
                yield Appearance(f"{package.system}/{article.name}", kind, section, label)


def _drawn(part: Part, series: str) -> Iterator[tuple[str, str, str]]:
    """Kind, section and title of what shows a series; no title where it stands in a table by its name."""
    yield from (("figure", part.title, item.title) for item in part.timelines if item.series == series)
    for grid in part.grids:
        place = f"{part.title}/{grid.title}"
        yield from (("figure", place, item.title) for item in grid.timelines if item.series == series)
    yield from (("table", f"{part.title}/{item.title}", "") for item in part.averages if series in item.series)
