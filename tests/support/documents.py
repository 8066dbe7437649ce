"""Tables and charts of documents, as plain data and as `Document`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from assay.report.document import Chart, Document, Part
from assay.report.tables import MetricTable


def list_sections(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tables of metrics of a document as plain data."""
    return [table for part in document["parts"] for table in part["tables"] if "metrics" in table]


def list_charts(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the charts of distributions of a document as plain data."""
    return [figure for part in document["parts"] for figure in part["plots"] if figure and "series" in figure]


def replace_parts(document: Document, sections: Iterable[MetricTable], charts: Iterable[Chart]) -> Document:
    """Return a document with a part for each table of metrics, one for charts, and its other parts."""
    tables, drawn = {*document.metric_tables}, {*document.distributions}
    others = (part for part in document.parts if tables.isdisjoint(part.tables) and drawn.isdisjoint(part.plots))
    parts = [Part(table.id, table.title, (), (), (table,)) for table in sections]
    if charts := tuple(charts):
        parts.append(Part("distributions", "Distributions", ("How to read them.",), charts, ()))
    return dataclasses.replace(document, parts=(*parts, *others))


def replace_sections(document: Document, *sections: MetricTable) -> Document:
    """Return a document with these tables of metrics."""
    return replace_parts(document, sections, document.distributions)


def replace_charts(document: Document, *charts: Chart) -> Document:
    """Return a document with these charts."""
    return replace_parts(document, document.metric_tables, charts)
