"""Find the edition of a publication, its names of metrics, and the rows of a publication by metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.checked_package import CheckedPackage
from assay.lang.editions import find_edition, relabel_metrics
from assay.lang.model.report import Edition, Report
from assay.publication.model import Facts, MetricRow, Publication, Table
from assay.util.diagnostics import Diagnostic, Span, fail, raise_all, suggest_names

Word = tuple[str, str]
"""Name and unit symbol of a metric; or two names of the same thing."""

Locate = Callable[[Sequence[str]], Span]
"""Returns the position of strings in the publication's file, each after the one before it."""


def collect_metric_words(checked: CheckedPackage, edition: Edition) -> dict[str, Word]:
    """Return the names and unit symbols of metrics in an edition."""
    return {item.id: (item.name, item.unit.symbol) for item in relabel_metrics(checked, edition).package.metrics}


def choose_edition(report: Report, day: str, name: str | None) -> Edition:
    """Return the edition with a name, or that of a day.  Raises AssayError (usage) as `find_edition` does."""
    if name is not None or not report.editions:
        return find_edition(report, name or "")
    return next((item for item in reversed(report.editions) if item.since <= day), report.editions[0])


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """A publication's rows in the order of the edition: the manifest, and (metric, row) of each section."""

    manifest: tuple[Facts, ...]
    sections: tuple[tuple[tuple[str, MetricRow], ...], ...]
    counts: tuple[tuple[str, ...], ...]


def match_rows(
    publication: Publication, checked: CheckedPackage, report: Report, edition: Edition, locate: Locate
) -> MatchedRows:
    """Match a publication's rows to the labels of an edition.

    Raises AssayError `publication` with every row that is unknown, duplicate, missing or in another unit.
    """
    problems = list(_find_problems(publication, checked, edition, locate))
    if problems:
        fitting_editions = [
            item.name
            for item in report.editions
            if item != edition and not any(_find_problems(publication, checked, item, locate))
        ]
        if fitting_editions:
            hint = f"pass --edition {fitting_editions[-1]}: the publication matches this edition"
            raise fail(
                "other-edition",
                f"the publication of {publication.day} does not match edition `{edition.name}`",
                span=locate(["date"]),
                notes=[item.message for item in problems[:3]],
                hint=hint,
            )
        raise_all(problems)
    tables = {table.title: table for table in publication.tables}
    facts_by_label = {item.label: item for item in publication.manifest}
    names = collect_metric_words(checked, edition)
    return MatchedRows(
        tuple(facts_by_label[row.label] for row in edition.manifest),
        tuple(
            tuple((metric, _index_rows(tables[section.title])[names[metric][0]]) for metric in section.metrics)
            for section in edition.sections
        ),
        tuple(tables[section.title].counts for section in edition.sections),
    )


def _index_rows(table: Table) -> dict[str, MetricRow]:
    return {row.label: row for row in table.rows}


def _find_problems(
    publication: Publication, checked: CheckedPackage, edition: Edition, locate: Locate
) -> Iterator[Diagnostic]:
    labels = [row.label for row in edition.manifest]
    published_labels = [item.label for item in publication.manifest]
    yield from _compare_labels("row", ("manifest", "the manifest"), (published_labels, labels), edition, locate)
    titles = [section.title for section in edition.sections]
    published_labels = [table.title for table in publication.tables]
    yield from _compare_labels("section", ("sections", "the publication"), (published_labels, titles), edition, locate)
    tables = {table.title: table for table in publication.tables}
    names = collect_metric_words(checked, edition)
    for section in edition.sections:
        if section.title in tables:
            yield from _find_row_problems(
                tables[section.title], [names[name] for name in section.metrics], edition, locate
            )


def _find_row_problems(
    table: Table, expected: Sequence[Word], edition: Edition, locate: Locate
) -> Iterator[Diagnostic]:
    section = f"section `{table.title}`"
    published_labels, names = [row.label for row in table.rows], [name for name, _ in expected]
    yield from _compare_labels("row", (table.title, section), (published_labels, names), edition, locate)
    symbols: Mapping[str, str] = dict(expected)
    for row in table.rows:
        if row.label in symbols and row.unit != symbols[row.label]:
            yield Diagnostic(
                "publication",
                f"{section}, row `{row.label}`: the unit is not that of edition `{edition.name}`",
                locate((table.title, row.label, "unit")),
                expected=symbols[row.label],
                found=row.unit,
            )


def _compare_labels(
    kind: str,
    container_words: Word,
    labels: tuple[Sequence[str], Sequence[str]],
    edition: Edition,
    locate: Locate,
) -> Iterator[Diagnostic]:
    """Yield the labels that are missing, unknown or duplicate; `labels` are the published and the expected ones.

    `container_words` is the string that precedes them in the file, and its name in words.
    """
    published_labels, expected_labels = labels
    anchor, container = container_words
    for label in dict.fromkeys(published_labels):
        if label not in expected_labels:
            yield Diagnostic(
                "publication",
                f"{container} has an unknown {kind} `{label}`: edition `{edition.name}` does not have it",
                locate((anchor, label)),
                hint=suggest_names(label, set(expected_labels) - set(published_labels)),
            )
        elif published_labels.count(label) > 1:
            message = f"{container} has {published_labels.count(label)} {kind}s called `{label}`"
            yield Diagnostic("publication", message, locate((anchor, label)))
    for label in expected_labels:
        if label not in published_labels:
            message = f"{container} lacks a {kind} of edition `{edition.name}`: `{label}`"
            yield Diagnostic("publication", message, locate((anchor,)))
