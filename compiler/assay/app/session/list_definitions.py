"""List the definitions of specs (`assay list`, shell completion)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.app.session.session import Session
from assay.explain.wording import describe_interval, describe_window
from assay.lang import series_wording
from assay.lang.blocks.timeline import Timeline
from assay.lang.model.package import Column, Grain, Package
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.plan.planner import group_metric

Row = tuple[str, ...]


def list_definitions(session: Session, kind: str, systems: Sequence[str]) -> tuple[Row, list[Row]]:
    """Return the header and rows of the list of a kind of definitions; `kind` is one of `KINDS`.

    For several systems, a column names the system; the names of reports contain it anyway.
    """
    header, list_rows = _CATALOGUES[kind]
    rows = [(system, row) for system in systems for row in list_rows(session.load_package(system).package, system)]
    if kind == "reports" or len(systems) == 1:
        return header, [row for _, row in rows]
    return (header[0], "system", *header[1:]), [(row[0], system, *row[1:]) for system, row in rows]


def _list_metric_rows(package: Package, _system: str) -> list[Row]:
    return [(item.id, item.name, item.unit.symbol, item.grain, item.better, item.doc) for item in package.metrics]


def _list_event_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            event.name,
            ", ".join(field.name for field in event.fields),
            ", ".join(dict.fromkeys(name.name for form in event.forms for name in form.names)),
            event.doc,
        )
        for event in package.events
    ]


def _list_grain_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            grain.name,
            ", ".join(grain.key),
            ", ".join(instant.name for instant in grain.instants),
            ", ".join(grain.dimensions),
            grain.doc,
        )
        for grain in package.grains
    ]


def _list_column_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            grain.name,
            column.name,
            column.type,
            column.unit.symbol,
            _describe_split(package, grain, column),
            column.doc or "A field of the record",  # fields have no text of their own
        )
        for grain in package.grains
        for column in grain.all_columns
    ]


def _describe_split(package: Package, grain: Grain, column: Column) -> str:
    """Return how `--by` may use a column: as a dimension, by its values, or not at all (empty)."""
    if column.name in grain.dimensions:
        return "dimension"
    metrics = (metric for metric in package.metrics if metric.grain == grain.name)
    return "values" if any(group_metric(package, metric, column.name) for metric in metrics) else ""


def _list_filter_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            item.name + (f"={item.parameter.name.upper()}" if item.parameter else ""),
            ", ".join(condition.grain for condition in item.conditions),
            item.doc,
        )
        for item in package.filters
    ]


def _list_report_rows(package: Package, system: str) -> list[Row]:
    return [
        (f"{system}/{report.name}", str(_count_metrics(report)), str(_count_charts(report)), report.doc)
        for report in package.reports
    ]


def _count_metrics(report: Report) -> int:
    """Count the metrics in the blocks of a report."""
    return len({name for block in report.blocks for name in block.read_metrics()})


def _count_charts(report: Report) -> int:
    return len(report.metric_charts) + sum(len(part.select(Timeline)) for part in report.parts)


def _list_series_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            item.name,
            item.unit.symbol,
            _describe_reading(item),
            "; else ".join(series_wording.describe_sample_filter(package, sampled) for sampled in item.samples)
            or ", ".join(dict.fromkeys(term.series for term in item.terms)),
            item.doc,
        )
        for item in package.series
    ]


def _describe_reading(item: Series) -> str:
    """Say how a series gets its values: read from samples, or computed from other series."""
    if item.terms:
        return "computed"
    if item.has_intervals:
        return f"{item.reading} in {describe_interval(item)}"
    return item.reading if item.reading == "latest" else f"{item.reading} over {describe_window(item)}"


_CATALOGUES = {
    "metrics": (("id", "name", "unit", "grain", "better", "what it is"), _list_metric_rows),
    "events": (("event", "fields", "names in logs", "what it is"), _list_event_rows),
    "grains": (("grain", "key", "instants", "dimensions", "what one row is"), _list_grain_rows),
    "columns": (("grain", "column", "type", "unit", "--by", "what it is"), _list_column_rows),
    "filters": (("filter", "on", "holds when"), _list_filter_rows),
    "series": (("series", "unit", "reading", "samples", "what it is"), _list_series_rows),
    "reports": (("report", "metrics", "charts", "what it is"), _list_report_rows),
}
KINDS = tuple(_CATALOGUES)
