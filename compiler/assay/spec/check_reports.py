"""The checker's part about reports and their editions: names that exist, days in order, labels that tell rows apart."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from assay.spec import scopes
from assay.spec.checker import Checker
from assay.spec.diagnostics import did_you_mean
from assay.spec.model import Edition, Report


def reports(checker: Checker) -> None:
    """Check every report of the package."""
    for report in checker.package.reports:
        _shown(checker, f"report `{report.name}`", (*_metrics(report), *report.also))
        _summary(checker, report)
        _constants(checker, report)
        _editions(checker, report)


def _metrics(shown: Report | Edition) -> Iterator[str]:
    for section in shown.sections:
        yield from section.metrics
    for chart in shown.charts:
        yield chart.metric
    for group in shown.dictionary:
        yield from group.metrics


def _shown(checker: Checker, what: str, names: tuple[str, ...]) -> None:
    for name in sorted(set(names) - {metric.id for metric in checker.package.metrics}):
        checker.report(
            "unknown-metric",
            f"{what} shows a metric that its package does not list: `{name}`",
            name,
            hint="add it to the package's `metrics`",
        )


def _summary(checker: Checker, report: Report) -> None:
    summaries = {item.name for item in checker.package.summaries}
    if report.summary not in summaries:
        checker.report(
            "unknown-summary",
            f"report `{report.name}` uses an unknown summary `{report.summary}`",
            report.name,
            hint=did_you_mean(report.summary, summaries),
        )


def _constants(checker: Checker, report: Report) -> None:
    known = set(scopes.constants(checker.package))
    for name in (report.label, *report.compare, *(row.constant for row in report.manifest if row.constant)):
        if name not in known:
            checker.report(
                "unknown-constant",
                f"report `{report.name}` uses an unknown constant `{name}`",
                report.name,
                hint=did_you_mean(name, known),
            )


def _editions(checker: Checker, report: Report) -> None:
    for name, times in Counter(item.name for item in report.editions).items():
        if times > 1:
            checker.report(
                "duplicate-edition",
                f"{times} editions of report `{report.name}` are called `{name}`",
                name,
                hint="rename all but one",
            )
    for edition in report.editions:
        what = f"edition `{edition.name}` of report `{report.name}`"
        _shown(checker, what, (*_metrics(edition), *(label.metric for label in edition.labels)))
        _labels(checker, what, edition)
        if not is_day(edition.since):
            checker.report(
                "edition-day",
                f"{what} begins on a day that does not exist",
                edition.name,
                expected="YYYY-MM-DD",
                found=edition.since,
            )
    for before, after in pairwise(report.editions):
        if after.since <= before.since:
            checker.report(
                "edition-order",
                f"edition `{after.name}` of report `{report.name}` begins no later than the one before it",
                after.name,
                expected=f"a day after {before.since}",
                found=after.since,
                hint="editions stand in the order of their days",
            )


def _labels(checker: Checker, what: str, edition: Edition) -> None:
    """Rows of a table that are called the same could not be told apart in a publication."""
    changed = {label.metric: label.name for label in edition.labels}
    names = {metric.id: changed.get(metric.id) or metric.name for metric in checker.package.metrics}
    tables = [(section.title, [names.get(name, name) for name in section.metrics]) for section in edition.sections]
    tables.append(("the manifest", [row.label for row in edition.manifest]))
    for title, labels in tables:
        for label, times in Counter(labels).items():
            if times > 1:
                checker.report(
                    "duplicate-label",
                    f"{what} has {times} rows called `{label}` in {title}",
                    edition.name,
                    hint="name one of them otherwise in the edition's `labels`",
                )


def is_day(text: str) -> bool:
    """Whether a text is a day that exists, as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
