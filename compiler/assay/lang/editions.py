"""Apply an edition to a report: its contents, its labels, and its names and units of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.lang.blocks.chart import Chart
from assay.lang.blocks.section import Section
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.parts import Part
from assay.lang.model.report import Cell, Edition, ManifestRow, Report
from assay.lang.report_shorthand import DISTRIBUTIONS
from assay.util.diagnostics import USAGE, fail, suggest_names

FORMER_ROW = "former row"
"""What a row of the manifest of an edition shows that the report no longer has."""


def find_edition(report: Report, name: str) -> Edition:
    """Return the edition with a name, or the only one of a year or month.

    Raises AssayError (usage): there is none, or there are several.
    """
    if not report.editions:
        hint = "leave out --edition" if name else ""
        raise fail("no-editions", f"the report `{report.name}` has no editions", hint=hint, status=USAGE)
    editions = {item.name: item for item in report.editions}
    if name in editions:
        return editions[name]
    fitting_names = [item for item in editions if item.startswith(f"{name}-")]
    if len(fitting_names) == 1:
        return editions[fitting_names[0]]
    expected = f"one of {', '.join(fitting_names or editions)}"
    hint = f"pass --edition {' or --edition '.join(fitting_names)}" if fitting_names else suggest_names(name, editions)
    message = f"`{name}` fits {len(fitting_names)} editions" if fitting_names else f"there is no edition `{name}`"
    raise fail("unknown-edition", message, expected=expected, hint=hint, status=USAGE)


def describe_edition(edition: Edition) -> str:
    """Return the name of an edition, and what changed in it."""
    return f"{edition.name}: {edition.doc}" if edition.doc else edition.name


def relabel_metrics(checked: CheckedPackage, edition: Edition) -> CheckedPackage:
    """Return a package whose metrics have the names and unit symbols of an edition."""
    labels = {item.metric: item for item in edition.labels}

    def relabel(metric: Metric) -> Metric:
        label = labels.get(metric.id)
        if label is None:
            return metric
        unit = metric.unit if label.symbol is None else replace(metric.unit, symbol=label.symbol)
        return replace(metric, name=metric.name if label.name is None else label.name, unit=unit)

    return replace(checked, package=replace(checked.package, metrics=tuple(map(relabel, checked.package.metrics))))


def apply_edition(report: Report, edition: Edition) -> Report:
    """Return the report with the contents, labels and number style of an edition, without its other parts.

    The results still have the metrics that the edition does not show.
    """
    # In a report, both are blocks of these kinds.
    sections = [
        Part(item.title, (Section(item.title, item.doc, item.metrics, item.columns, item.by, item.limit),))
        for item in edition.sections
    ]
    charts = tuple(Chart(item.metric, item.template, item.scale, item.by, item.limit) for item in edition.charts)
    return replace(
        report,
        manifest=tuple(_list_rows(report, edition)),
        parts=(*sections, *([Part(DISTRIBUTIONS, charts)] if charts else [])),
        dictionary=edition.dictionary,
        style=edition.style,
        also=tuple(dict.fromkeys((*report.listed_metrics, *report.also))),
        claims=(),  # they are about parts that the edition does not have
    )


def select_edition(checked: CheckedPackage, report: Report, name: str) -> tuple[CheckedPackage, Report]:
    """Return a package and its report in the edition with a name; both unchanged without one.

    Raises AssayError as `find_edition` does.
    """
    if not name:
        return checked, report
    edition = find_edition(report, name)
    return relabel_metrics(checked, edition), apply_edition(report, edition)


def list_former_rows(report: Report) -> tuple[str, ...]:
    """Return the labels of the rows of run parameters without a value, which only earlier editions have."""
    return tuple(row.label for row in report.manifest if row.built == FORMER_ROW)


def _list_rows(report: Report, edition: Edition) -> Iterator[ManifestRow]:
    """Yield the rows of the manifest of an edition; one that the report lacks has no value."""
    rows = {row.id: row for row in report.manifest}
    for item in edition.manifest:
        former = ManifestRow(item.id, item.label, "", "", "", "", FORMER_ROW, Cell("text", 0, ""))
        yield replace(rows.get(item.id, former), label=item.label)
