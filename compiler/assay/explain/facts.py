"""Collect all that specs define about a metric or series, and where reports show it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from assay.explain import wording
from assay.lang import formula
from assay.lang.checked_package import CheckedPackage
from assay.lang.dependencies import collect_dependencies
from assay.lang.model.article import Article
from assay.lang.model.package import Event, Field, Metric, Package, Series, Source
from assay.lang.model.report import Report
from assay.lang.reserved_names import ACCEPTED
from assay.lineage.column_lineage import ROWS
from assay.lineage.constants import ConstantFact, constants
from assay.lineage.graph import path_text, place_of, raw_places
from assay.lineage.metric_lineage import ROLES, Lineage
from assay.plan.planner import AppliedFilter, EventStep, FilterStep, RelationStep, SeriesStep
from assay.report.run_results import row_label


@dataclass(frozen=True, slots=True)
class Appearance:
    """A place of a report, its section and label; `kind` is table, chart, dictionary, history, figure, verdict or quote
    (in prose)."""

    report: str
    kind: str
    section: str
    label: str


def list_appearances(package: Package, item: Metric | Series) -> tuple[Appearance, ...]:
    """Every place that shows a metric or series, report by report."""
    found: list[Appearance] = []
    if isinstance(item, Metric):
        label = row_label(item.name, item.unit.symbol)
        for report in package.reports:
            found += [
                Appearance(f"{package.system}/{report.name}", *place, label) for place in _of_report(report, item.id)
            ]
        for history in package.histories:
            name = f"{package.system}/{history.name}"
            found += [
                Appearance(name, "history", part.title, label) for part in history.sections if item.id in part.metrics
            ]
        for article in package.articles:
            name = f"{package.system}/{article.name}"
            found += [Appearance(name, *place, label) for place in _of_article(article, item.id)]
    else:
        found += list(_find_series(package, item))
    return tuple(dict.fromkeys(found))


def judging(package: Package, metric: Metric) -> tuple[Appearance, ...]:
    """The places whose verdicts depend on which direction of a metric is better."""
    label = row_label(metric.name, metric.unit.symbol)
    return tuple(
        Appearance(f"{package.system}/{article.name}", "verdict", block.locate(part.title)[0], label)
        for article in package.articles
        for part in article.parts
        for block in part.blocks
        if block.judges(metric.id)
    )


def _of_report(report: Report, metric: str) -> Iterator[tuple[str, str]]:
    yield from (("table", section.title) for section in report.sections if metric in section.metrics)
    yield from (("chart", "") for chart in report.charts if chart.metric == metric)
    yield from (("dictionary", group.title) for group in report.dictionary if metric in group.metrics)


def _of_article(article: Article, metric: str) -> Iterator[tuple[str, str]]:
    for part in article.parts:
        for block in part.blocks:
            if metric in block.read_metrics():
                yield block.appears_as, block.locate(part.title)[0]


def _find_series(package: Package, series: Series) -> Iterator[Appearance]:
    """The figures and tables of a series."""
    for article in package.articles:
        for part in article.parts:
            for block in part.blocks:
                for section, name in block.locate_series(part.title, series.name):
                    label = row_label(name or series.name, series.unit.symbol)
                    yield Appearance(f"{package.system}/{article.name}", block.appears_as, section, label)


Item = Metric | Series
#: roles in which a verdict of filters decides on a number; in the others it decides in a check, or is only read
DECIDING = ("value", "picks", "rows")


@dataclass(frozen=True, slots=True)
class FieldFact:
    """A field of an event: what it does for the metric, where records hold it, what is done to it there and stands in
    where there is none, and what the specs say of it."""

    name: str
    role: str
    places: tuple[str, ...]
    changes: tuple[str, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class EventFact:
    """A kind of trace event: its source, all its names by generation, the fields that are used, and what it is."""

    name: str
    source: str
    role: str
    names: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[FieldFact, ...]
    doc: str


@dataclass(frozen=True, slots=True)
class InstantFact:
    """An instant that a metric is about: how it is found, in words; the event or relation it is bound to."""

    name: str
    found: str
    of: str
    doc: str


@dataclass(frozen=True, slots=True)
class FilterFact:
    """A filter: as it is applied, what it demands of the metric's own rows, what it says; whether it decides on them:
    directly where it demands something, else through other grains."""

    label: str
    demands: str
    doc: str
    decides: bool


@dataclass(frozen=True, slots=True)
class DefinitionFact:
    """What a number is computed of, itself defined: a series, or a metric that a formula is over; its definition in
    words."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What there is to know of a metric or series."""

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
    key: tuple[str, ...]
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
    shown: tuple[Appearance, ...]


def facts(checked: CheckedPackage, item: Item, found: Lineage, applied: Sequence[AppliedFilter], summary: str) -> Facts:
    """The facts of a metric or series, whose lineage under the applied filters is `found`."""
    common = _common(checked, item, found)
    if isinstance(item, Series):
        return _series_facts(checked, item, common)
    if formula.is_formula(item):
        return _of_formula(checked, item, common, applied, summary, found)
    return _of_metric(checked, item, common, applied, summary, found)


@dataclass(frozen=True, slots=True)
class _Common:
    """What is said of metrics and series alike."""

    events: tuple[EventFact, ...]
    constants: tuple[ConstantFact, ...]
    series: tuple[DefinitionFact, ...]
    quirks: tuple[tuple[str, str], ...]
    shown: tuple[Appearance, ...]


def _common(checked: CheckedPackage, item: Item, found: Lineage) -> _Common:
    return _Common(
        tuple(_events(checked, found)),
        constants(checked.package, found),
        tuple(_series(item, found)),
        tuple(_quirks(checked, found)),
        list_appearances(checked.package, item),
    )  # fmt: skip


def _of_metric(
    checked: CheckedPackage,
    metric: Metric,
    common: _Common,
    applied: Sequence[AppliedFilter],
    summary: str,
    found: Lineage,
) -> Facts:
    package = checked.package
    grain = next(item for item in package.grains if item.name == metric.grain)
    nodes = [metric.measure, *([metric.where] if metric.where else [])]
    judging = judged(found)
    could = sorted(collect_dependencies(package, [metric], package.filters).filters) if judging else []
    return Facts(
        id=metric.id,
        kind="metric",
        name=metric.name,
        system=package.system,
        label=row_label(metric.name, metric.unit.symbol),
        doc=metric.doc,
        definition=checked.definitions[metric.id],
        sentence=wording.sentence(metric, checked, summary),
        over=(),
        series=common.series,
        unit=metric.unit.name,
        better=metric.better,
        grain=grain.name,
        grain_doc=grain.doc,
        grain_made=wording.runs_said(grain),
        key=grain.key,
        columns=tuple(wording.columns_said(grain, nodes)),
        instants=tuple(
            InstantFact(one.name, wording.instant_said(one), one.of, one.doc)
            for one in wording.used_instants(grain, nodes)
        ),
        fallbacks=tuple(wording.fallbacks(metric, grain)),
        conversions=tuple(wording.conversions(metric, checked)),
        events=common.events,
        constants=common.constants,
        filters=tuple(_filters({grain.name} if metric.accepted else (), applied, judging)) if judging else (),
        filtered=bool(judging),
        could_filter=tuple(name for name in could if name not in {one.filter.name for one in applied}),
        quirks=common.quirks,
        shown=common.shown,
    )


def _over(checked: CheckedPackage, metric: Metric, summary: str) -> Iterator[DefinitionFact]:
    """The metrics that a formula names, each with its definition."""
    known = formula.index_metrics(checked.package)
    for name in formula.list_inputs(metric.measure):
        of = known[name]
        said = wording.formula_sentence(of) if formula.is_formula(of) else wording.sentence(of, checked, summary)
        yield DefinitionFact(name, said)


def _of_formula(
    checked: CheckedPackage,
    metric: Metric,
    common: _Common,
    applied: Sequence[AppliedFilter],
    summary: str,
    found: Lineage,
) -> Facts:
    """A formula is about values of other metrics: their own facts say how these are found."""
    package = checked.package
    grain = next((item for item in package.grains if item.name == metric.grain), None)
    over = formula.list_measured(formula.index_metrics(package), [metric])
    judging = judged(found)
    could = sorted(collect_dependencies(package, [metric], package.filters).filters) if judging else []
    rows = {item.grain for item in over if item.accepted}
    return Facts(
        id=metric.id,
        kind="metric",
        name=metric.name,
        system=package.system,
        label=row_label(metric.name, metric.unit.symbol),
        doc=metric.doc,
        definition=checked.definitions[metric.id],
        sentence=wording.formula_sentence(metric),
        over=tuple(_over(checked, metric, summary)),
        series=common.series,
        unit=metric.unit.name,
        better=metric.better,
        grain=grain.name if grain else "",
        grain_doc=grain.doc if grain else "",
        grain_made=wording.runs_said(grain) if grain else "",
        key=grain.key if grain else (),
        columns=(),
        instants=(),
        fallbacks=(),
        conversions=tuple(wording.formula_conversions(metric)),
        events=common.events,
        constants=common.constants,
        filters=tuple(_filters(rows, applied, judging)) if judging else (),
        filtered=bool(judging),
        could_filter=tuple(name for name in could if name not in {one.filter.name for one in applied}),
        quirks=common.quirks,
        shown=common.shown,
    )


def _series_facts(checked: CheckedPackage, series: Series, common: _Common) -> Facts:
    symbol = series.unit.symbol
    what = "what is worked out" if series.terms else "what is read"
    factor = [f"{what}, × {series.factor}"] if series.factor != "1" else []
    return Facts(
        id=series.name,
        kind="series",
        name=series.name,
        system=checked.package.system,
        label=row_label(series.name, symbol),
        doc=series.doc,
        definition="",
        sentence=wording.series_sentence(series),
        over=(),
        series=common.series,
        unit=series.unit.name,
        better="neither",
        grain="",
        grain_doc="",
        grain_made="",
        key=(*series.by, "t_ns"),
        columns=(),
        instants=(),
        fallbacks=tuple(f"`{one.event}`, where those before it have no value" for one in series.samples[1:]),
        conversions=tuple(factor),
        events=common.events,
        constants=common.constants,
        filters=(),
        filtered=False,
        could_filter=(),
        quirks=common.quirks,
        shown=common.shown,
    )


def _series(item: Item, found: Lineage) -> Iterator[DefinitionFact]:
    """The series that values are computed of, the nearest first; not what is told of itself."""
    direct = {one.table for one, role in found.roles.items() if role in ("value", "picks")}
    for name in reversed(list(found.statements)):
        step = found.statements[name].step
        if name in direct and isinstance(step, SeriesStep) and step.series != item:
            yield DefinitionFact(name, wording.series_sentence(step.series))


def judged(found: Lineage) -> frozenset[str]:
    """The grains whose filters decide on a number: on its own rows, or on those of other tables that it is made of."""
    return frozenset(
        item.table
        for item, role in found.roles.items()
        if item.column == ACCEPTED
        and role in DECIDING
        and item.table in found.statements
        and isinstance(found.statements[item.table].step, FilterStep)
    )


def _filters(
    grains: Collection[str], applied: Sequence[AppliedFilter], judging: Collection[str]
) -> Iterator[FilterFact]:
    for item in applied:
        demands = " and ".join(filter(None, (wording.filter_said(item.filter, name) for name in sorted(grains))))
        decides = any(condition.grain in judging for condition in item.filter.conditions)
        yield FilterFact(item.label, demands, item.filter.doc, decides)


def _quirks(checked: CheckedPackage, found: Lineage) -> Iterator[tuple[str, str]]:
    """What relations that have a part do for compatibility only, those that make the value first."""
    roles: dict[str, str] = {}
    for item, role in found.roles.items():
        statement = found.statements.get(item.table)
        if statement and isinstance(statement.step, RelationStep):
            roles[item.table] = min(roles.get(item.table, role), role, key=ROLES.index)
    ordered = sorted(roles, key=lambda name: (ROLES.index(roles[name]), name))
    return iter(wording.quirks(checked.package, ordered))


def _events(checked: CheckedPackage, found: Lineage) -> Iterator[EventFact]:
    """The events that have a part, those that make the value first."""
    sources = {item.name: item for item in checked.package.sources}
    rows = []
    for name, statement in found.statements.items():
        if isinstance(statement.step, EventStep) and any(item.table == name for item in found.roles):
            rows.append(_event(statement.step.event, sources[statement.step.event.source], found))
    return iter(sorted(rows, key=lambda item: (ROLES.index(item.role), item.name)))


def _ways(event: Event, source: Source, name: str) -> Iterator[tuple[str, Field]]:
    """The forms in which a field is read of records, each with its places; one that is always the same is not read."""
    for form in event.forms:
        for field in form.fields:
            if field.name == name and field.paths:
                yield " or ".join(path_text(source, path, body=True) for path in field.paths), field


def _event(event: Event, source: Source, found: Lineage) -> EventFact:
    # Host and place of an event name its rows wherever they are joined: they do not make it one that gives a value.
    given = [item for item in found.roles if item.table == event.name and not place_of(source, item.column)]
    own = sorted(item for item in given if item.column != ROWS)
    docs = {field.name: field.doc for field in event.fields}
    fields = [
        FieldFact(
            item.column,
            found.roles[item],
            raw_places(source, item.column, found.found.get(item, ())),
            wording.field_said(_ways(event, source, item.column)),
            docs.get(item.column, ""),
        )
        for item in own
    ]
    names: dict[str, list[str]] = {}
    for form in event.forms:
        for name in form.names:
            names.setdefault(name.generation, []).append(name.name)
    return EventFact(
        event.name,
        source.name,
        min((found.roles[item] for item in given), key=ROLES.index, default="rows"),
        tuple((generation, tuple(dict.fromkeys(texts))) for generation, texts in names.items()),
        tuple(sorted(fields, key=lambda item: (ROLES.index(item.role), item.name))),
        event.doc,
    )
