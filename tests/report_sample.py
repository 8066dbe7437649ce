"""Report documents made of the reference data, and what the tests of reports share."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.report.document import Chart, Document, Entry, Group, Section, Series, Table
from tests.compare_reference import CARDANO, PUBLISHED, load

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
FONTS = TEMPLATES / "fonts"
RUNS = ("baseline", "candidate", "candidate2")


@functools.cache
def published() -> Any:
    """The published report whose names, units and descriptions the samples use."""
    return load(PUBLISHED / "release-10.5.4.plutus.json")


def _number(text: str) -> float:
    return float(text.rstrip(">"))


def series(run: str, label: str, metric: str) -> Series:
    """A run's reference chart points; texts that were cut to their width are put back in order."""
    points: list[tuple[float, float, float | None, float | None]] = []
    for centile, value, *hosts in load(CARDANO / run / "expected" / "cdf.json.gz")[metric]:
        x = max(_number(value), points[-1][0] if points else 0.0)
        low, high = (_number(hosts[0]), _number(hosts[1])) if hosts else (None, None)
        points.append((x, float(centile), low, high))
    return Series(label, tuple(points))


def published_chart(metric: str, report: str = "release-10.5.4.plutus") -> Chart:
    """A chart of a published report, from its recovered points."""
    runs = load(PUBLISHED / f"{report}.cdf.json")[metric]
    described = next(item for item in published()["charts"] if item["id"] == metric)
    drawn = tuple(
        Series(run, tuple((float(x), float(centile), None, None) for x, centile in points))
        for run, points in runs.items()
    )
    unit = described["xlabel"]
    return Chart(metric, described["figure"], described["caption"], unit, unit, "cdf", drawn)


def _sections(tables: Iterable[Any], ids: dict[str, str]) -> tuple[Section, ...]:
    return tuple(
        Section(
            id="-".join(table["title"].lower().split()),
            title=table["title"],
            doc="",
            header=tuple(table["header"]),
            rows=tuple(tuple(row) for row in table["rows"]),
            metrics=tuple(ids.get(row[0].rsplit(", ", 1)[0]) for row in table["rows"]),
        )
        for table in tables
    )


def _charts(labels: Sequence[str]) -> tuple[Chart, ...]:
    return tuple(
        Chart(
            item["id"],
            number,
            item["caption"],
            f"{item['caption']}, {item['xlabel']}",
            item["xlabel"],
            "cdf",
            tuple(series(run, label, item["id"]) for run, label in zip(RUNS, labels, strict=False)),
        )
        for number, item in enumerate(published()["charts"], start=1)
    )


def _dictionary() -> tuple[Group, ...]:
    units = {item["id"]: item["xlabel"] for item in published()["charts"]}

    def entry(item: dict[str, str]) -> Entry:
        definition = hashlib.sha256(item["id"].encode()).hexdigest()
        return Entry(item["id"], item["name"], units.get(item["id"], "s"), item["description"], definition)

    groups = published()["dictionary"].items()
    return tuple(Group(title, tuple(entry(item) for item in items)) for title, items in groups)


@functools.cache
def sample(name: str = "two") -> Document:
    """The document of the reference report `two` or `three`, with all of its charts."""
    tables = load(CARDANO / "reports" / f"{name}.json")
    manifest = tables["manifest"]
    labels = tuple(manifest["header"][1:])
    dictionary = _dictionary()
    ids = {entry.name: entry.id for group in dictionary for entry in group.entries}
    return Document(
        title=f"{labels[-1]} against {labels[0]}",
        subtitle="Value-only workload",
        author="A. Writer, Department of Measures",
        date="2026-02-14",
        intro=(f"{labels[-1]} is compared with {labels[0]} under a workload of plain payments.",),
        style="typst-2026",
        manifest=Table(manifest["title"], ("", *labels), tuple(map(tuple, manifest["rows"]))),
        sections=_sections(tables["sections"], ids),
        charts=_charts(labels),
        dictionary=dictionary,
        warnings=("3 of 97488 records were put into quarantine.",),
        filters=Table("Filters", ("Filter", "Argument", *labels), (("fullness", "0.8", *("5" for _ in labels)),)),
        provenance=(("engine", "2.0.0"), ("input", hashlib.sha256(b"input").hexdigest())),
    )


def with_charts(document: Document, count: int) -> Document:
    """The document with its first charts only: drawing takes most of a test's time."""
    return replace(document, charts=document.charts[:count])


def widened(document: Document, labels: Sequence[str]) -> Document:
    """The document over as many runs as there are labels: its further runs are repeated in turn."""

    def columns(row: Sequence[str], first: int, width: int) -> tuple[str, ...]:
        further = [row[at : at + width] for at in range(first, len(row), width)]
        cells = [cell for index in range(len(labels) - 1) for cell in further[index % len(further)]]
        return (*row[:first], *cells)

    def section(item: Section) -> Section:
        heads = [head for label in labels[1:] for head in (label, "Δ", "Δ%")]
        rows = tuple(columns(row, 2, 3) for row in item.rows)
        return replace(item, header=("", labels[0], *heads), rows=rows)

    def chart(item: Chart) -> Chart:
        drawn = [replace(item.series[i % len(item.series)], run=label) for i, label in enumerate(labels)]
        return replace(item, series=tuple(drawn))

    manifest = document.manifest
    filters = replace(document.filters, header=("Filter", "Argument"), rows=(("fullness", "0.8"),))
    return replace(
        document,
        manifest=Table(manifest.title, ("", *labels), tuple(columns(row, 2, 1) for row in manifest.rows)),
        sections=tuple(section(item) for item in document.sections),
        charts=tuple(chart(item) for item in document.charts),
        filters=filters,
    )
