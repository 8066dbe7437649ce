"""The checker's part about articles: tables and figures ask for metrics, columns and series that are there and fit."""

from __future__ import annotations

from collections.abc import Iterable

from assay.spec import scopes
from assay.spec.article_model import Article, Part, Timeline
from assay.spec.check_averages import averages
from assay.spec.check_claims import claims
from assay.spec.checker import Checker
from assay.spec.diagnostics import did_you_mean


def articles(checker: Checker) -> None:
    """Check every article of the package."""
    names = [item.name for item in checker.package.reports] + [item.name for item in checker.package.histories]
    for article in checker.package.articles:
        what = f"article `{article.name}`"
        if names.count(article.name) or [item.name for item in checker.package.articles].count(article.name) > 1:
            checker.report(
                "duplicate-report",
                f"{what} has the name of another report, history or article",
                article.name,
                hint="rename all but one",
            )
        _label(checker, what, article)
        for part in article.parts:
            _part(checker, f"part `{part.title}` of {what}", part)
        claims(checker, article)


def _label(checker: Checker, what: str, article: Article) -> None:
    known = set(scopes.constants(checker.package))
    if article.label not in known:
        checker.report(
            "unknown-constant",
            f"{what} uses an unknown constant `{article.label}`",
            article.name,
            hint=did_you_mean(article.label, known),
        )


def _part(checker: Checker, what: str, part: Part) -> None:
    for listing in part.listings:
        _rows(checker, what, listing.grain, listing.keys, listing.metrics)
    for pivot in part.pivots:
        metrics = (pivot.metric, *([pivot.due] if pivot.due else ()))
        _rows(checker, what, pivot.grain, (pivot.down, pivot.across, pivot.first), metrics)
    for verdict in part.verdicts:
        _rows(checker, what, verdict.grain, verdict.keys, verdict.metrics)
    for scatter in part.scatters:
        _rows(checker, what, scatter.grain, (scatter.per,), (scatter.x, scatter.y))
        _rows(checker, what, scatter.of, (scatter.per, *scatter.label), ())
    for timeline in part.timelines:
        _timeline(checker, what, timeline)
    for item in part.averages:
        averages(checker, what, item)


def _rows(checker: Checker, what: str, grain: str, columns: Iterable[str], metrics: Iterable[str]) -> None:
    """Rows of a grain: it is there, has the columns, and is that of the metrics."""
    found = next((item for item in checker.package.grains if item.name == grain), None)
    if found is None:
        known = [item.name for item in checker.package.grains]
        message = f"{what} shows rows of an unknown grain `{grain}`"
        checker.report("unknown-grain", message, grain, hint=did_you_mean(grain, known))
        return
    names = [column.name for column in found.columns]
    for name in columns:
        if name not in names:
            checker.report(
                "unknown-column",
                f"{what} shows an unknown column `{name}` of grain `{grain}`",
                name,
                hint=did_you_mean(name, names),
            )
    of_metric = {metric.id: metric.grain for metric in checker.package.metrics}
    for name in metrics:
        if name not in of_metric:
            checker.report(
                "unknown-metric",
                f"{what} shows a metric that its package does not list: `{name}`",
                name,
                hint="add it to the package's `metrics`",
            )
        elif of_metric[name] != grain:
            checker.report(
                "other-grain",
                f"{what} shows metric `{name}` on rows of another grain",
                name,
                expected=of_metric[name],
                found=grain,
            )


def _timeline(checker: Checker, what: str, timeline: Timeline) -> None:
    found = next((item for item in checker.package.series if item.name == timeline.series), None)
    if found is None:
        known = [item.name for item in checker.package.series]
        checker.report(
            "unknown-series",
            f"{what} shows an unknown series `{timeline.series}`",
            timeline.series,
            hint=did_you_mean(timeline.series, known),
        )
    elif not timeline.alone and timeline.line not in found.by:
        checker.report(
            "unknown-label",
            f"{what} has lines by a label that series `{found.name}` does not have: `{timeline.line}`",
            timeline.line or found.name,
            hint=did_you_mean(timeline.line, found.by),
        )
