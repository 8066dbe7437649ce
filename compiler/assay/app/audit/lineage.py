"""Trace the columns of a metric, a series or a report back to raw records (`assay lineage`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.app.compute.report_metrics import list_report_metrics
from assay.app.compute.subject import FormulaSubject, MetricSubject, SeriesSubject, find_subject
from assay.app.session import filters
from assay.app.session.prose import read_prose
from assay.app.session.selection import EVERYTHING, Selection
from assay.app.session.session import Session
from assay.engine.compiled_plan import CompiledPlan, compile_plan
from assay.explain.facts import list_appearances
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, list_constants
from assay.lang.model.package import Metric, Package
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.lineage.column_lineage import CONSTANTS, Origin
from assay.lineage.constants import index_constants, list_constant_facts
from assay.lineage.graph import Graph, build_graph, get_key_place, list_raw_places, to_data
from assay.lineage.metric_lineage import Lineage, build_lineage, get_root, trace_fields
from assay.lineage.tree import FilterRow, iter_field_rows
from assay.plan.planner import AppliedFilter, EventStep
from assay.plan.request import Request, name_rows_statement
from assay.report.blocks.rows import list_row_requests, list_shown_series
from assay.report.prose import Prose
from assay.report.run_results import add_unit
from assay.util.diagnostics import USAGE, fail


def iter_filterable_fields(
    package: Package, metrics: Sequence[Metric], metric_lineage: Lineage
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield event, field and paths in raw records of fields that only unapplied filters would read.

    The definition hashes of metrics depend on these fields, although they are not in the lineage. Sorted.
    """
    unfiltered_fields, all_filter_fields = (
        dependencies.collect_dependencies(package, metrics, filters).events for filters in ((), package.filters)
    )
    sources = {item.name: item for item in package.sources}
    for event in sorted(package.events, key=lambda item: item.name):
        read_fields = metric_lineage.events.get(event.name, frozenset()) | unfiltered_fields.get(event.name, set())
        source = sources[event.source]
        filter_fields = sorted(
            name for name in all_filter_fields.get(event.name, set()) - read_fields if not get_key_place(source, name)
        )
        for origin, paths in trace_fields(EventStep(event, tuple(filter_fields))):
            yield event.name, origin.column, list_raw_places(source, event, origin.column, paths)


#: The column of a metric's statement that reports print.
MEAN = "mean"


@dataclass(frozen=True, slots=True)
class LineageResult:
    """The lineage of a metric, series or report: filters, titles and printed cells of its roots, and its metrics."""

    checked: CheckedPackage
    name: str
    column_lineage: Lineage
    filters: tuple[str, ...]
    titles: Mapping[Origin, str]
    cells: Mapping[Origin, tuple[str, ...]]
    metrics: tuple[Metric, ...] = ()

    @property
    def filterable(self) -> tuple[FilterRow, ...]:
        """Event, field and paths in raw records of fields that only unapplied filters would read."""
        return tuple(iter_filterable_fields(self.checked.package, self.metrics, self.column_lineage))

    @property
    def graph(self) -> Graph:
        """The lineage as a graph."""
        return build_graph(self.column_lineage, self.checked.package, self.cells)

    def to_dict(self) -> dict[str, object]:
        """Return the lineage as plain data."""
        rows = iter_field_rows(self.column_lineage, self.checked.package)
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
                    **({"line": item.line} if item.line else {}),
                    "default": item.default,
                }
                for item in list_constant_facts(self.checked.package, self.column_lineage)
            ],
            **to_data(self.graph),
        }


def find_lineage(session: Session, name: str, selection: Selection = EVERYTHING) -> LineageResult:
    """Return the lineage of a metric or series by its id, or of a report `system/name`.

    The filters are the selected ones, or else those of the report that shows the metric. Raises AssayError
    (usage) for unknown names.
    """
    if "/" in name:
        checked, report = session.find_report(name)
        if report.over:
            message = f"report `{name}` has no lineage: it shows published values"
            raise fail("no-lineage", message, hint="pass the report that was published", status=USAGE)
        texts = tuple(read_prose(session.workspace, checked, report).values())
        return _trace_report(checked, report, texts, selection)
    subject = find_subject(session, name, selection.system)
    applied_filters = subject.select_filters(selection.filters, selection.no_filters)
    return trace_subject(subject, applied_filters, subject.compile(applied_filters))


def trace_subject(
    subject: MetricSubject | SeriesSubject, applied_filters: Sequence[AppliedFilter], compiled_plan: CompiledPlan
) -> LineageResult:
    """Return the lineage of a metric or series whose plan is compiled."""
    if isinstance(subject, FormulaSubject):
        return _trace_formula(subject, compiled_plan, applied_filters)
    if isinstance(subject, MetricSubject):
        label = add_unit(subject.title, subject.unit.symbol)
        start, metrics = get_root(compiled_plan.statements, subject.id, MEAN), subject.metrics
    else:
        start, label, metrics = (
            Origin(name_rows_statement(subject.id), "value"),
            add_unit("series", subject.unit.symbol),
            (),
        )
    cells = {start: _list_cells(subject)}
    subject_lineage = build_lineage(compiled_plan.statements, [start])
    return LineageResult(
        subject.checked,
        subject.id,
        subject_lineage,
        _list_labels(applied_filters),
        {start: f"{subject.id}: {label}"},
        cells,
        metrics,
    )


def _trace_formula(
    subject: FormulaSubject, compiled_plan: CompiledPlan, applied_filters: Sequence[AppliedFilter]
) -> LineageResult:
    """Return the lineage of a formula: that of the measured metrics it depends on, and of its constants."""
    checked = subject.checked
    titles = {
        get_root(compiled_plan.statements, item.id, MEAN): f"{item.id}: {add_unit(item.title, item.unit.symbol)}"
        for item in subject.inputs
    }
    declarations = index_constants(checked.package)
    for name in list_constants(index_metrics(checked.package), subject.metric):
        titles[Origin(CONSTANTS, name)] = f"{CONSTANTS}{name}: {declarations[name].doc}"
    cells_by_root = dict.fromkeys(titles, _list_cells(subject))
    formula_lineage = build_lineage(compiled_plan.statements, titles)
    return LineageResult(
        checked, subject.id, formula_lineage, _list_labels(applied_filters), titles, cells_by_root, subject.metrics
    )


def _list_cells(subject: MetricSubject | SeriesSubject) -> tuple[str, ...]:
    """Return every printed cell that shows a metric or series."""
    appearances = list_appearances(subject.checked.package, subject.item)
    return tuple(
        f"{place.report}: {place.section}/{place.label}" for place in appearances if place.kind != "dictionary"
    )


def _list_labels(applied_filters: Sequence[AppliedFilter]) -> tuple[str, ...]:
    return tuple(item.label for item in applied_filters)


def _trace_report(
    checked: CheckedPackage, report: Report, texts: Collection[Prose], selection: Selection
) -> LineageResult:
    """Return the lineage of a report: its metrics, rows and series, and the relations that its manifest prints."""
    applied_filters = filters.parse_filters(checked.package, report, selection.filters, selection.no_filters)
    name = f"{checked.package.system}/{report.name}"
    metrics = list_report_metrics(checked, report)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    rows, shown_series = list_row_requests(checked, report, texts), list_shown_series(report, texts)
    request = Request(metrics, tuple(relations), rows, shown_series)
    statements = compile_plan(checked, request, applied_filters).statements
    starts = [(get_root(statements, metric.id, MEAN), metric) for metric in metrics]
    starts += [(Origin(item.name, metric.id), metric) for item in rows for metric in item.metrics]
    titles = {start: f"{metric.id}: {add_unit(metric.name, metric.unit.symbol)}" for start, metric in starts}
    cells = {start: list(_list_places(checked, name, metric)) for start, metric in starts}
    for series in (item for item in checked.package.series if item.name in shown_series):
        start = Origin(name_rows_statement(series.name), "value")
        titles[start] = f"{series.name}: {add_unit('series', series.unit.symbol)}"
        cells[start] = list(_list_places(checked, name, series))
    for row in report.manifest:
        if row.relation:
            start = Origin(row.relation, row.column)
            titles.setdefault(start, f"{row.relation}.{row.column}: {row.label}")
            cells.setdefault(start, []).append(row.label)
    report_lineage = build_lineage(statements, titles)
    cells_by_root = {item: tuple(places) for item, places in cells.items()}
    traced = tuple(dict.fromkeys(metric for _, metric in starts))
    return LineageResult(checked, name, report_lineage, _list_labels(applied_filters), titles, cells_by_root, traced)


def _list_places(checked: CheckedPackage, report: str, item: Metric | Series) -> tuple[str, ...]:
    return tuple(
        f"{place.section}/{place.label}"
        for place in list_appearances(checked.package, item)
        if place.report == report and place.kind not in ("dictionary", "chart")
    )
