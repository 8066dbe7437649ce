"""Check reports, editions and histories: names, dates, titles and introductions."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from assay.lang import formula, scopes
from assay.lang.check import enumerations, filters
from assay.lang.check.checker import Checker, Field
from assay.lang.model.article import Article, Part
from assay.lang.model.package import Package
from assay.lang.model.report import Edition, History, Report
from assay.util.diagnostics import did_you_mean, suggest_nearest

OF_RUNS = ("base", "others", "last")
OF_PUBLICATIONS = ("publications", "first", "last", "workloads", "editions")
_PLACE = re.compile(r"\{([^{}]*)(\}?)")

Shown = Report | Article | History


def check_titles(checker: Checker) -> None:
    """Check titles, introductions and parts of every report, article and history."""
    constants = tuple(f"constant.{name}" for name in scopes.collect_constants(checker.package))
    for what, item in list_titles(checker.package):
        known = OF_PUBLICATIONS if isinstance(item, History) else (*OF_RUNS, *constants)
        if not item.title.strip():
            checker.report("title", f"{what} has no title", item.name)
        for called, text in (("title", item.title), ("intro", item.intro)):
            _places(checker, f"the {called} of {what}", text, item.name, known)
        parts = list(_parts(item))
        for kind, title, full in parts:
            if not title.strip():
                checker.report("title", f"a {kind} of {what} has no title", item.name)
            elif not full:
                checker.report("empty-part", f"{kind} `{title}` of {what} shows nothing", title)
        if not parts:
            checker.report("empty-report", f"{what} shows nothing", item.name, expected=_EXPECTED[type(item)])


_EXPECTED = {
    Report: "sections, charts or a dictionary",
    Article: "parts",
    History: "sections",
}


def list_titles(package: Package) -> Iterator[tuple[str, Shown]]:
    yield from ((f"report `{item.name}`", item) for item in package.reports)
    yield from ((f"article `{item.name}`", item) for item in package.articles)
    yield from ((f"history `{item.name}`", item) for item in package.histories)


def _parts(item: Shown) -> Iterator[tuple[str, str, bool]]:
    """What a report is made of: its kind, its title, whether there is anything in it."""
    if isinstance(item, Article):
        yield from (("part", part.title, _full(part)) for part in item.parts)
        return
    yield from (("section", section.title, bool(section.metrics)) for section in item.sections)
    if isinstance(item, Report):
        yield from (("dictionary group", group.title, bool(group.metrics)) for group in item.dictionary)
        yield from (("chart", chart.metric, True) for chart in item.charts)


def _full(part: Part) -> bool:
    return any(getattr(part, field.name) for field in dataclasses.fields(part) if field.name != "title")


def _places(checker: Checker, what: str, text: str, name: str, known: Sequence[str]) -> None:
    """Places of a text are closed, and stand for something."""
    expected = ", ".join(f"{{{item}}}" for item in known)
    for found in _PLACE.finditer(text):
        place, closed = found.groups()
        if closed and place in known:
            continue
        word = text if checker.locate(text, 0)[0] else name
        if not closed:
            said = f"{what} has a place that is not closed: `{found[0][:40]}`"
            checker.report("placeholder", said, word, expected=expected, hint=suggest_nearest(place.strip(), known),
                           cause=text + place)  # fmt: skip
        else:
            said = f"{what} has an unknown place `{found[0]}`"
            checker.report("placeholder", said, word, expected=expected, hint=suggest_nearest(place, known),
                           cause=text + place)  # fmt: skip


def reports(checker: Checker) -> None:
    """Check every report and history of the package."""
    _no_summary(checker)
    for report in checker.package.reports:
        check_shown_metrics(checker, f"report `{report.name}`", (*_metrics(report), *report.also))
        _charts(checker, report)
        _summary(checker, report)
        _constants(checker, report)
        enumerations.check_manifest(checker, report)
        filters.check_filter_uses(checker, f"report `{report.name}`", report.filters, report.name)
        _told_apart(checker, report)
        _editions(checker, report)
    for history in checker.package.histories:
        _history(checker, history)


def _metrics(shown: Report | Edition) -> Iterator[str]:
    for section in shown.sections:
        yield from section.metrics
    for chart in shown.charts:
        yield chart.metric
    for group in shown.dictionary:
        yield from group.metrics


def check_shown_metrics(checker: Checker, what: str, names: tuple[str, ...]) -> None:
    known = {metric.id for metric in checker.package.metrics}
    for name in sorted(set(names) - known):
        message = f"{what} shows a metric that its package does not list: `{name}`"
        checker.missing("unknown-metric", message, name, known)


def check_compared_metrics(checker: Checker, what: str, names: Iterable[str], within: Sequence[str]) -> None:
    """Report metrics that a table compares between runs, and the package does not list."""
    known = [metric.id for metric in checker.package.metrics]
    for name in dict.fromkeys(names):
        if name not in known:
            message = f"{what} compares a metric that its package does not list: `{name}`"
            checker.missing("unknown-metric", message, name, known, within=within)


def _charts(checker: Checker, report: Report) -> None:
    """A formula is one figure a run, so there is no distribution to draw."""
    formulas = {metric.id for metric in checker.package.metrics if formula.is_formula(metric)}
    for name in dict.fromkeys(chart.metric for chart in report.charts if chart.metric in formulas):
        checker.report(
            "chart-of-formula",
            f"report `{report.name}` has a chart of `{name}`, a formula, which has no distribution",
            name,
            hint="a section can show it",
        )


def _no_summary(checker: Checker) -> None:
    """Averages are by a summary, wherever metrics are worked out, and articles are by the first."""
    package = checker.package
    if (package.metrics or package.articles or package.reports) and not package.summaries:
        checker.report(
            "no-summary",
            f"package `{package.system}` has no summary, which says how averages are taken",
            package.system,
            expected="one at least among its `summaries`",
            hint='`S.Summary::{ name = "all", doc = "All samples count alike" }` is one',
        )


def _summary(checker: Checker, report: Report) -> None:
    summaries = {item.name for item in checker.package.summaries}
    if summaries and report.summary not in summaries:
        checker.report(
            "unknown-summary",
            f"report `{report.name}` uses an unknown summary `{report.summary}`",
            report.summary or report.name,
            hint=did_you_mean(report.summary, summaries),
            within=(report.name,),
        )


def _constants(checker: Checker, report: Report) -> None:
    known = set(scopes.collect_constants(checker.package))
    for name in (report.label, *report.compare, *(row.constant for row in report.manifest if row.constant)):
        if name not in known:
            checker.report(
                "unknown-constant",
                f"report `{report.name}` uses an unknown constant `{name}`",
                name or report.name,
                hint=did_you_mean(name, known),
                within=(report.name,),
            )


def _told_apart(checker: Checker, report: Report) -> None:
    """Tables, charts and entries of the dictionary are there once each; of metrics of one id that alone is told."""
    metrics = Counter(item.id for item in checker.package.metrics)
    entries = [name for group in report.dictionary for name in group.metrics]
    groups: tuple[tuple[str, Sequence[str], tuple[str, ...]], ...] = (
        ("sections called", [section.title for section in report.sections], (Field("sections"),)),
        ("charts of", [chart.metric for chart in report.charts], (Field("charts"),)),
        ("entries of the dictionary for", entries, (Field("dictionary"),)),
        *((f"rows of section `{item.title}` for", item.metrics, (item.title,)) for item in report.sections),
    )
    for what, names, within in groups:
        for name, times in Counter(names).items():
            if times > 1 and metrics[name] < 2:
                said = f"report `{report.name}` has {times} {what} `{name}`"
                hint = "leave out, or rename, all but one"
                checker.report("duplicate-part", said, name or report.name, hint=hint, within=(report.name, *within))


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
        check_shown_metrics(checker, what, (*_metrics(edition), *(label.metric for label in edition.labels)))
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
    tables = [
        (section.title, [names.get(name, name) for name in dict.fromkeys(section.metrics)])
        for section in edition.sections
    ]
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


def _history(checker: Checker, history: History) -> None:
    what = f"history `{history.name}`"
    shown = [name for section in history.sections for name in section.metrics]
    check_shown_metrics(checker, what, tuple(shown))
    listed = Counter(metric.id for metric in checker.package.metrics)
    for name, times in Counter(shown).items():
        if times > 1 and listed[name] <= 1:  # two metrics of one id are told already
            checker.report("duplicate-metric", f"{what} shows the metric `{name}` {times} times", name)
    reports = {report.name: report for report in checker.package.reports}
    if history.name in reports or [item.name for item in checker.package.histories].count(history.name) > 1:
        checker.report(
            "duplicate-report",
            f"{what} is called as another report of its package",
            history.name,
            hint="rename one of them",
        )
    if history.of not in reports:
        checker.report(
            "unknown-report",
            f"{what} is of a report that its package does not list: `{history.of}`",
            history.of or history.name,
            hint=did_you_mean(history.of, reports),
            within=(history.name,),
        )
    elif not reports[history.of].editions:
        checker.report(
            "no-editions",
            f"{what} is of the report `{history.of}`, which has no editions",
            history.name,
            hint="publications are read by the editions of their report",
        )
    _breaks(checker, what, history, set(shown))


def _breaks(checker: Checker, what: str, history: History, shown: set[str]) -> None:
    for item in history.breaks:
        for name in sorted(set(item.metrics) - shown):
            checker.report(
                "unknown-metric",
                f"{what} has a break of a metric that it does not show: `{name}`",
                name,
                hint=did_you_mean(name, shown),
            )
        if not item.metrics:
            checker.report("break-metrics", f"{what} has a break without metrics", item.since)
        if not is_day(item.since):
            checker.report(
                "break-day",
                f"{what} has a break on a day that does not exist",
                history.name,
                expected="YYYY-MM-DD",
                found=item.since,
            )


def is_day(text: str) -> bool:
    """Whether a text is a day that exists, as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
