"""Compile a plan to SQL statements: what is created, in order, and what is queried then.

Also each metric's SQL standing alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from sqlglot import exp

from assay.lang import scopes
from assay.lang.model.package import Check, Event, Grain, Metric, Package, Relation
from assay.lang.model.source_kinds import SOURCE_KINDS, SourceKind
from assay.lang.normal_form import CheckedPackage
from assay.lang.reserved_names import KEY, SERIES
from assay.lang.scopes import HOST, LOGS, SOURCE
from assay.plan.planner import (
    CheckStep,
    EventStep,
    FilterStep,
    GrainRowsStep,
    Plan,
    RelationStep,
    SeriesStep,
    Step,
    cut_name,
    rows_of,
    span_of,
)
from assay.sql import dialect, distributions, grains, relations, series
from assay.sql.expressions import places
from assay.sql.row_keys import Key, Shape
from assay.util.repr_key import ReprKey


def table_shapes(package: Package, names: Iterable[str], sources: Iterable[str]) -> tuple[tuple[str, Shape], ...]:
    """Return the shapes of tables by their names; `sources`: those whose logs are read (none: the only one)."""
    every: tuple[Event | Relation | Grain, ...] = (*package.events, *package.relations, *package.grains)
    by_name = {item.name: item for item in every}
    return tuple((name, _shape(package, name, by_name.get(name), len(tuple(sources)))) for name in names)


def _shape(package: Package, name: str, table: Event | Relation | Grain | None, sources: int) -> Shape:
    columns = scopes.list_row_columns(package, name)
    if columns is not None and isinstance(table, Event) and _kind(package, table).has_series:
        columns = {**columns, SERIES: columns[HOST]}
    return Shape(
        None if columns is None else tuple(column.casefold() for column in columns),
        tuple(_keys(package, name, table, sources)),
    )


def _keys(package: Package, name: str, table: Event | Relation | Grain | None, sources: int) -> Iterator[Key]:
    if name == LOGS:
        yield Key(frozenset((SOURCE, HOST) if sources > 1 else (HOST,)))
    elif isinstance(table, Event):
        # A line is one event; a row of a table is one of every event of its source.
        lines = frozenset(((table.source, name),)) if _kind(package, table).is_log else frozenset()
        yield Key(frozenset((HOST, "seq")), lines)
    elif table is not None:
        yield Key(frozenset(column.casefold() for column in table.key))


def _kind(package: Package, event: Event) -> SourceKind:
    """Return the kind of an event's source; one without properties where the package has no such source."""
    kind = next((source.kind for source in package.sources if source.name == event.source), "")
    return SOURCE_KINDS.get(kind, SourceKind(kind, "", ""))


Constants = Mapping[str, object]
EventTables = Mapping[str, exp.Query]

KEPT = 2048  # statements of former plans, of which a process that builds again needs most


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A query and what becomes of it: `table` (its rows are kept under `name`), `view`, `check` (must yield none),
    `metric` (a distribution, under the metric's id), `rows` (all of them are asked for) or `count` (how complete rows
    are).

    Statements are shared by plans, so nobody changes a query: who wants another makes a copy.
    """

    kind: str
    name: str
    query: exp.Expr
    step: Step | None = None


def compile_steps(
    plan: Plan, checked: CheckedPackage, names: Iterable[str], events: EventTables
) -> tuple[Statement, ...]:
    """Every statement of a plan, in order, with places for the constants of these names.  `events` are the queries that
    yield the event tables."""
    finer = _finer(plan)
    names = tuple(names)
    constants = places(names)
    steps = [step for step in plan.steps if not _holds(step, checked, names)]
    made = [_statement(step, finer, names, events, checked) for step in steps]
    made += [metric_statement(metric, checked, names) for metric in plan.metrics]
    made += [Statement("rows", item.name, distributions.select_rows(item, constants)) for item in plan.listed]
    sampled = [step for step in plan.steps if isinstance(step, SeriesStep) and step.series.samples]
    made += [_ambiguous(step, constants) for step in sampled]
    numbered = {step.name for step in plan.steps if isinstance(step, EventStep) and SERIES in step.keys}
    made += [
        _interleaved(step, constants) for step in sampled if {one.event for one in step.series.samples} <= numbered
    ]
    read = [step for step in sampled if step.series.reading == "rate"]
    made += [_sparse(step, constants) for step in read]
    made += [_negative(step) for step in read]
    made += [Statement("rows", cut_name(item.name), grains.instant(item, constants)) for item in plan.cuts]
    made += [Statement("rows", rows_of(step.name), distributions.select_lines(step)) for step in plan.series]
    windows = dict.fromkeys(step.series.windows for step in plan.series)
    made += [Statement("rows", span_of(name), distributions.select_span(name)) for name in windows]
    return tuple(made)


def _ambiguous(step: SeriesStep, constants: Constants) -> Statement:
    """The error of a line that is several of what was sampled."""
    told = ", ".join(step.series.by)
    check = Check(
        "several-series",
        "",
        (),
        f"{step.name}: the line {{line}} is several series: it has up to {{values}} samples at an instant",
        "fetch the samples of one of them (`--match`), or tell them apart by one more label in the series' `by`, "
        f"which are {told}",
        "error",
    )
    checked = CheckStep(check, step.name)
    return Statement("check", checked.name, series.ambiguous(step.series, constants), checked)


def _interleaved(step: SeriesStep, constants: Constants) -> Statement:
    """The warning of a line that is several of what was sampled, at other instants each: it may be one that comes and
    goes."""
    told = ", ".join(step.series.by)
    check = Check(
        "interleaved-series",
        "",
        (),
        f"{step.name}: the line {{line}} is several series, and samples of one stand between those of another, so what "
        f"is read goes to and fro: they differ in their name, or in other labels than {told}.",
        "",
        "warning",
    )
    checked = CheckStep(check, step.name)
    return Statement("check", checked.name, series.interleaved(step.series, constants), checked)


def _sparse(step: SeriesStep, constants: Constants) -> Statement:
    """The warning of a rate whose samples are too far apart."""
    check = Check(
        "scrape-interval",
        "",
        (),
        f"{step.name}: samples of {{line}} are {{interval:g}} s apart, more than the {{window:g}} s that a rate is "
        "taken over, so it has no values.",
        "",
        "warning",
    )
    checked = CheckStep(check, step.name)
    return Statement("check", checked.name, series.sparse(step.series, constants), checked)


def _negative(step: SeriesStep) -> Statement:
    """The warning of a rate that is below 0."""
    check = Check(
        "negative-rate",
        "",
        (),
        f"{step.name}: the rate of {{line}} is below 0 at {{steps}} of its steps: a sample that is no number hides "
        "where the counter began anew, or samples are below 0.",
        "",
        "warning",
    )
    checked = CheckStep(check, step.name)
    return Statement("check", checked.name, series.negative(step.series), checked)


def metric_statement(metric: Metric, checked: CheckedPackage, names: tuple[str, ...]) -> Statement:
    """The statement of a metric's distribution."""
    grain = next(item for item in checked.package.grains if item.name == metric.grain)
    integral = checked.measured[metric.id].integral
    domain = distributions.domain_of(grain)
    return _of_metric(ReprKey(metric), domain, integral, checked.definitions[metric.id], names)


@functools.lru_cache(maxsize=KEPT)
def _of_metric(
    metric: ReprKey[Metric], domain: str, integral: bool, definition: str, names: tuple[str, ...]
) -> Statement:
    item = metric.value
    query = distributions.distribution(item, domain, integral, places(names))
    query.add_comments([f" {item.id}: {item.name} ", f" definition {definition} "])
    return Statement("metric", item.id, query)


def _finer(plan: Plan) -> frozenset[str]:
    """Grains that others tally as they are before verdicts: those that have a subject, for their verdicts come later,
    and those that a phase cuts, for what is tallied is of the whole run."""
    made = frozenset(step.grain.name for step in plan.steps if isinstance(step, GrainRowsStep) and step.grain.subject)
    judged = (step for step in plan.steps if isinstance(step, FilterStep))
    return made | {step.grain.name for step in judged if step.cut and step.grain.at}


def _holds(step: Step, checked: CheckedPackage, names: tuple[str, ...]) -> bool:
    """Whether a check of a key need not be made: the relation's SQL sees to it."""
    return _is_of_key(step) and _sees_to_key(ReprKey(_relation(checked, step)), names)


def _is_of_key(step: Step) -> TypeGuard[CheckStep]:
    """Whether a step checks the key of a relation."""
    return isinstance(step, CheckStep) and step.check.code == KEY and not step.check.sql


@functools.lru_cache(maxsize=KEPT)
def _sees_to_key(kept: ReprKey[Relation], names: tuple[str, ...]) -> bool:
    relation = kept.value
    query = relations.compile_query(relation.sql, places(names), relation.uses, f"relation `{relation.name}`")
    return relations.are_unique(query, relation.key)


def _relation(checked: CheckedPackage, step: CheckStep) -> Relation:
    return next(item for item in checked.package.relations if item.name == step.table)


def _statement(
    step: Step, finer: frozenset[str], names: tuple[str, ...], events: EventTables, checked: CheckedPackage
) -> Statement:
    if isinstance(step, EventStep):
        return Statement("view", step.name, events[step.name], step)
    if _is_of_key(step):
        return Statement("check", step.name, relations.select_duplicates(_relation(checked, step)), step)
    made = _of_step(ReprKey(step), finer, names)
    _refuse_ties(step, checked)
    return made


def _refuse_ties(step: Step, checked: CheckedPackage) -> None:
    """AssayError where the SQL of specs decides a value by an order that does not tell all rows apart."""
    if isinstance(step, RelationStep):
        sql, uses, what = step.relation.sql, step.relation.uses, f"relation `{step.name}`"
    elif isinstance(step, CheckStep):
        sql, uses, what = step.check.sql, (*step.check.uses, step.table), f"check `{step.check.code}` of `{step.table}`"
    else:
        return
    relations.refuse_ties(sql, table_shapes(checked.package, uses, step.sources), what)


@functools.lru_cache(maxsize=KEPT)
def _of_step(
    kept: ReprKey[RelationStep | GrainRowsStep | SeriesStep | FilterStep | CheckStep],
    finer: frozenset[str],
    names: tuple[str, ...],
) -> Statement:
    step, constants = kept.value, places(names)
    if isinstance(step, RelationStep):
        what = f"relation `{step.name}`"
        query = relations.compile_query(step.relation.sql, constants, step.relation.uses, what)
        return Statement("table", step.name, relations.of_sources(query, step.sources), step)
    if isinstance(step, GrainRowsStep):
        return Statement("table", step.name, grains.rows(step, finer, constants), step)
    if isinstance(step, SeriesStep):
        return Statement("table", step.name, series.table(step.series, step.key, constants, step.cut), step)
    if isinstance(step, FilterStep):
        return Statement("table", step.name, grains.judge(step, constants), step)
    what = f"check `{step.check.code}` of `{step.table}`"
    query = relations.compile_query(step.check.sql, constants, (*step.check.uses, step.table), what)
    return Statement("check", step.name, relations.of_sources(query, step.sources), step)


def standalone(
    statements: Iterable[Statement], metric: str, tables: Mapping[str, exp.Select], constants: str
) -> exp.Expr:
    """One statement that yields the metric by itself: everything it is made of, as common table expressions.

    `tables` are the queries of the raw tables (and of `constants`, a table of one row that has the run's constants).
    """
    everything = tuple(statements)
    final = next(item for item in everything if item.kind == "metric" and item.name == metric)
    made = {item.name: item.query for item in everything if item.kind in ("table", "view")}
    needed = _read(final.query, {**tables, **made})
    query = final.query.copy()
    assert isinstance(query, exp.Select)
    own = query.args.get("with_")
    read = {name: part for name, part in {**tables, **made}.items() if name in needed or name == constants}
    inner = {item.alias: item.this for item in own.expressions} if own else {}
    stages = [*((name, part.copy()) for name, part in read.items()), *inner.items()]
    # Left to itself the engine puts a stage into each place that reads it, and estimates too much at once to order the
    # joins well: what is a table when statements are run one by one is one here.
    query = dialect.staged(query, stages, {item.name for item in everything if item.kind == "table"})
    for place in list(query.find_all(exp.Placeholder)):
        value = exp.select(exp.column(str(place.this))).from_(constants)
        place.replace(value.subquery())
    return query


def _read(query: exp.Expr, made: Mapping[str, exp.Expr]) -> set[str]:
    """The tables that a query reads, directly or not."""
    found: set[str] = set()
    queue = [query]
    while queue:
        for table in queue.pop().find_all(exp.Table):
            if table.name in made and table.name not in found:
                found.add(table.name)
                queue.append(made[table.name])
    return found


def creation(statement: Statement, temporary: bool = True) -> str:
    """The text that keeps a statement's rows as a table or view, which a temporary one is for its connection alone."""
    kind = "VIEW" if statement.kind == "view" else "TABLE"
    tree = exp.Create(
        this=exp.to_table(exp.to_identifier(statement.name).sql(dialect.DIALECT)),
        kind=kind,
        expression=statement.query,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()] if temporary else []),
    )
    return dialect.text(tree)


def more(statement: Statement) -> str:
    """The text that adds a statement's rows to a table that is there."""
    return dialect.text(exp.Insert(this=dialect.table(statement.name), expression=statement.query.copy()))


__all__ = ["CheckStep", "Statement", "compile_steps", "creation", "metric_statement", "more", "standalone"]
