"""Collect the facts that specs define about a metric or series, and the places where reports show it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from assay.explain import wording
from assay.lang import formula
from assay.lang.breaks import describe_break
from assay.lang.checked_package import CheckedPackage
from assay.lang.dependencies import collect_dependencies
from assay.lang.model.package import Event, Field, Grain, Metric, Package, Source
from assay.lang.model.report import Report, Section
from assay.lang.model.series import Series
from assay.lang.reserved_names import ACCEPTED
from assay.lang.segments import get_whole, list_dimensions, list_dimensions_of_segment
from assay.lineage.column_lineage import ROWS
from assay.lineage.constants import ConstantFact, list_constant_facts
from assay.lineage.graph import format_path, get_key_place, list_raw_places
from assay.lineage.metric_lineage import ROLES, Lineage
from assay.plan.planner import AppliedFilter, EventStep, FilterStep, RelationStep, SeriesStep
from assay.report.run_results import add_unit


@dataclass(frozen=True, slots=True)
class Appearance:
    """A place of a report, its section and label.

    `kind` is table, chart, dictionary, figure, verdict or quote (in prose).
    """

    report: str
    kind: str
    section: str
    label: str


def list_appearances(package: Package, item: Metric | Series) -> tuple[Appearance, ...]:
    """List every place that shows a metric or series, report by report."""
    appearances: list[Appearance] = []
    if isinstance(item, Metric):
        label = add_unit(item.name, item.unit.symbol)
        for report in package.reports:
            appearances += [
                Appearance(f"{package.system}/{report.name}", *place, label)
                for place in _find_in_report(report, item.id)
            ]
    else:
        appearances += list(_find_series(package, item))
    return tuple(dict.fromkeys(appearances))


def list_verdicts(package: Package, metric: Metric) -> tuple[Appearance, ...]:
    """List the places whose verdicts depend on which direction of a metric is better."""
    label = add_unit(metric.name, metric.unit.symbol)
    return tuple(
        Appearance(f"{package.system}/{report.name}", "verdict", block.locate(part.title)[0], label)
        for report in package.reports
        for part in report.parts
        for block in part.blocks
        if block.has_verdict_on(metric.id)
    )


def _find_in_report(report: Report, metric: str) -> Iterator[tuple[str, str]]:
    for part in report.parts:
        for block in part.blocks:
            if _has_row(block, metric) if isinstance(block, Section) else metric in block.read_metrics():
                yield block.appears_as, block.locate(part.title)[0]
    yield from (("dictionary", group.title) for group in report.dictionary if metric in group.metrics)


def _has_row(section: Section, metric: str) -> bool:
    """Return whether a section has a row for a metric, or for a segment of it."""
    by = list_dimensions_of_segment(metric)
    return get_whole(metric) in section.metrics and (not by or section.by == by)


def _find_series(package: Package, series: Series) -> Iterator[Appearance]:
    """Yield the figures and tables of a series."""
    for report in package.reports:
        for part in report.parts:
            for block in part.blocks:
                for section, name in block.locate_series(part.title, series.name):
                    label = add_unit(name or series.name, series.unit.symbol)
                    yield Appearance(f"{package.system}/{report.name}", block.appears_as, section, label)


Item = Metric | Series
#: roles in which the verdict of filters decides on a number
DECIDING = ("value", "picks", "rows")


@dataclass(frozen=True, slots=True)
class FieldFact:
    """A field of an event: its role in the metric, its places in records, its transforms and default, and its doc."""

    name: str
    role: str
    places: tuple[str, ...]
    changes: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class EventFact:
    """An event: its source, its role, all its names by generation, the fields that are used, and its doc."""

    name: str
    source: str
    role: str
    names: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[FieldFact, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class InstantFact:
    """An instant that a metric uses: how it is determined, in words; the event or relation that it is bound to."""

    name: str
    rule: str
    of: str
    doc: str


@dataclass(frozen=True, slots=True)
class FilterFact:
    """A filter: label with argument, conditions on the metric's rows, doc, and whether it decides on these rows.

    A filter without such conditions decides through other grains.
    """

    label: str
    demands: str
    doc: str
    decides: bool


@dataclass(frozen=True, slots=True)
class DefinitionFact:
    """An input of a metric (a series, or a metric of a formula), with its definition in words."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts about a metric or series."""

    id: str
    kind: str
    name: str
    system: str
    label: str
    doc: str
    definition: str
    sentence: str
    over: tuple[DefinitionFact, ...]
    series: tuple[DefinitionFact, ...]
    unit: str
    better: str
    grain: str
    grain_doc: str
    grain_made: str
    relation: str
    key: tuple[str, ...]
    dimensions: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    instants: tuple[InstantFact, ...]
    fallbacks: tuple[str, ...]
    conversions: tuple[str, ...]
    events: tuple[EventFact, ...]
    constants: tuple[ConstantFact, ...]
    filters: tuple[FilterFact, ...]
    filtered: bool
    could_filter: tuple[str, ...]
    quirks: tuple[tuple[str, str], ...]
    appearances: tuple[Appearance, ...]
    breaks: tuple[str, ...] = ()


def collect_facts(
    checked: CheckedPackage, item: Item, lineage: Lineage, applied: Sequence[AppliedFilter], summary: str
) -> Facts:
    """Collect the facts of a metric or series, whose lineage under the applied filters is `lineage`."""
    common = _collect_common(checked, item, lineage)
    if isinstance(item, Series):
        return _collect_series_facts(checked, item, common)
    return _collect_metric_facts(checked, item, common, applied, summary)


@dataclass(frozen=True, slots=True)
class _CommonFacts:
    """The lineage of a metric or series, and the facts that both have."""

    lineage: Lineage
    events: tuple[EventFact, ...]
    constants: tuple[ConstantFact, ...]
    series: tuple[DefinitionFact, ...]
    quirks: tuple[tuple[str, str], ...]
    appearances: tuple[Appearance, ...]


def _collect_common(checked: CheckedPackage, item: Item, lineage: Lineage) -> _CommonFacts:
    return _CommonFacts(
        lineage,
        tuple(_list_events(checked, lineage)),
        list_constant_facts(checked.package, lineage),
        tuple(_list_series(item, lineage)),
        tuple(_list_quirks(checked, lineage)),
        list_appearances(checked.package, item),
    )  # fmt: skip


def _collect_metric_facts(
    checked: CheckedPackage,
    metric: Metric,
    common: _CommonFacts,
    applied: Sequence[AppliedFilter],
    summary: str,
) -> Facts:
    """Collect the facts of a metric or formula, whose inputs describe their columns and instants themselves."""
    package, is_formula = checked.package, formula.is_formula(metric)
    grain = next((item for item in package.grains if item.name == metric.grain), None)
    nodes = [metric.measure, *([metric.where] if metric.where else [])]
    measured = formula.list_measured(formula.index_metrics(package), [metric])
    rows = {item.grain for item in measured if item.accepted}
    deciding_grains = find_deciding_grains(common.lineage)
    filter_names = sorted(collect_dependencies(package, [metric], package.filters).filters) if deciding_grains else []
    conversions = wording.list_formula_conversions(metric) if is_formula else wording.list_conversions(metric, checked)
    instants = wording.list_used_instants(grain, nodes) if grain and not is_formula else ()
    return Facts(
        id=metric.id,
        kind="metric",
        name=metric.name,
        system=package.system,
        label=add_unit(metric.name, metric.unit.symbol),
        doc=metric.doc,
        definition=checked.definitions[metric.id],
        sentence=wording.describe_formula(metric) if is_formula else wording.describe_metric(metric, checked, summary),
        over=tuple(_list_inputs(checked, metric, summary)) if is_formula else (),
        series=common.series,
        unit=metric.unit.name,
        better=metric.better,
        grain=grain.name if grain else "",
        grain_doc=grain.doc if grain else "",
        grain_made=wording.describe_runs(grain) if grain else "",
        relation=_find_relation(package, grain) if grain else "",
        key=grain.key if grain else (),
        dimensions=list_dimensions(package, metric),
        columns=tuple(wording.describe_columns(grain, nodes)) if grain and not is_formula else (),
        instants=tuple(
            InstantFact(instant.name, wording.describe_instant(instant), instant.of, instant.doc)
            for instant in instants
        ),
        fallbacks=tuple(wording.describe_fallbacks(metric, grain)) if grain and not is_formula else (),
        conversions=tuple(conversions),
        events=common.events,
        constants=common.constants,
        filters=tuple(_list_filters(rows, applied, deciding_grains)) if deciding_grains else (),
        filtered=bool(deciding_grains),
        could_filter=tuple(name for name in filter_names if name not in {item.filter.name for item in applied}),
        quirks=common.quirks,
        appearances=common.appearances,
        breaks=tuple(map(describe_break, metric.breaks)),
    )


def _find_relation(package: Package, grain: Grain) -> str:
    """Return the relation whose SQL makes the rows of a grain; empty if they are records of an event or runs."""
    return grain.relation if any(item.name == grain.relation for item in package.relations) else ""


def _list_inputs(checked: CheckedPackage, metric: Metric, summary: str) -> Iterator[DefinitionFact]:
    """Yield the metrics that a formula names, each with its definition."""
    metrics_by_id = formula.index_metrics(checked.package)
    for name in formula.list_inputs(metric.measure):
        input_metric = metrics_by_id[name]
        sentence = (
            wording.describe_formula(input_metric)
            if formula.is_formula(input_metric)
            else wording.describe_metric(input_metric, checked, summary)
        )
        yield DefinitionFact(name, sentence)


def _collect_series_facts(checked: CheckedPackage, series: Series, common: _CommonFacts) -> Facts:
    symbol = series.unit.symbol
    subject = "computed value" if series.terms else "reading"
    factor = [f"{subject} × {series.factor}"] if series.factor != "1" else []
    return Facts(
        id=series.name,
        kind="series",
        name=series.name,
        system=checked.package.system,
        label=add_unit(series.name, symbol),
        doc=series.doc,
        definition="",
        sentence=wording.describe_series(series),
        over=(),
        series=common.series,
        unit=series.unit.name,
        better="neither",
        grain="",
        grain_doc="",
        grain_made="",
        relation="",
        key=(*series.by, "t_ns"),
        dimensions=(),
        columns=(),
        instants=(),
        fallbacks=tuple(f"`{sampled.event}`, if those before it have no value" for sampled in series.samples[1:]),
        conversions=tuple(factor),
        events=common.events,
        constants=common.constants,
        filters=(),
        filtered=False,
        could_filter=(),
        quirks=common.quirks,
        appearances=common.appearances,
    )


def _list_series(item: Item, lineage: Lineage) -> Iterator[DefinitionFact]:
    """Yield the series that values are computed from, without `item`, the nearest first."""
    direct = {origin.table for origin, role in lineage.roles.items() if role in ("value", "picks")}
    for name in reversed(list(lineage.statements)):
        step = lineage.statements[name].step
        if name in direct and isinstance(step, SeriesStep) and step.series != item:
            yield DefinitionFact(name, wording.describe_series(step.series))


def find_deciding_grains(lineage: Lineage) -> frozenset[str]:
    """Return the grains whose filters decide on a number: on its rows, or on rows of tables that it depends on."""
    return frozenset(
        item.table
        for item, role in lineage.roles.items()
        if item.column == ACCEPTED
        and role in DECIDING
        and item.table in lineage.statements
        and isinstance(lineage.statements[item.table].step, FilterStep)
    )


def _list_filters(
    grains: Collection[str], applied: Sequence[AppliedFilter], deciding_grains: Collection[str]
) -> Iterator[FilterFact]:
    for item in applied:
        demands = " and ".join(filter(None, (wording.describe_filter(item.filter, name) for name in sorted(grains))))
        decides = any(condition.grain in deciding_grains for condition in item.filter.conditions)
        yield FilterFact(item.label, demands, item.filter.doc, decides)


def _list_quirks(checked: CheckedPackage, lineage: Lineage) -> Iterator[tuple[str, str]]:
    """Yield the compatibility choices of relations that have a part, those of relations that make the value first."""
    roles: dict[str, str] = {}
    for item, role in lineage.roles.items():
        statement = lineage.statements.get(item.table)
        if statement and isinstance(statement.step, RelationStep):
            roles[item.table] = min(roles.get(item.table, role), role, key=ROLES.index)
    ordered = sorted(roles, key=lambda name: (ROLES.index(roles[name]), name))
    return iter(wording.list_quirks(checked.package, ordered))


def _list_events(checked: CheckedPackage, lineage: Lineage) -> Iterator[EventFact]:
    """Yield the events that have a part, those that make the value first."""
    sources = {item.name: item for item in checked.package.sources}
    rows = []
    for name, statement in lineage.statements.items():
        if isinstance(statement.step, EventStep) and any(item.table == name for item in lineage.roles):
            rows.append(_describe_event(statement.step.event, sources[statement.step.event.source], lineage))
    return iter(sorted(rows, key=lambda item: (ROLES.index(item.role), item.name)))


def _list_field_forms(event: Event, source: Source, name: str) -> Iterator[tuple[str, Field]]:
    """Yield the forms that read a field from records, each with its places; forms with a constant are left out."""
    for form in event.forms:
        for field in form.fields:
            if field.name == name and field.paths:
                yield " or ".join(format_path(source, path, body=True) for path in field.paths), field


def _describe_event(event: Event, source: Source, lineage: Lineage) -> EventFact:
    # Key columns identify the rows of an event in joins; they do not give the event a role.
    origins = [item for item in lineage.roles if item.table == event.name and not get_key_place(source, item.column)]
    field_origins = sorted(item for item in origins if item.column != ROWS)
    docs = {field.name: field.doc for field in event.fields}
    fields = [
        FieldFact(
            item.column,
            lineage.roles[item],
            list_raw_places(source, event, item.column, lineage.field_paths.get(item, ())),
            wording.describe_field(_list_field_forms(event, source, item.column)),
            docs.get(item.column, ""),
        )
        for item in field_origins
    ]
    names: dict[str, list[str]] = {}
    for form in event.forms:
        for name in form.names:
            names.setdefault(name.generation, []).append(name.name)
    return EventFact(
        event.name,
        source.name,
        min((lineage.roles[item] for item in origins), key=ROLES.index, default="rows"),
        tuple((generation, tuple(dict.fromkeys(texts))) for generation, texts in names.items()),
        tuple(sorted(fields, key=lambda item: (ROLES.index(item.role), item.name))),
        event.doc,
    )
