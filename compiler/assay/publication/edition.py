"""Editions: the one that a publication is in, what it calls each metric, and the rows of a publication by metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.lang.model.report import Edition, Report
from assay.lang.normal_form import CheckedPackage
from assay.publication.model import Facts, MetricRow, Publication, Table
from assay.util.diagnostics import USAGE, Diagnostic, Span, did_you_mean, fail, raise_all

Word = tuple[str, str]
"""Name and unit symbol of a metric; or what a thing is called in one place, and in another."""

Locate = Callable[[Sequence[str]], Span]
"""Where strings stand in the publication's file, each after the one before it."""


def words(checked: CheckedPackage, edition: Edition) -> dict[str, Word]:
    """What an edition calls each metric and its unit."""
    found = {metric.id: (metric.name, metric.unit.symbol) for metric in checked.package.metrics}
    for label in edition.labels:
        name, symbol = found[label.metric]
        found[label.metric] = (
            name if label.name is None else label.name,
            symbol if label.symbol is None else label.symbol,
        )
    return found


def chosen(report: Report, day: str, name: str | None) -> Edition:
    """The edition of a name, or that of a day; AssayError (usage) when there is none."""
    if not report.editions:
        raise fail("no-editions", f"the report `{report.name}` has no editions", status=USAGE)
    if name is not None:
        known = {item.name: item for item in report.editions}
        if name not in known:
            hint = did_you_mean(name, known)
            raise fail("unknown-edition", f"there is no edition `{name}`", hint=hint, status=USAGE)
        return known[name]
    return next((item for item in reversed(report.editions) if item.since <= day), report.editions[0])


@dataclass(frozen=True, slots=True)
class Matched:
    """A publication's rows in the edition's order: the manifest, and of each section (metric, row)."""

    manifest: tuple[Facts, ...]
    sections: tuple[tuple[tuple[str, MetricRow], ...], ...]
    counts: tuple[tuple[str, ...], ...]


def matched(
    publication: Publication, checked: CheckedPackage, report: Report, edition: Edition, locate: Locate
) -> Matched:
    """A publication's rows by the labels of an edition.

    Raises AssayError `publication` with every row that is not the edition's, in other units, twice, or missing.
    """
    problems = list(_problems(publication, checked, edition, locate))
    if problems:
        fitting = [
            item.name
            for item in report.editions
            if item != edition and not any(_problems(publication, checked, item, locate))
        ]
        if fitting:
            hint = f"everything is as in edition `{fitting[-1]}`: --edition {fitting[-1]}"
            raise fail(
                "other-edition",
                f"the publication of {publication.day} is not in edition `{edition.name}`",
                span=locate(["date"]),
                notes=[item.message for item in problems[:3]],
                hint=hint,
            )
        raise_all(problems)
    tables = {table.title: table for table in publication.tables}
    facts = {item.label: item for item in publication.manifest}
    names = words(checked, edition)
    return Matched(
        tuple(facts[row.label] for row in edition.manifest),
        tuple(
            tuple((metric, _rows(tables[section.title])[names[metric][0]]) for metric in section.metrics)
            for section in edition.sections
        ),
        tuple(tables[section.title].counts for section in edition.sections),
    )


def _rows(table: Table) -> dict[str, MetricRow]:
    return {row.label: row for row in table.rows}


def _problems(
    publication: Publication, checked: CheckedPackage, edition: Edition, locate: Locate
) -> Iterator[Diagnostic]:
    labels = [row.label for row in edition.manifest]
    found = [item.label for item in publication.manifest]
    yield from _unlike("row", ("manifest", "the manifest"), found, labels, edition, locate)
    titles = [section.title for section in edition.sections]
    found = [table.title for table in publication.tables]
    yield from _unlike("section", ("sections", "the publication"), found, titles, edition, locate)
    tables = {table.title: table for table in publication.tables}
    names = words(checked, edition)
    for section in edition.sections:
        if section.title in tables:
            yield from _row_problems(tables[section.title], [names[name] for name in section.metrics], edition, locate)


def _row_problems(table: Table, due: Sequence[Word], edition: Edition, locate: Locate) -> Iterator[Diagnostic]:
    what = f"section `{table.title}`"
    found, names = [row.label for row in table.rows], [name for name, _ in due]
    yield from _unlike("row", (table.title, what), found, names, edition, locate)
    symbols: Mapping[str, str] = dict(due)
    for row in table.rows:
        if row.label in symbols and row.unit != symbols[row.label]:
            yield Diagnostic(
                "publication",
                f"{what}, row `{row.label}`: the unit is not that of edition `{edition.name}`",
                locate((table.title, row.label, "unit")),
                expected=symbols[row.label],
                found=row.unit,
            )


def _unlike(
    kind: str, within: Word, found: Sequence[str], due: Sequence[str], edition: Edition, locate: Locate
) -> Iterator[Diagnostic]:
    """Labels that are missing, unknown, or there twice; `within`: what stands before them in the file, and in words."""
    before, what = within
    for label in dict.fromkeys(found):
        if label not in due:
            yield Diagnostic(
                "publication",
                f"{what} has a {kind} that edition `{edition.name}` does not know: `{label}`",
                locate((before, label)),
                hint=did_you_mean(label, set(due) - set(found)),
            )
        elif found.count(label) > 1:
            message = f"{what} has {found.count(label)} {kind}s called `{label}`"
            yield Diagnostic("publication", message, locate((before, label)))
    for label in due:
        if label not in found:
            message = f"{what} lacks a {kind} of edition `{edition.name}`: `{label}`"
            yield Diagnostic("publication", message, locate((before,)))
