"""Report documents of the reference data, and other helpers of the tests of reports."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.report.document import Chart, Document, Entry, Group, Series
from assay.report.tables import MetricTable, Table
from tests.compare_reference import CARDANO, PUBLISHED, load_json
from tests.support.documents import replace_charts, replace_parts

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
FONTS = TEMPLATES / "fonts"
RUNS = ("baseline", "candidate", "candidate2")


@functools.cache
def load_published() -> Any:
    """Load the published report whose names, units and descriptions the samples use."""
    return load_json(PUBLISHED / "release-10.5.4.plutus.json")


def _parse_number(text: str) -> float:
    return float(text.rstrip(">"))


def read_series(run: str, label: str, metric: str) -> Series:
    """Read a run's reference chart points; cut texts are restored to ascending order."""
    points: list[tuple[float, float, float | None, float | None]] = []
    for centile, value, *hosts in load_json(CARDANO / run / "expected" / "cdf.json.gz")[metric]:
        x = max(_parse_number(value), points[-1][0] if points else 0.0)
        low, high = (_parse_number(hosts[0]), _parse_number(hosts[1])) if hosts else (None, None)
        points.append((x, float(centile), low, high))
    return Series(label, tuple(points))


def build_published_chart(metric: str, report: str = "release-10.5.4.plutus") -> Chart:
    """Build a chart of a published report from its recovered points."""
    runs = load_json(PUBLISHED / f"{report}.cdf.json")[metric]
    description = next(item for item in load_published()["charts"] if item["id"] == metric)
    lines = tuple(
        Series(run, tuple((float(x), float(centile), None, None) for x, centile in points))
        for run, points in runs.items()
    )
    unit = description["xlabel"]
    return Chart(metric, description["figure"], description["caption"], unit, unit, "cdf", lines)


def _build_sections(tables: Iterable[Any], ids: dict[str, str]) -> tuple[MetricTable, ...]:
    return tuple(
        MetricTable(
            id="-".join(table["title"].lower().split()),
            title=table["title"],
            doc="",
            header=tuple(table["header"]),
            rows=tuple(tuple(row) for row in table["rows"]),
            metrics=tuple(ids.get(row[0].rsplit(", ", 1)[0]) for row in table["rows"]),
        )
        for table in tables
    )


def _build_charts(labels: Sequence[str]) -> tuple[Chart, ...]:
    return tuple(
        Chart(
            item["id"],
            number,
            item["caption"],
            f"{item['caption']}, {item['xlabel']}",
            item["xlabel"],
            "cdf",
            tuple(read_series(run, label, item["id"]) for run, label in zip(RUNS, labels, strict=False)),
        )
        for number, item in enumerate(load_published()["charts"], start=1)
    )


def _build_dictionary() -> tuple[Group, ...]:
    units = {item["id"]: item["xlabel"] for item in load_published()["charts"]}

    def build_entry(item: dict[str, str]) -> Entry:
        definition = hashlib.sha256(item["id"].encode()).hexdigest()
        return Entry(item["id"], item["name"], units.get(item["id"], "s"), item["description"], definition)

    groups = load_published()["dictionary"].items()
    return tuple(Group(title, tuple(build_entry(item) for item in items)) for title, items in groups)


@functools.cache
def build_sample(name: str = "two") -> Document:
    """Build the document of the reference report `two` or `three`, with all of its charts."""
    tables = load_json(CARDANO / "reports" / f"{name}.json")
    manifest = tables["manifest"]
    labels = tuple(manifest["header"][1:])
    dictionary = _build_dictionary()
    ids = {entry.name: entry.id for group in dictionary for entry in group.entries}
    document = Document(
        title=f"{labels[-1]} against {labels[0]}",
        subtitle="Value-only workload",
        author="A. Writer, Department of Measures",
        date="2026-02-14",
        intro=(f"{labels[-1]} is compared with {labels[0]} under a workload of plain payments.",),
        style="typst-2026",
        manifest=Table(manifest["title"], ("", *labels), tuple(map(tuple, manifest["rows"]))),
        parts=(),
        dictionary=dictionary,
        warnings=("3 of 97488 records were put into quarantine.",),
        filters=Table("Filters", ("Filter", "Argument", *labels), (("fullness", "0.8", *("5" for _ in labels)),)),
        provenance=(("engine", "2.0.0"), ("input", hashlib.sha256(b"input").hexdigest())),
    )
    return replace_parts(document, _build_sections(tables["sections"], ids), _build_charts(labels))


def limit_charts(document: Document, count: int) -> Document:
    """Return the document with its first charts only, because drawing takes most of a test's time."""
    return replace_charts(document, *document.distributions[:count])


def widen_document(document: Document, labels: Sequence[str]) -> Document:
    """Return the document with one run per label; its runs are repeated in turn."""

    def repeat_columns(row: Sequence[str], first: int, width: int) -> tuple[str, ...]:
        run_parts = [row[start : start + width] for start in range(first, len(row), width)]
        cells = [cell for index in range(len(labels) - 1) for cell in run_parts[index % len(run_parts)]]
        return (*row[:first], *cells)

    def widen_section(item: MetricTable) -> MetricTable:
        header = [heading for label in labels[1:] for heading in (label, "Δ", "Δ%")]
        rows = tuple(repeat_columns(row, 2, 3) for row in item.rows)
        return replace(item, header=("", labels[0], *header), rows=rows)

    def widen_chart(item: Chart) -> Chart:
        lines = [replace(item.series[i % len(item.series)], run=label) for i, label in enumerate(labels)]
        return replace(item, series=tuple(lines))

    manifest = document.manifest
    filters = replace(document.filters, header=("Filter", "Argument"), rows=(("fullness", "0.8"),))
    sections, charts = map(widen_section, document.metric_tables), map(widen_chart, document.distributions)
    return replace(
        replace_parts(document, sections, charts),
        manifest=Table(manifest.title, ("", *labels), tuple(repeat_columns(row, 2, 1) for row in manifest.rows)),
        filters=filters,
    )
