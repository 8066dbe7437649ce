"""`assay lineage`: from raw records to a metric, a series, or all that a report prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.app import filters
from assay.app.check_and_query import report_of
from assay.app.compute import compiled, report_metrics
from assay.app.prose import read_prose
from assay.app.session import Session
from assay.app.subject_names import Item, named
from assay.explain.facts import list_appearances
from assay.lang import dependencies
from assay.lang.formula import index_metrics, is_formula, list_constants, list_measured
from assay.lang.model.article import Article
from assay.lang.model.package import Metric, Package
from assay.lang.model.report import History, Report
from assay.lang.normal_form import CheckedPackage
from assay.lineage.column_lineage import CONSTANTS, Origin
from assay.lineage.constants import constants, declared
from assay.lineage.graph import Graph, as_data, graph, place_of, raw_places
from assay.lineage.metric_lineage import Lineage, fields, lineage, root
from assay.lineage.tree import FilterRow, field_rows
from assay.plan.planner import Applied, EventStep, Plan, plan, rows_of
from assay.report.blocks.rows import listed, series_of
from assay.report.run_results import row_label
from assay.sql.codegen import Statement
from assay.util.diagnostics import USAGE, fail


def filterable(
    package: Package, metrics: Sequence[Metric], found: Lineage
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Event, field, and the places in raw records, of what the definition hashes of metrics are made over beside what
    has a part in their lineage: filters that are not applied would read it.  In order."""
    plain, under_all = (
        dependencies.collect_dependencies(package, metrics, filters).events for filters in ((), package.filters)
    )
    sources = {item.name: item for item in package.sources}
    for event in sorted(package.events, key=lambda item: item.name):
        named = found.events.get(event.name, frozenset()) | plain.get(event.name, set())
        source = sources[event.source]
        own = sorted(name for name in under_all.get(event.name, set()) - named if not place_of(source, name))
        for origin, ways in fields(EventStep(event, tuple(own))):
            yield event.name, origin.column, raw_places(source, origin.column, ways)


#: the column of a metric's own statement that reports print
MEAN = "mean"


@dataclass(frozen=True, slots=True)
class Traced:
    """A lineage that was asked for: of what, under which filters; titles and printed cells of its roots; the metrics
    that it is of."""

    checked: CheckedPackage
    name: str
    found: Lineage
    filters: tuple[str, ...]
    titles: Mapping[Origin, str]
    cells: Mapping[Origin, tuple[str, ...]]
    metrics: tuple[Metric, ...] = ()

    @property
    def filterable(self) -> tuple[FilterRow, ...]:
        """Event, field and places of what filters that are not applied can decide by."""
        return tuple(filterable(self.checked.package, self.metrics, self.found))

    @property
    def graph(self) -> Graph:
        """The lineage as a graph."""
        return graph(self.found, self.checked.package, self.cells)

    def data(self) -> dict[str, object]:
        """The lineage as plain data."""
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
    session: Session, name: str, system: str | None = None, given: Sequence[str] = (), no_filters: bool = False
) -> Traced:
    """The lineage of a metric or series by its id, or of a report `system/name`.

    Under the filters of the report that shows the metric, or those given.  AssayError (usage) for what there is not.
    """
    if "/" in name:
        checked, report = session.find_report(name)
        if isinstance(report, History):
            message = f"`{name}` is made of published values: no logs lead to it"
            raise fail("no-lineage", message, hint="ask for the report that was published", status=USAGE)
        return _of_article(session, checked, name, report) if isinstance(report, Article) else _of_report(
            checked, name, report, given, no_filters
        )  # fmt: skip
    checked, item = named(session, name, system)
    return of_item(checked, item, applied_to_item(checked, item, given, no_filters))


def applied_to_item(checked: CheckedPackage, item: Item, given: Sequence[str], no_filters: bool) -> tuple[Applied, ...]:
    """The filters under which a metric is worked out: those given, else those of the report that shows it."""
    report = report_of(checked.package, item) if isinstance(item, Metric) else None
    return filters.applied(checked.package, report, given, no_filters)


def planned(checked: CheckedPackage, item: Item, applied: Sequence[Applied]) -> Plan:
    """The plan for one metric or series."""
    if isinstance(item, Metric):
        return plan(checked.package, [item], applied)
    return plan(checked.package, [], applied, series=[item.name])


def of_item(
    checked: CheckedPackage, item: Item, applied: Sequence[Applied], statements: Sequence[Statement] | None = None
) -> Traced:
    """The lineage of a metric or a series; `statements` are those of its plan, if they are compiled already."""
    statements = compiled(checked, planned(checked, item, applied)) if statements is None else statements
    if isinstance(item, Metric) and is_formula(item):
        return _of_formula(checked, item, statements, applied)
    if isinstance(item, Metric):
        start, title = root(statements, item.id, MEAN), f"{item.id}: {row_label(item.name, item.unit.symbol)}"
    else:
        start, title = Origin(rows_of(item.name), "value"), f"{item.name}: {row_label('series', item.unit.symbol)}"
    found = lineage(statements, [start])
    name = item.id if isinstance(item, Metric) else item.name
    own = (item,) if isinstance(item, Metric) else ()
    return Traced(checked, name, found, _labels(applied), {start: title}, {start: _cells(checked, item)}, own)


def _of_formula(
    checked: CheckedPackage, item: Metric, statements: Sequence[Statement], applied: Sequence[Applied]
) -> Traced:
    """The lineage of a formula: that of the metrics which it is over in the end, and of the constants that it names."""
    over = list_measured(index_metrics(checked.package), [item])
    titles = {root(statements, one.id, MEAN): f"{one.id}: {row_label(one.name, one.unit.symbol)}" for one in over}
    known = declared(checked.package)
    for name in list_constants(index_metrics(checked.package), item):
        titles[Origin(CONSTANTS, name)] = f"{CONSTANTS}{name}: {known[name].doc}"
    cells = _cells(checked, item)
    found, by_root = lineage(statements, titles), dict.fromkeys(titles, cells)
    return Traced(checked, item.id, found, _labels(applied), titles, by_root, (item,))


def _cells(checked: CheckedPackage, item: Item) -> tuple[str, ...]:
    """Every printed cell that shows a metric or series."""
    return tuple(f"{place.report}: {place.section}/{place.label}" for place in list_appearances(checked.package, item)
                 if place.kind != "dictionary")  # fmt: skip


def _labels(applied: Sequence[Applied]) -> tuple[str, ...]:
    return tuple(item.label for item in applied)


def _of_report(checked: CheckedPackage, name: str, report: Report, given: Sequence[str], no_filters: bool) -> Traced:
    """The lineage of all cells of a report: of its metrics, and of the relations that its manifest prints."""
    applied = filters.applied(checked.package, report, given, no_filters)
    metrics = report_metrics(checked, report)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    statements = compiled(checked, plan(checked.package, metrics, applied, relations))
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
    found = lineage(statements, titles)
    by_root = {item: tuple(texts) for item, texts in cells.items()}
    return Traced(checked, name, found, _labels(applied), titles, by_root, metrics)


def _of_article(session: Session, checked: CheckedPackage, name: str, article: Article) -> Traced:
    """The lineage of an article: of each column that its tables and figures ask for, and of its series."""
    rows = listed(checked, article, read_prose(session.workspace, checked, article).values())
    statements = compiled(checked, plan(checked.package, [], [], listed=rows, series=series_of(article)))
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


def _places(checked: CheckedPackage, report: str, item: Item) -> tuple[str, ...]:
    return tuple(
        f"{place.section}/{place.label}" for place in list_appearances(checked.package, item) if place.report == report
    )
