"""Describe events, grains, filters, reports and relations as pages of the catalogue with tables of linked names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.explain import wording
from assay.explain.facts import Facts
from assay.lang.checked_package import CheckedPackage
from assay.lang.expression_wording import describe_expression
from assay.lang.model.filters import Filter
from assay.lang.model.package import Event, Grain, Metric, Package, Relation, Source
from assay.lang.model.report import Report
from assay.lineage.graph import format_path
from assay.report.blocks.rows import list_shown_series
from assay.report.parts import list_part_metrics

#: Kinds of pages by the names of their folders, with the nouns that pages print.
KINDS = {"metrics": "Metric", "series": "Series", "events": "Event", "grains": "Grain", "filters": "Filter",
         "reports": "Report", "relations": "Relation"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ref:
    """A link to another page of the same system; `text` is the text of the link, by default the name."""

    kind: str
    name: str
    text: str = ""


Cell = str | tuple[Ref, ...]
"""A cell: a text with names in backquotes, or links."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page; it is left out if it has no rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class DefinitionPage:
    """A page about one definition: its documentation, notes, tables and SQL."""

    kind: str
    name: str
    title: str
    doc: str
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    sql: str = ""


def iter_definition_pages(checked: CheckedPackage, facts: Mapping[tuple[str, str], Facts]) -> Iterator[DefinitionPage]:
    """Yield the pages of a system; `facts` describe its metrics and series, by kind of page and name."""
    package = checked.package
    sources = {item.name: item for item in package.sources}
    uses = _collect_uses(package)
    yield from (
        _create_event_page(item, sources[item.source], uses.get(item.name, ()), facts) for item in package.events
    )
    yield from (_create_grain_page(package, item, uses.get(item.name, ())) for item in package.grains)
    yield from (_create_filter_page(package, item, facts) for item in package.filters)
    yield from (_create_relation_page(item, uses.get(item.name, ())) for item in package.relations)
    yield from (_create_report_page(package, item) for item in package.reports)


def _collect_uses(package: Package) -> dict[str, tuple[Ref, ...]]:
    """Return the definitions (relations, grains, series) that read each table, by the name of the table."""
    refs_by_table: dict[str, dict[Ref, None]] = {}
    for relation in package.relations:
        for name in relation.uses:
            refs_by_table.setdefault(name, {})[Ref("relations", relation.name)] = None
    for grain in package.grains:
        joined_tables = [*(item.of for item in grain.instants), *(item.of for item in grain.tallies)]
        row_tables = [grain.relation, grain.runs.of if grain.runs else "", grain.subject.grain if grain.subject else ""]
        for name in (*joined_tables, *row_tables):
            refs_by_table.setdefault(name, {})[Ref("grains", grain.name)] = None
    for series in package.series:
        read_tables = [item.event for item in series.samples] + ([series.gone.event] if series.gone else [])
        for name in (*read_tables, series.windows, *(item.series for item in series.terms)):
            refs_by_table.setdefault(name, {})[Ref("series", series.name)] = None
    return {name: tuple(refs) for name, refs in refs_by_table.items() if name}


def _create_rows(refs: Iterable[Ref]) -> tuple[tuple[Cell, ...], ...]:
    return tuple((KINDS[item.kind], (item,)) for item in refs)


def _create_event_page(
    event: Event, source: Source, uses: Sequence[Ref], facts: Mapping[tuple[str, str], Facts]
) -> DefinitionPage:
    """Return the page of an event; `facts` describe the metrics and series, by kind of page and name."""
    names_by_generation: dict[str, list[str]] = {}
    places_by_field: dict[str, list[str]] = {}
    for form in event.forms:
        for name in form.names:
            names_by_generation.setdefault(name.generation, []).append(name.name)
        for field in form.fields:
            field_places = (format_path(source, path, body=True) for path in field.paths)
            places_by_field.setdefault(field.name, []).extend(field_places)
    fields = tuple(
        (item.name, item.type, item.unit.symbol or item.unit.name,
         " or ".join(dict.fromkeys(places_by_field[item.name])),
         "always" if item.required else f"else {item.default}" if item.default is not None else "", item.doc)
        for item in event.fields
    )  # fmt: skip
    readers: tuple[tuple[Cell, ...], ...] = tuple(
        (
            (Ref(kind, name),),
            fact.label,
            " ".join(dict.fromkeys(event_fact.role for event_fact in fact.events if event_fact.name == event.name)),
        )
        for (kind, name), fact in facts.items()
        if any(event_fact.name == event.name for event_fact in fact.events)
    )
    note = f"Source `{source.name}` ({source.kind}): {source.doc}"
    generations = tuple((key, ", ".join(dict.fromkeys(names))) for key, names in names_by_generation.items())
    return DefinitionPage("events", event.name, event.name, event.doc, (note,), (
        Table("Names in records", ("Generation", "Names"), generations),
        Table("Fields", ("Field", "Type", "Unit", "Place in records", "Present", "What it is"), fields),
        Table("Metrics and series that depend on it", ("Metric or series", "Label", "Role of the event"), readers),
        Table("Read by", ("Kind", "Name"), _create_rows(uses)),
    ))  # fmt: skip


def _create_grain_page(package: Package, grain: Grain, uses: Sequence[Ref]) -> DefinitionPage:
    notes = [f"Key: {', '.join(grain.key)}"]
    if grain.runs:
        notes.append(
            f"Rows: the longest runs of rows of `{grain.runs.of}` where {describe_expression(grain.runs.holds)}"
        )
    elif grain.relation:
        notes.append(f"Rows: those of `{grain.relation}`")
    if grain.subject:
        notes.append(f"The filters of `{grain.subject.grain}` decide on its rows")
    columns = [(item.name, item.type, item.unit.symbol, item.doc) for item in grain.columns]
    columns += [(item.column.name, item.column.type, item.column.unit.symbol,
                 f"{item.column.doc} (number of rows of `{item.of}`)") for item in grain.tallies]  # fmt: skip
    columns += [
        (item.column.name, item.column.type, item.column.unit.symbol,
         f"{item.column.doc} ({describe_expression(item.value)})")
        for item in grain.derived
    ]  # fmt: skip
    instants = tuple((f"*{item.name}*", wording.describe_instant(item), item.doc) for item in grain.instants)
    metrics = tuple(
        ((Ref("metrics", item.id),), item.name, item.doc) for item in package.metrics if item.grain == grain.name
    )
    filter_rows = tuple(
        ((Ref("filters", item.name),), wording.describe_filter(item, grain.name))
        for item in package.filters if any(condition.grain == grain.name for condition in item.conditions)
    )  # fmt: skip
    return DefinitionPage("grains", grain.name, grain.name, grain.doc, tuple(notes), (
        Table("Metrics of its rows", ("Metric", "Name", "What it is"), metrics),
        Table("Instants", ("Instant", "How it is found", "What it is"), instants),
        Table("Columns", ("Column", "Type", "Unit", "What it is"), tuple(columns)),
        Table("Filters on its rows", ("Filter", "Condition"), filter_rows),
        Table("Read by", ("Kind", "Name"), _create_rows(item for item in uses if item.name != grain.name)),
    ))  # fmt: skip


def _create_filter_page(package: Package, item: Filter, facts: Mapping[tuple[str, str], Facts]) -> DefinitionPage:
    notes = (
        [f"Argument: {item.parameter.name} ({item.parameter.type} {item.parameter.unit.symbol})".rstrip()]
        if item.parameter
        else []
    )
    conditions = tuple(
        ((Ref("grains", condition.grain),), describe_expression(condition.holds)) for condition in item.conditions
    )
    reports: tuple[tuple[Cell, ...], ...] = tuple(
        ((Ref("reports", report.name),), use.argument)
        for report in package.reports for use in report.filters if use.name == item.name
    )  # fmt: skip
    decided_metrics: tuple[tuple[Cell, ...], ...] = tuple(
        ((Ref(kind, name),), fact.label)
        for (kind, name), fact in facts.items()
        if item.name in fact.could_filter
        or any(condition.decides and _strip_argument(condition.label) == item.name for condition in fact.filters)
    )
    return DefinitionPage("filters", item.name, item.name, item.doc, tuple(notes), (
        Table("Conditions", ("Rows of", "Condition"), conditions),
        Table("Reports that apply it", ("Report", "Argument"), reports),
        Table("Metrics that it can decide on", ("Metric", "Label"), decided_metrics),
    ))  # fmt: skip


def _strip_argument(label: str) -> str:
    return label.partition("=")[0]


def _create_relation_page(item: Relation, uses: Sequence[Ref]) -> DefinitionPage:
    tables = ", ".join(f"`{name}`" for name in item.uses)
    columns = tuple((column.name, column.type, column.unit.symbol, column.doc) for column in item.columns)
    notes = (f"Key: {', '.join(item.key) or 'one row'}", *([f"Reads {tables}"] if tables else []))
    checks = tuple((item.code, item.severity, item.message) for item in item.checks)
    return DefinitionPage("relations", item.name, item.name, item.doc, notes, (
        Table("Columns", ("Column", "Type", "Unit", "What it is"), columns),
        Table("Checks", ("Check", "Severity", "Message"), checks),
        Table("Read by", ("Kind", "Name"), _create_rows(uses)),
    ), item.sql)  # fmt: skip


def _create_report_page(package: Package, item: Report) -> DefinitionPage:
    metrics_by_id = {metric.id: metric for metric in package.metrics}
    if item.over:
        notes = ("A report over publications", f"Built from publications of {item.over.of}")
    else:
        notes = ("A report over runs", f"Number style {item.style}; averages {item.summary}")
    tables = _list_report_tables(item, metrics_by_id)
    return DefinitionPage("reports", item.name, item.title or item.name, item.doc, notes, tuple(tables))


def _list_report_tables(report: Report, metrics_by_id: Mapping[str, Metric]) -> list[Table]:
    filter_rows: tuple[tuple[Cell, ...], ...] = tuple(
        ((Ref("filters", use.name),), use.argument) for use in report.filters
    )
    chart_rows: tuple[tuple[Cell, ...], ...] = tuple(
        ((Ref("metrics", chart.metric),), chart.template) for _, chart in report.metric_charts
    )
    printed_ids = list_part_metrics(report)
    in_sections = {name for _, section in report.metric_sections for name in section.metrics}
    series_rows: tuple[tuple[Cell, ...], ...] = tuple(
        ((Ref("series", name),),) for name in sorted(list_shown_series(report))
    )
    unprinted = [name for group in report.dictionary for name in group.metrics if name not in printed_ids]
    return [
        *(_create_metric_table(name, section.metrics, metrics_by_id) for name, section in report.metric_sections),
        Table("Filters", ("Filter", "Argument"), filter_rows),
        Table("Charts", ("Metric", "Template"), chart_rows),
        _create_metric_table("Metrics", [name for name in printed_ids if name not in in_sections], metrics_by_id),
        Table("Series", ("Series",), series_rows),
        _create_metric_table("Further entries of the dictionary", unprinted, metrics_by_id),
    ]


def _create_metric_table(title: str, names: Iterable[str], metrics_by_id: Mapping[str, Metric]) -> Table:
    """Return a table of the metrics `names`, each once; unknown names are left out."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        ((Ref("metrics", name),), metrics_by_id[name].name, metrics_by_id[name].unit.symbol, metrics_by_id[name].doc)
        for name in dict.fromkeys(names) if name in metrics_by_id
    )  # fmt: skip
    return Table(title, ("Metric", "Name", "Unit", "What it is"), rows)
