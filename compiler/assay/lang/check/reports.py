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
from assay.lang.metrics_of_grains import GRAIN_MARK
from assay.lang.model.package import Metric
from assay.lang.model.report import Chart, Edition, Report, Section, is_section
from assay.lang.report_shorthand import DISTRIBUTIONS
from assay.lang.segments import MOST_DIMENSIONS, list_dimensions
from assay.util.diagnostics import suggest_names, suggest_nearest
from assay.util.escape import reduce_name

MOST_LINES = 6  # of a split chart, besides those of rows without a value and of all other values: there are 8 colours
RUN_PLACEHOLDERS = ("base", "others", "last")
PUBLICATION_PLACEHOLDERS = ("publications", "first", "last", "workloads", "editions")
_PLACEHOLDER = re.compile(r"\{([^{}]*)(\}?)")


def check_titles(checker: Checker) -> None:
    """Check titles, introductions and parts of every report."""
    constants = tuple(f"constant.{name}" for name in scopes.collect_constants(checker.package))
    for item in checker.package.reports:
        owner = f"report `{item.name}`"
        placeholders = PUBLICATION_PLACEHOLDERS if item.over else (*RUN_PLACEHOLDERS, *constants)
        if not reduce_name(item.title):
            checker.report("title", f"{owner} has no title", item.name)
        for field, text in (("title", item.title), ("intro", item.intro)):
            _check_placeholders(checker, f"the {field} of {owner}", text, item.name, placeholders)
        parts = list(_list_parts(item))
        for kind, title, has_content in parts:
            if not reduce_name(title):
                checker.report("title", f"a {kind} of {owner} has no title", item.name)
            elif not has_content:
                checker.report("empty-part", f"{kind} `{title}` of {owner} shows nothing", title)
        if not parts:
            expected = "sections, charts, a dictionary or parts"
            checker.report("empty-report", f"{owner} shows nothing", item.name, expected=expected)


def _list_parts(report: Report) -> Iterator[tuple[str, str, bool]]:
    """Yield kind and title of each part of a report, and whether it has content."""
    yield from (("section", section.title, bool(section.metrics)) for _, section in report.metric_sections)
    yield from (("dictionary group", group.title, bool(group.metrics)) for group in report.dictionary)
    yield from (("part", part.title, bool(part.blocks)) for part in report.parts if not is_section(part))


def _check_placeholders(checker: Checker, owner: str, text: str, name: str, known_names: Sequence[str]) -> None:
    """Check that the placeholders of a text are closed and known."""
    expected = ", ".join(f"{{{item}}}" for item in known_names)
    for match in _PLACEHOLDER.finditer(text):
        placeholder, closing = match.groups()
        if closing and placeholder in known_names:
            continue
        word = text if checker.locate(text, 0)[0] else name
        if closing:
            message, hint = f"unknown placeholder `{match[0]}` in {owner}", suggest_nearest(placeholder, known_names)
        else:
            message = f"unclosed placeholder `{match[0][:40]}` in {owner}"
            hint = suggest_nearest(placeholder.strip(), known_names)
        checker.report("placeholder", message, word, expected=expected, hint=hint, cause=text + placeholder)


def check_reports(checker: Checker) -> None:
    """Check every report of the package."""
    _check_has_summary(checker)
    checked_sections: list[Section] = []
    for report in checker.package.reports:
        check_shown_metrics(checker, f"report `{report.name}`", (*report.listed_metrics, *report.also))
        _check_charts(checker, report)
        _check_summary(checker, report)
        _check_constants(checker, report)
        enumerations.check_manifest(checker, report)
        filters.check_filter_uses(checker, f"report `{report.name}`", report.filters, report.name)
        _check_distinct_parts(checker, report)
        _check_splits(checker, report, checked_sections)
        _check_editions(checker, report)


def check_shown_metrics(checker: Checker, owner: str, names: tuple[str, ...]) -> None:
    """Check that the package lists every metric that `owner` shows."""
    metrics = {metric.id for metric in checker.package.metrics}
    grains = [grain.name for grain in checker.package.grains]
    reported_grains = {metric.grain for metric in checker.package.metrics}  # at their metrics
    for name in sorted(set(names) - metrics):
        if name.startswith(GRAIN_MARK):
            if (grain := name.removeprefix(GRAIN_MARK)) not in reported_grains:
                checker.report_unlisted("grain", grain, f"in {owner}", grains)
        else:
            checker.report_unlisted("metric", name, f"in {owner}", metrics)


def check_compared_metrics(checker: Checker, owner: str, names: Iterable[str], within: Sequence[str]) -> None:
    """Report metrics that a table compares between runs, and the package does not list."""
    metric_ids = [metric.id for metric in checker.package.metrics]
    for name in dict.fromkeys(names):
        if name not in metric_ids:
            checker.report_unlisted("metric", name, f"in {owner}", metric_ids, within=within)


def _check_charts(checker: Checker, report: Report) -> None:
    """Check that no chart is of a formula: it has one value in a run, so no distribution."""
    formulas = {metric.id for metric in checker.package.metrics if formula.is_formula(metric)}
    for name in dict.fromkeys(chart.metric for _, chart in report.metric_charts if chart.metric in formulas):
        checker.report(
            "chart-of-formula",
            f"report `{report.name}` has a chart of `{name}`, which is a formula and has no distribution",
            name,
            hint="show it in a section instead",
        )


def _check_splits(checker: Checker, report: Report, checked_sections: list[Section]) -> None:
    """Check the dimensions of split sections and charts: all of their metrics must have them.

    A section that reports or parts share is checked in the first of them, which adds it to `checked_sections`.
    """
    metrics = formula.index_metrics(checker.package)
    for name, section in report.metric_sections:
        content = Section(*(getattr(section, field.name) for field in dataclasses.fields(Section)))
        if not section.by or content in checked_sections:
            continue
        checked_sections.append(content)
        owner = f"section `{name}` of report `{report.name}`"
        split_metrics = [metrics[item] for item in section.metrics if item in metrics]
        _check_split(checker, owner, section.title, section, split_metrics)
    for chart in (item for _, item in report.metric_charts if item.by and item.metric in metrics):
        owner = f"the chart of `{chart.metric}` in report `{report.name}`"
        _check_split(checker, owner, chart.metric, chart, [metrics[chart.metric]])
        if chart.limit > MOST_LINES:
            message, hint = f"{owner} has too many lines", "the other values share one line"
            checker.report("dimensions", message, chart.metric, expected=f"a `limit` of at most {MOST_LINES}",
                           found=str(chart.limit), hint=hint)  # fmt: skip
    for edition in report.editions:
        _refuse_splits(checker, f"edition `{edition.name}` of report `{report.name}`", edition.name, edition.sections)
        _refuse_splits(checker, f"edition `{edition.name}` of report `{report.name}`", edition.name, edition.charts)


def _refuse_splits(checker: Checker, owner: str, name: str, parts: Sequence[Section | Chart]) -> None:
    """Report split parts where values are those that were published."""
    for part in (item for item in parts if item.by):
        word = part.metric if isinstance(part, Chart) else part.title
        message = f"{owner} cannot split `{word}`: it shows published values"
        checker.report("dimensions", message, word, hint="remove `by`", within=(name,))


def _check_split(checker: Checker, owner: str, word: str, split: Section | Chart, metrics: Sequence[Metric]) -> None:
    """Check that there are one or two dimensions, that each metric has them, and that there is a limit."""
    if len(split.by) > MOST_DIMENSIONS or len({*split.by}) < len(split.by):
        message, expected = f"{owner} cannot be split like this", f"one dimension, or {MOST_DIMENSIONS} different ones"
        checker.report("dimensions", message, word, expected=expected, found=", ".join(split.by))
    if not split.limit:
        message, hint = f"{owner} is split into no values", "`R.splitBy` and `R.chartBy` set `by` and a `limit`"
        checker.report("dimensions", message, word, expected="a `limit` of at least 1", hint=hint)
    for name in dict.fromkeys(split.by):
        unsplit_metrics = [item for item in metrics if name not in list_dimensions(checker.package, item)]
        if not unsplit_metrics:
            continue
        first, count = unsplit_metrics[0], len(unsplit_metrics) - 1
        dimensions = list_dimensions(checker.package, first)
        checker.report(
            "unknown-dimension",
            f"{owner} is split by `{name}`, which is not a dimension of `{first.id}`"
            + (f" and {count} more of its metrics" if count else ""),
            name,
            expected=", ".join(dimensions) or "a metric whose grain has `dimensions`",
            hint=suggest_names(name, dimensions)
            if dimensions
            else f"add the column to the `dimensions` of grain `{first.grain}`, or remove the metric"
            + (f"; `assay build --by {name}` needs no dimension" if isinstance(split, Section) else ""),
            within=(word,),
        )


def _check_has_summary(checker: Checker) -> None:
    """Check that the package has a summary: averages of metrics need one."""
    package = checker.package
    if (package.metrics or package.reports) and not package.summaries:
        checker.report(
            "no-summary",
            f"package `{package.system}` has no summary, which defines averages",
            package.system,
            expected="at least one entry in `summaries`",
            hint='for example `S.Summary::{ name = "all", doc = "All samples count alike" }`',
        )


def _check_summary(checker: Checker, report: Report) -> None:
    summaries = {item.name for item in checker.package.summaries}
    if summaries and report.summary and report.summary not in summaries:
        checker.report_unknown(
            "summary",
            report.summary,
            f"in report `{report.name}`",
            summaries,
            within=(report.name,),
        )


def _check_constants(checker: Checker, report: Report) -> None:
    constants = set(scopes.collect_constants(checker.package))
    labels = (report.label,) if report.label else ()
    for name in (*labels, *report.compare, *(row.constant for row in report.manifest if row.constant)):
        if name not in constants:
            checker.report_unknown(
                "constant",
                name,
                f"in report `{report.name}`",
                constants,
                word=name or report.name,
                within=(report.name,),
            )


def _check_distinct_parts(checker: Checker, report: Report) -> None:
    """Check that sections, charts and entries of the dictionary are distinct.

    A metric whose id is a duplicate is skipped: that is reported on its own.
    """
    metrics = Counter(item.id for item in checker.package.metrics)
    entries = [name for group in report.dictionary for name in group.metrics]
    groups: tuple[tuple[str, Sequence[str], tuple[str, ...]], ...] = (
        ("charts of", _list_short_charts(report), (Field("charts"),)),
        ("entries of the dictionary for", entries, (Field("dictionary"),)),
        *((f"rows of section `{name}` for", item.metrics, (item.title,)) for name, item in report.metric_sections),
    )
    for part_label, names, within in groups:
        for name, times in Counter(names).items():
            if times > 1 and metrics[name] < 2:
                message = f"report `{report.name}` has {times} {part_label} `{name}`"
                hint = "remove or rename all but one"
                checker.report("duplicate-part", message, name or report.name, hint=hint, within=(report.name, *within))
    times_by_name = Counter(name for name, _ in report.metric_sections)
    for name, section in {name: item for name, item in report.metric_sections if times_by_name[name] > 1}.items():
        message = f"report `{report.name}` has {times_by_name[name]} sections named `{name}`"
        hint = "remove or rename all but one" if name == section.title else "rename all but one section, or their part"
        checker.report("duplicate-part", message, section.title, hint=hint, within=(report.name,))


def _list_short_charts(report: Report) -> list[str]:
    """Return metric and dimensions of each chart in `charts` of a report."""
    return [" by ".join((item.metric, *item.by)) for part, item in report.metric_charts if part == DISTRIBUTIONS]


def _check_editions(checker: Checker, report: Report) -> None:
    for name, times in Counter(item.name for item in report.editions).items():
        if times > 1:
            checker.report(
                "duplicate-edition",
                f"{times} editions of report `{report.name}` are named `{name}`",
                name,
                hint="rename all but one",
            )
    for edition in report.editions:
        owner = f"edition `{edition.name}` of report `{report.name}`"
        check_shown_metrics(checker, owner, (*edition.listed_metrics, *(label.metric for label in edition.labels)))
        _check_labels(checker, owner, edition)
        if not is_day(edition.since):
            checker.report(
                "edition-day",
                f"invalid first day of {owner}",
                edition.name,
                expected="YYYY-MM-DD",
                found=edition.since,
            )
    for previous, edition in pairwise(report.editions):
        if edition.since <= previous.since:
            checker.report(
                "edition-order",
                f"edition `{edition.name}` of report `{report.name}` does not begin after the previous edition",
                edition.name,
                expected=f"a day after {previous.since}",
                found=edition.since,
                hint="list editions in the order of their days",
            )


def _check_labels(checker: Checker, owner: str, edition: Edition) -> None:
    """Check that the rows of a table have distinct labels in an edition."""
    edition_labels = {label.metric: label.name for label in edition.labels}
    names = {metric.id: edition_labels.get(metric.id) or metric.name for metric in checker.package.metrics}
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
                    f"{owner} has {times} rows named `{label}` in {title}",
                    edition.name,
                    hint="rename one of them in the edition's `labels`",
                )


def is_day(text: str) -> bool:
    """Return whether a text is an existing day as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
