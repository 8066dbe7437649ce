"""Trace the columns of a metric, a series or a report back to raw records (`assay lineage`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.app import filters
from assay.app.compute import report_metrics
from assay.app.prose import read_prose
from assay.app.session import Session
from assay.app.subject import FormulaSubject, MetricSubject, SeriesSubject, find_subject
from assay.engine.compiled_plan import CompiledPlan, compile_plan
from assay.explain.facts import list_appearances
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, list_constants
from assay.lang.model.article import Article
from assay.lang.model.package import Metric, Package, Series
from assay.lang.model.report import History, Report
from assay.lineage.column_lineage import CONSTANTS, Origin
from assay.lineage.constants import constants, declared
from assay.lineage.graph import Graph, as_data, graph, place_of, raw_places
from assay.lineage.metric_lineage import Lineage, fields, lineage, root
from assay.lineage.tree import FilterRow, field_rows
from assay.plan.planner import AppliedFilter, EventStep, rows_of
from assay.report.blocks.rows import listed, series_of
from assay.report.run_results import row_label
from assay.util.diagnostics import USAGE, fail


def filterable(
    package: Package, metrics: Sequence[Metric], metric_lineage: Lineage
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield event, field and paths in raw records of fields that only unapplied filters would read.

    The definition hashes of metrics depend on these fields, although they are not in the lineage. Sorted.
    """
    plain, under_all = (
        dependencies.collect_dependencies(package, metrics, filters).events for filters in ((), package.filters)
    )
    sources = {item.name: item for item in package.sources}
    for event in sorted(package.events, key=lambda item: item.name):
        read_fields = metric_lineage.events.get(event.name, frozenset()) | plain.get(event.name, set())
        source = sources[event.source]
        filter_fields = sorted(
            name for name in under_all.get(event.name, set()) - read_fields if not place_of(source, name)
        )
        for origin, ways in fields(EventStep(event, tuple(filter_fields))):
            yield event.name, origin.column, raw_places(source, origin.column, ways)


#: The column of a metric's statement that reports print.
MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Traced:
    """The lineage of a metric, series or report: filters, titles and printed cells of its roots, and its metrics."""

    checked: CheckedPackage
    name: str
    found: Lineage
    filters: tuple[str, ...]
    titles: Mapping[Origin, str]
    cells: Mapping[Origin, tuple[str, ...]]
    metrics: tuple[Metric, ...] = ()

    @property
    def filterable(self) -> tuple[FilterRow, ...]:
        """Event, field and paths of what filters that are not applied would read."""
        return tuple(filterable(self.checked.package, self.metrics, self.found))

    @property
    def graph(self) -> Graph:
        """The lineage as a graph."""
        return graph(self.found, self.checked.package, self.cells)

    def data(self) -> dict[str, object]:
        """Return the lineage as plain data."""
        rows = field_rows(self.found, self.checked.package)
        return {
            "name": self.name,
            "filters": list(self.filters),
            "fields": [
                {"event": event, "field": field, "role": role, "places": list(places)}
                for event, field, role, places in rows
            ],
            "filterable": [
                {"event": event, "field": field, "places": list(places)} for event, field, places in self.filterable
            ],
            "constants": [
                {
                    "name": item.name,
                    "role": item.role,
                    "files": list(item.files),
                    "path": list(item.path),
                    **({"or_at": [list(path) for path in item.or_at]} if item.or_at else {}),
                    "default": item.default,
                }
                for item in constants(self.checked.package, self.found)
            ],
            **as_data(self.graph),
        }


def lineage_of(
    session: Session, name: str, system: str | None = None, filter_texts: Sequence[str] = (), no_filters: bool = False
) -> Traced:
    """Return the lineage of a metric or series by its id, or of a report `system/name`.

    The filters are those of `filter_texts`, or else those of the report that shows the metric. Raises AssayError
    (usage) for unknown names.
    """
    if "/" in name:
        checked, report = session.find_report(name)
        if isinstance(report, History):
            message = f"`{name}` is made of published values: no logs lead to it"
            raise fail("no-lineage", message, hint="ask for the report that was published", status=USAGE)
        return _of_article(session, checked, name, report) if isinstance(report, Article) else _of_report(
            checked, name, report, filter_texts, no_filters
        )  # fmt: skip
    subject = find_subject(session, name, system)
    applied = subject.select_filters(filter_texts, no_filters)
    return trace_subject(subject, applied, subject.compile(applied))


def trace_subject(
    subject: MetricSubject | SeriesSubject, applied: Sequence[AppliedFilter], compiled: CompiledPlan
) -> Traced:
    """Return the lineage of a metric or series whose plan is compiled."""
    if isinstance(subject, FormulaSubject):
        return _of_formula(subject, compiled, applied)
    if isinstance(subject, MetricSubject):
        label = row_label(subject.title, subject.unit.symbol)
        start, metrics = root(compiled.statements, subject.id, MEAN), subject.metrics
    else:
        start, label, metrics = Origin(rows_of(subject.id), "value"), row_label("series", subject.unit.symbol), ()
    cells = {start: _cells(subject)}
    subject_lineage = lineage(compiled.statements, [start])
    return Traced(
        subject.checked,
        subject.id,
        subject_lineage,
        _labels(applied),
        {start: f"{subject.id}: {label}"},
        cells,
        metrics,
    )


def _of_formula(subject: FormulaSubject, compiled: CompiledPlan, applied: Sequence[AppliedFilter]) -> Traced:
    """Return the lineage of a formula: that of the measured metrics it depends on, and of its constants."""
    checked = subject.checked
    titles = {
        root(compiled.statements, item.id, MEAN): f"{item.id}: {row_label(item.title, item.unit.symbol)}"
        for item in subject.inputs
    }
    declarations = declared(checked.package)
    for name in list_constants(index_metrics(checked.package), subject.metric):
        titles[Origin(CONSTANTS, name)] = f"{CONSTANTS}{name}: {declarations[name].doc}"
    by_root = dict.fromkeys(titles, _cells(subject))
    formula_lineage = lineage(compiled.statements, titles)
    return Traced(checked, subject.id, formula_lineage, _labels(applied), titles, by_root, subject.metrics)


def _cells(subject: MetricSubject | SeriesSubject) -> tuple[str, ...]:
    """Return every printed cell that shows a metric or series."""
    appearances = list_appearances(subject.checked.package, subject.item)
    return tuple(
        f"{place.report}: {place.section}/{place.label}" for place in appearances if place.kind != "dictionary"
    )


def _labels(applied: Sequence[AppliedFilter]) -> tuple[str, ...]:
    return tuple(item.label for item in applied)


def _of_report(
    checked: CheckedPackage, name: str, report: Report, filter_texts: Sequence[str], no_filters: bool
) -> Traced:
    """Return the lineage of all cells of a report: its metrics, and the relations that its manifest prints."""
    applied = filters.applied(checked.package, report, filter_texts, no_filters)
    metrics = report_metrics(checked, report)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    statements = compile_plan(checked, metrics, applied, relations).statements
    cells: dict[Origin, list[str]] = {}
    titles: dict[Origin, str] = {}
    for metric in metrics:
        start = root(statements, metric.id, MEAN)
        label = row_label(metric.name, metric.unit.symbol)
        titles[start] = f"{metric.id}: {label}"
        cells[start] = [f"{part.title}/{label}" for part in report.sections if metric.id in part.metrics]
    for row in report.manifest:
        if row.relation:
            start = Origin(row.relation, row.column)
            titles.setdefault(start, f"{row.relation}.{row.column}: {row.label}")
            cells.setdefault(start, []).append(row.label)
    report_lineage = lineage(statements, titles)
    by_root = {item: tuple(texts) for item, texts in cells.items()}
    return Traced(checked, name, report_lineage, _labels(applied), titles, by_root, metrics)


def _of_article(session: Session, checked: CheckedPackage, name: str, article: Article) -> Traced:
    """Return the lineage of an article: the columns of its tables and figures, and its series."""
    rows = listed(checked, article, read_prose(session.workspace, checked, article).values())
    statements = compile_plan(checked, listed=rows, series=series_of(article)).statements
    titles: dict[Origin, str] = {}
    cells: dict[Origin, tuple[str, ...]] = {}
    for item in rows:
        for metric in item.metrics:
            start = Origin(item.name, metric.id)
            titles[start] = f"{metric.id}: {row_label(metric.name, metric.unit.symbol)}"
            cells[start] = _places(checked, name, metric)
    for series in checked.package.series:
        if series.name in series_of(article):
            start = Origin(rows_of(series.name), "value")
            titles[start] = f"{series.name}: {row_label('series', series.unit.symbol)}"
            cells[start] = _places(checked, name, series)
    metrics = tuple(dict.fromkeys(metric for item in rows for metric in item.metrics))
    return Traced(checked, name, lineage(statements, titles), (), titles, cells, metrics)


def _places(checked: CheckedPackage, report: str, item: Metric | Series) -> tuple[str, ...]:
    return tuple(
        f"{place.section}/{place.label}" for place in list_appearances(checked.package, item) if place.report == report
    )
